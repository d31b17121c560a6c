package gateway_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
	"github.com/airlock-run/airlock/policy/audit"
)

// canary is the value of every credential that a test sends. It must appear nowhere.
const canary = "CANARY0123456789CANARY"

// carriers are headers that browsers, clients and proxies put credentials in.
func carriers() []string {
	var out []string
	for _, name := range []string{
		"Authorization", "Proxy-Authorization", "Cookie", "Cookie2", "Set-Cookie", "X-Api-Key", "X_Api_Key", "Api-Key",
		"Apikey", "X-Auth-Token",
		"X-Access-Token", "X-Csrf-Token", "X-Xsrf-Token", "X-Session-Id", "X-Amz-Security-Token", "X-Amzn-Oidc-Data",
		"X-Amzn-Oidc-Accesstoken",
		"X-Goog-Iap-Jwt-Assertion", "X-Goog-Authenticated-User-Email", "Cf-Access-Jwt-Assertion", "Cf-Access-Client-Secret",
		"X-Forwarded-Access-Token",
		"X-Forwarded-User", "X-Forwarded-Client-Cert", "X-Ms-Client-Principal", "X-Ms-Token-Aad-Access-Token",
		"X-Client-Cert", "Ssl-Client-Cert",
		"X-Remote-User", "Remote-User", "X-Vault-Token", "X-Gitlab-Token", "Private-Token", "X-Github-Token",
		"X-Slack-Secret", "X-Shopify-Access-Token",
		"X-Functions-Key", "Ocp-Apim-Subscription-Key", "X-Parse-Master-Key", "Dpop", "X-Password", "X-Secret",
		"X-Webhook-Secret", "X-Authz",
		"Authentication-Info", "X-Anything-Unknown", "Referer", "X-Forwarded-For", "X-Real-Ip", "Forwarded", "Baggage",
		"Tracestate",
	} {
		value := canary
		switch name {
		case "Authorization", "Proxy-Authorization":
			value = "Bearer " + canary
		case "Cookie":
			value = "airlock=" + canary + "; __Host-airlock=" + canary
		case "Tracestate":
			value = "a=" + canary
		}
		out = append(out, name+": "+value)
	}
	return append(out, "Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
}

// witness keeps everything that a gateway passes to guests, the state, records and logs.
type witness struct {
	*served
	mu    sync.Mutex
	seen  bytes.Buffer // invocations, as JSON
	log   syncBuffer
	dir   string
	began chan struct{}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func watched(t *testing.T) *witness {
	t.Helper()
	w := &witness{dir: t.TempDir(), began: make(chan struct{}, 1000)}
	store, err := sqlitestate.Open(w.dir, sqlitestate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	o := options{state: store, log: slog.New(slog.NewJSONHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	o.config.KeepCode = 1 << 20
	o.records = &ledger{added: make(chan audit.Record, 1000)}
	o.invoke = func(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error) {
		raw, err := json.Marshal(inv)
		if err != nil {
			return execution.Reply{}, err
		}
		w.mu.Lock()
		w.seen.Write(raw)
		w.mu.Unlock()
		reply, err := mirror(ctx, inv, onLog)
		if err == nil {
			request, _ := json.Marshal(inv.Request) // it was read from JSON
			err = o.records.Append(ctx, audit.Record{
				ID: inv.ID, Via: inv.Via, Ending: audit.Ending{Status: "completed"},
				Inputs: audit.Inputs{Request: request}, Caller: audit.Caller(inv.Caller),
			})
		}
		w.began <- struct{}{}
		return reply, err
	}
	w.served = serve(t, o)
	w.state = store
	return w
}

// leaks returns the places that contain a text.
func (w *witness) leaks(t *testing.T, text string) []string {
	t.Helper()
	var out []string
	w.mu.Lock()
	if strings.Contains(w.seen.String(), text) {
		out = append(out, "guest")
	}
	w.mu.Unlock()
	if strings.Contains(w.log.String(), text) {
		out = append(out, "log")
	}
	w.records.mu.Lock()
	records, err := json.Marshal(w.records.records)
	w.records.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(records, []byte(text)) {
		out = append(out, "records")
	}
	err = filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(text)) {
			out = append(out, "state "+d.Name())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const hookSecret = "a secret of sixteen bytes or more"

// signedFor returns the headers by which a scheme recognizes its sender.
func signedFor(scheme, body string) []string {
	at := fmt.Sprint(time.Now().Unix())
	switch scheme {
	case "standard":
		sum := signature(hookSecret, "msg_1."+at+"."+body)
		return []string{
			"webhook-id: msg_1", "webhook-timestamp: " + at, "webhook-signature: v1," + base64.StdEncoding.EncodeToString(sum),
		}
	case "github":
		return []string{"X-Hub-Signature-256: sha256=" + hex.EncodeToString(signature(hookSecret, body))}
	case "stripe":
		return []string{"Stripe-Signature: t=" + at + ",v1=" + hex.EncodeToString(signature(hookSecret, at+"."+body))}
	case "slack":
		return []string{
			"X-Slack-Request-Timestamp: " + at,
			"X-Slack-Signature: v0=" + hex.EncodeToString(signature(hookSecret, "v0:"+at+":"+body)),
		}
	case "shopify":
		return []string{"X-Shopify-Hmac-Sha256: " + base64.StdEncoding.EncodeToString(signature(hookSecret, body))}
	case "hmac-sha256":
		return []string{"X-Signature: " + hex.EncodeToString(signature(hookSecret, body))}
	case "shared-header":
		return []string{"X-Webhook-Token: " + hookSecret}
	}
	return nil
}

// Through whichever endpoint a request arrives, its credentials reach no guest, no state, no record and no log.
func TestCredentialsReachNoCode(t *testing.T) {
	t.Parallel()
	type walk func(t *testing.T, w *witness)
	all := map[string]walk{}
	for _, scheme := range []string{
		"none", "standard", "github", "stripe", "slack", "shopify", "hmac-sha256", "shared-header",
	} {
		for _, mode := range []string{"answered", "async"} {
			all["hook "+scheme+" "+mode] = func(t *testing.T, w *witness) {
				secret := `,"secret":"` + hookSecret + `"`
				if scheme == "none" {
					secret = ""
				}
				want(t, w.do(t, "PUT", "/api/functions/f", fmt.Sprintf(
					`{"code":"1","hook":{"scheme":%q%s,"headers":["X-Wanted"],"async":%t}}`, scheme, secret, mode == "async")), 201)
				a := w.do(
					t, "POST", "/hooks/f", `{"n":1}`,
					append(append(signedFor(scheme, `{"n":1}`), "X-Wanted: seen", "Idempotency-Key: k"), carriers()...)...,
				)
				if a.StatusCode != 200 && a.StatusCode != 202 {
					t.Fatalf("%d %s", a.StatusCode, a.body)
				}
				<-w.began
				if len(w.leaks(t, `"x-wanted":"seen"`)) < 2 {
					t.Error("the header that the hook asks for did not arrive")
				}
				again := w.do(
					t, "POST", "/api/functions/f/hook/redeliver", `{"execution":"`+a.Header.Get("X-Execution-Id")+`"}`, carriers()...,
				)
				if again.StatusCode != 200 && again.StatusCode != 202 {
					t.Fatalf("%d %s", again.StatusCode, again.body)
				}
				<-w.began
				want(t, w.do(t, "POST", "/api/functions/f/hook/dry-run", `{"sample":"json"}`, carriers()...), 200)
				if scheme == "shared-header" {
					if leaks := w.leaks(t, `"x-webhook-token"`); len(leaks) > 0 {
						t.Errorf("the shared secret's header is in %v", leaks)
					}
				}
			}
		}
	}
	api := func(method, path, body string, status int, more ...string) walk {
		return func(t *testing.T, w *witness) {
			want(t, w.do(t, "PUT", "/api/functions/f", code("1")), 201)
			want(t, w.do(t, method, path, body, append(more, carriers()...)...), status)
		}
	}
	all["execute"] = api("POST", "/api/execute", code("1"), 200)
	all["execute with debug"] = api("POST", "/api/execute", `{"code":"1","debug":{}}`, 200)
	all["execute later"] = api("POST", "/api/execute", code("1"), 202, prefer)
	all["stream"] = api("POST", "/api/execute/stream", code("1"), 200)
	all["analyze"] = api("POST", "/api/analyze", code("1"), 200)
	all["invoke"] = api("POST", "/api/functions/f/invoke", `{"input":1}`, 200)
	all["refused"] = api("POST", "/api/execute", `{"nope":1}`, 400)
	all["mcp"] = func(t *testing.T, w *witness) {
		hello := w.do(
			t, "POST", "/mcp", mcpHello, append([]string{"Accept: application/json, text/event-stream"}, carriers()...)...,
		)
		if hello.StatusCode != 200 {
			t.Fatalf("%d %s", hello.StatusCode, hello.body)
		}
		call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"1"}}}`
		w.do(
			t, "POST", "/mcp", call,
			append(
				[]string{"Accept: application/json, text/event-stream", "Mcp-Session-Id: " + hello.Header.Get("Mcp-Session-Id")},
				carriers()...,
			)...,
		)
		if len(w.leaks(t, `"via":"mcp"`)) == 0 {
			t.Error("nothing ran")
		}
	}
	for name, walk := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := watched(t)
			walk(t, w)
			if leaks := w.leaks(t, canary); len(leaks) > 0 {
				t.Errorf("a credential is in %v\n%.2000s", leaks, w.seen.String())
			}
		})
	}
}

// Credentials that an earlier release stored are never shown: in events, in waiting jobs, and in records.
func TestStoredCredentialsAreWithheld(t *testing.T) {
	t.Parallel()
	event := `{"method":"POST","path":"/hooks/f","query":{},"headers":{"cookie":"airlock=` + canary +
		`","authorization":"Bearer ` + canary +
		`","x-event":"kept"},"body":{"n":1},"rawBody":"{\"n\":1}"}`
	request := `{"code":"1","input":` + event + `}`
	w := watched(t)
	want(t, w.do(t, "PUT", "/api/functions/f", `{"code":"1","hook":{"scheme":"none"}}`), 201)
	if err := w.state.KeepEvent(t.Context(), "default", "f", "exec_0123456789", []byte(event), time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := w.records.Append(t.Context(), audit.Record{
		ID: "exec_1123456789", Via: "hook",
		Ending: audit.Ending{Status: "completed"}, Caller: audit.Caller{Subject: "hook:f", Tenant: "default"},
		Inputs: audit.Inputs{Request: []byte(request)},
	}); err != nil {
		t.Fatal(err)
	}
	clean := func(a answer) {
		t.Helper()
		if a.StatusCode != 200 || strings.Contains(string(a.body), canary) || !strings.Contains(string(a.body), "kept") {
			t.Errorf("%s %s: %d %s", a.Request.Method, a.Request.URL.Path, a.StatusCode, a.body)
		}
	}
	for _, id := range []string{"exec_0123456789", "exec_1123456789"} {
		clean(w.do(t, "POST", "/api/functions/f/hook/redeliver", `{"execution":"`+id+`"}`))
		clean(w.do(t, "POST", "/api/functions/f/hook/dry-run", `{"execution":"`+id+`"}`))
	}
	clean(w.do(t, "GET", "/api/audit/execution/exec_1123456789", ""))
	clean(w.do(t, "GET", "/api/audit/executions", ""))
	clean(w.do(t, "GET", "/api/reports/execution/exec_1123456789?format=json", ""))
	want(t, w.do(t, "POST", "/api/audit/execution/exec_1123456789/replay", ""), 200)
	var waiting execution.Job
	if err := json.Unmarshal(
		[]byte(`{"id":"exec_2123456789","tenant":"default","subject":"hook:f","via":"hook","status":"queued"}`), &waiting,
	); err != nil {
		t.Fatal(err)
	}
	waiting.ReceivedAt = time.Now()
	waiting.Request = execution.Request{Code: "1", Input: json.RawMessage(event)}
	for len(w.began) > 0 {
		<-w.began
	}
	if err := w.state.Submit(t.Context(), waiting); err != nil {
		t.Fatal(err)
	}
	<-w.began
	w.mu.Lock()
	defer w.mu.Unlock()
	if strings.Contains(w.seen.String(), canary) {
		t.Errorf("a guest was given a stored credential: %s", w.seen.String())
	}
}

// A function may ask for headers by name, but not for those that carry credentials.
func TestHookAsksForHeaders(t *testing.T) {
	t.Parallel()
	s := kept(t, options{})
	put := func(hook string) answer {
		return s.do(t, "PUT", "/api/functions/f", `{"code":"1","hook":`+hook+`}`)
	}
	for _, name := range []string{
		"authorization", "Proxy-Authorization", "cookie", "Set-Cookie", "x-api-key", "x_api_key", "X-Auth-Token",
		"x-amz-security-token", "a b", "", "x-*", "x-hook-key",
	} {
		quoted, _ := json.Marshal([]string{name})
		detail, _ := put(`{"scheme":"none","headers":`+string(quoted)+`}`).problem(t, 400)
		if !strings.HasPrefix(detail, "hook.headers") {
			t.Errorf("%q: %s", name, detail)
		}
	}
	put(`{"scheme":"shared-header","secret":"`+hookSecret+`","header":"X-Mine","headers":["x-mine"]}`).problem(t, 400)
	put(`{"scheme":"shared-header","secret":"`+hookSecret+`","header":"Cookie"}`).problem(t, 400)
	put(`{"scheme":"none","headers":["`+strings.Repeat(`a","`, 32)+`b"]}`).problem(t, 400)
	want(t, put(`{"scheme":"none","headers":["X-Mine"]}`), 201, `"sees":["`, `"x-mine"`)
	want(t, s.do(t, "POST", "/hooks/f", "{}", "X-Mine: 1", "X-Other: 2", "Host: hooks.localhost"), 200, `"x-mine":"1"`)
}
