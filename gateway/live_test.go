package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/policy/audit"
)

// followed is a live stream. It keeps the latest event of each name.
type followed struct {
	t     *testing.T
	lines *bufio.Scanner
	shown map[string]map[string]any
}

func (s *served) follow(t *testing.T, query string, headers ...string) *followed {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", s.url+"/api/live?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != 200 || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatal(res.Status, res.Header)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	return &followed{t: t, lines: lines, shown: map[string]map[string]any{}}
}

// until reads until the latest events are as expected.
func (f *followed) until(wanted func(map[string]map[string]any) bool) {
	f.t.Helper()
	name := ""
	for f.lines.Scan() {
		if event, ok := strings.CutPrefix(f.lines.Text(), "event: "); ok {
			name = event
		}
		if data, ok := strings.CutPrefix(f.lines.Text(), "data: "); ok {
			var v map[string]any
			if err := json.Unmarshal([]byte(data), &v); err != nil {
				f.t.Fatal(err)
			}
			if f.shown[name] = v; wanted(f.shown) {
				return
			}
		}
	}
	f.t.Fatalf("the stream ended (%v); it showed %v", f.lines.Err(), f.shown)
}

func record(id, tenant, status string, score int) audit.Record {
	r := audit.Record{
		ID: id, Time: time.Now().UTC(),
		Ending: audit.Ending{Status: status}, Policy: "standard", Via: "http", Caller: audit.Caller{Tenant: tenant},
		DurationMs: 3,
	}
	if score > 0 {
		r.DangerAnalysis = json.RawMessage(
			`{"score":9,"level":"medium","findings":[{"category":"eval","severity":"high","message":"m","line":2,` +
				`"column":3,"excerpt":"eval(x)","score":9},{"score":1}]}`,
		)
	}
	return r
}

// A stream shows what exists, what runs, and what has ended, as each happens.
func TestLive(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}), make(chan struct{})
	l := &ledger{
		added: make(chan audit.Record, 10), records: []audit.Record{record("exec_01AAAAAAAAAA", "default", "timeout", 9)},
	}
	s := serve(t, options{records: l, invoke: func(
		ctx context.Context, inv execution.Invocation, onLog func(execution.Log),
	) (execution.Reply, error) {
		close(started)
		<-release
		reply, err := echo(ctx, inv, onLog)
		return execution.Reply{Result: reply.Result}, err
	}})
	f := s.follow(t, "view=dashboard&window=15m")
	f.until(func(shown map[string]map[string]any) bool {
		ended := shown["ended"]
		return shown["now"] != nil && shown["figures"] != nil && ended != nil && len(ended["executions"].([]any)) == 1 &&
			len(ended["failures"].([]any)) == 1
	})
	if total := f.shown["figures"]["total"].(map[string]any); total["executions"] != 1.0 ||
		total["byStatus"].(map[string]any)["timeout"] != 1.0 {
		t.Error(total)
	}
	done := make(chan answer)
	go func() { done <- s.do(t, "POST", "/api/execute", code("1")) }()
	<-started
	f.until(func(shown map[string]map[string]any) bool {
		running, _ := shown["now"]["running"].([]any)
		return len(running) == 1 && running[0].(map[string]any)["state"] == "running"
	})
	close(release)
	<-done
	f.until(func(shown map[string]map[string]any) bool {
		return len(shown["ended"]["executions"].([]any)) == 2 && len(shown["now"]["running"].([]any)) == 0
	})
}

func TestLiveSecurity(t *testing.T) {
	t.Parallel()
	l := &ledger{
		records: []audit.Record{
			record("exec_01AAAAAAAAAA", "acme", "completed", 9), record("exec_01BBBBBBBBBB", "globex", "blocked", 9),
		},
	}
	s := serve(t, options{records: l, auth: authn.Config{Keys: hs256(t)}})
	for _, c := range []struct {
		scopes, query string
		threats       int
	}{
		{"audit:read", "", 1}, {"audit:read", "&tenant=acme", 1}, {"audit:read:all", "", 2},
		{"audit:read:all", "&tenant=globex", 1},
	} {
		f := s.follow(t, "view=security"+c.query, bearer(token(t, "someone", "acme", c.scopes)))
		f.until(func(shown map[string]map[string]any) bool { return shown["pages"] != nil })
		items := f.shown["threats"]["items"].([]any)
		if len(items) != c.threats {
			t.Errorf("%s%s: %v", c.scopes, c.query, items)
		}
		if first := items[0].(map[string]any); first["excerpt"] != "eval(x)" || first["column"] != 3.0 ||
			first["findings"] != 2.0 {
			t.Error(first)
		}
		if f.shown["chain"]["state"] != "unsupported" {
			t.Error(f.shown["chain"])
		}
	}
	acme := bearer(token(t, "someone", "acme", "audit:read"))
	s.do(t, "GET", "/api/live?view=security&tenant=globex", "", acme).problem(t, 403)
	s.do(t, "GET", "/api/live?view=security", "", bearer(token(t, "someone", "acme", "execute"))).problem(t, 403)
	s.do(t, "GET", "/api/live?view=security", "").problem(t, 401)
	for _, bad := range []string{
		"", "view=nothing", "view=security&window=1ms", "view=dashboard&status=x", "view=dashboard&x=1",
		"view=dashboard&policy=" + strings.Repeat("p", 65), "view=dashboard&function=" + strings.Repeat("f", 65),
	} {
		s.do(t, "GET", "/api/live?"+bad, "", acme).problem(t, 400)
	}
}

// A stream ends with the login that began it.
func TestLiveEndsWithTheSession(t *testing.T) {
	t.Parallel()
	s := serve(t, options{auth: authn.Config{APIKey: apiKey}})
	cookie := s.enter(t, apiKey)
	f := s.follow(t, "view=dashboard", cookie, withToken)
	f.until(func(shown map[string]map[string]any) bool { return shown["ended"] != nil })
	s.do(t, "POST", "/logout", "", cookie, "Origin: "+s.url).is(t, 303, "/login")
	f.until(func(shown map[string]map[string]any) bool { return shown["expired"] != nil })
}

// A shutdown does not wait for pages.
func TestShutdownEndsLiveStreams(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	f := s.follow(t, "view=dashboard")
	f.until(func(shown map[string]map[string]any) bool { return shown["ended"] != nil })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	for f.lines.Scan() { // to the end of the stream
	}
	if err := f.lines.Err(); err != nil {
		t.Error(err)
	}
}
