package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/access"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/mcp"
	"github.com/airlock-run/airlock/gateway/ratelimit"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/policy/scan"
)

// function stands in for function processes. It returns results without running anything.
type function struct {
	invoke func(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error)
	ready  error
}

func (f *function) Invoke(
	ctx context.Context, inv execution.Invocation, onLog func(execution.Log),
) (execution.Reply, error) {
	return f.invoke(ctx, inv, onLog)
}

func (f *function) Ready(context.Context) error { return f.ready }

// echo responds with the request's input as the result.
func echo(_ context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error) {
	if onLog != nil {
		onLog(execution.Log{Level: "log", Message: "hello"})
	}
	return execution.Reply{Recorded: true, Result: execution.Result{
		ID: inv.ID, Status: execution.Completed, Result: inv.Request.Input,
		Environment: execution.Environment{Engine: "quickjs", Policy: "standard"},
		Output:      "hello\n",
	}}, nil
}

// ledger is a record store in memory.
type ledger struct {
	mu      sync.Mutex
	records []audit.Record
	broken  error
	altered string // the ID of a record that does not match its hash
	added   chan audit.Record
}

func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.records)
}

// breaks makes every use of the ledger fail with an error; nil ends that.
func (l *ledger) breaks(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = err
}

func (l *ledger) Append(_ context.Context, r audit.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return l.broken
	}
	for _, have := range l.records {
		if have.ID == r.ID {
			return audit.ErrExists
		}
	}
	if n := len(l.records); n > 0 {
		r.Chain.PrevID = l.records[n-1].ID
	}
	l.records = append(l.records, r)
	select {
	case l.added <- r:
	default:
	}
	return nil
}

func (l *ledger) Get(_ context.Context, id string) (audit.Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return audit.Record{}, l.broken
	}
	if id == l.altered {
		return audit.Record{}, audit.ErrAltered
	}
	for _, r := range l.records {
		if r.ID == id {
			return r, nil
		}
	}
	return audit.Record{}, audit.ErrNotFound
}

func (l *ledger) List(_ context.Context, q audit.Query) (audit.Page, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return audit.Page{}, l.broken
	}
	if q.Cursor != "" && !execution.ValidID(q.Cursor) {
		return audit.Page{}, audit.ErrCursor
	}
	if q.Limit == 0 {
		q.Limit = 50
	}
	var page audit.Page
	passed := q.Cursor == ""
	for _, r := range slices.Backward(l.records) {
		if !passed {
			passed = r.ID == q.Cursor
			continue
		}
		if !q.Selects(r) {
			continue
		}
		if len(page.Items) == q.Limit {
			page.Next = page.Items[len(page.Items)-1].ID
			break
		}
		page.Items = append(page.Items, r)
	}
	return page, nil
}

// options of a test server. The zero value is a gateway without credentials whose function echoes.
type options struct {
	config gateway.Config
	auth   authn.Config
	invoke func(context.Context, execution.Invocation, func(execution.Log)) (execution.Reply, error)
	ready  error
	policy gateway.Decider // policy.Default() when left out
	// reader defaults to a scanner in this process.
	reader   gateway.CodeScanner
	max      int
	analyses access.Limiter
	records  *ledger
	store    gateway.Records // in place of records
	state    gateway.State
	log      *slog.Logger // none when left out
	access   *slog.Logger
	quotas   access.Quotas
	// attached are tools of servers that the deployment attaches.
	attached mcp.ToolSource
	health   []gateway.Health
	redact   func(*audit.Record)
}

type served struct {
	*gateway.Server
	url     string
	addr    string
	records *ledger
	client  *http.Client
	state   gateway.State
	dir     string // of the state
}

const (
	apiKey = "a-key-for-the-tests-of-the-gateway"
	secret = "a secret of the tests with 32 bytes or more"
)

func serve(t testing.TB, o options) *served {
	t.Helper()
	if o.policy == nil {
		o.policy = policy.Default()
	}
	if o.invoke == nil {
		o.invoke = echo
	}
	if o.records == nil {
		o.records = &ledger{added: make(chan audit.Record, 100)}
	}
	if o.store == nil {
		o.store = o.records
	}
	if o.reader == nil {
		o.reader = scan.New()
	}
	if o.max == 0 {
		o.max = 1_000_000
	}
	if o.config.Streams.ResumeWithin == 0 {
		o.config.Streams.ResumeWithin = 10 * time.Millisecond
	}
	if o.log == nil {
		o.log = slog.New(slog.DiscardHandler)
	}
	o.auth.Now = time.Now
	auth, err := authn.New(o.auth)
	if err != nil {
		t.Fatal(err)
	}
	limiter, err := ratelimit.New(ratelimit.Config{Window: time.Minute, Max: o.max, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	logins, err := ratelimit.NewLogins(
		ratelimit.LoginsConfig{Tally: limiter, Window: time.Minute, Most: o.max, Now: time.Now},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gateway.New(o.config, gateway.Deps{
		Invoker: &function{o.invoke, o.ready}, Records: o.store, Policy: o.policy, Scanner: o.reader, Auth: auth,
		Limits: access.Limits{Limiter: limiter, AnalysisLimiter: o.analyses, Logins: logins, Quotas: o.quotas},
		Redact: o.redact,
		State:  o.state, RemoteTools: o.attached, Health: o.health, Logger: o.log, AccessLog: o.access, Now: time.Now,
		NewID: func() string { return "exec_" + ulid.Make().String() },
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return &served{
		Server: s, url: "http://" + l.Addr().String(), addr: l.Addr().String(), records: o.records,
		client: &http.Client{Transport: transport},
	}
}

// answer is a response that was read to its end.
type answer struct {
	*http.Response
	body []byte
}

// headers compares headers of the answer: names and their values, in turn. An absent header has the value "".
func (a answer) headers(t testing.TB, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := a.Header.Get(pairs[i]); got != pairs[i+1] {
			t.Errorf("%s %s: %s is %q; want %q", a.Request.Method, a.Request.URL.Path, pairs[i], got, pairs[i+1])
		}
	}
}

// members compares the members of an object that wanted names.
func members(t testing.TB, object, wanted map[string]any) {
	t.Helper()
	got := map[string]any{}
	for name := range wanted {
		got[name] = object[name]
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Error(diff)
	}
}

func (a answer) json(t testing.TB) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("%s: %v\n%s", a.Request.URL, err, a.body)
	}
	return v
}

// do sends a request. Headers are "Name: value" lines. A body is sent as JSON unless they say otherwise.
func (s *served) do(t testing.TB, method, path, body string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		switch {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Add(name, value)
		}
	}
	res, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, res.Body); err != nil {
		t.Fatal(err)
	}
	return answer{res, b.Bytes()}
}

// problem checks that a response is a complete problem document, and returns its detail and code.
func (a answer) problem(t testing.TB, status int) (detail, code string) {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("%s %s: status %d, want %d\n%s", a.Request.Method, a.Request.URL.Path, a.StatusCode, status, a.body)
	}
	if got := a.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("Content-Type %q", got)
	}
	if a.Request.Method == http.MethodHead {
		return "", ""
	}
	return checkProblem(t, a.body, status)
}

func checkProblem(t testing.TB, body []byte, status int) (detail, code string) {
	t.Helper()
	var doc struct {
		Type, Title, Detail, Instance, Error, Code, RequestID string
		Status                                                int
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	if doc.Status != status || doc.Error != doc.Detail {
		t.Errorf("the status is %d, want %d; error is %q, detail %q", doc.Status, status, doc.Error, doc.Detail)
	}
	for name, value := range map[string]string{
		"type": doc.Type, "title": doc.Title, "detail": doc.Detail, "code": doc.Code, "requestId": doc.RequestID,
	} {
		if value == "" {
			t.Errorf("the problem has no %s: %s", name, body)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, internal := range []string{".go:", "goroutine", "fasthttp", "runtime error", here, "jsontext"} {
		if strings.Contains(string(body), internal) {
			t.Errorf("the problem shows internals (%s): %s", internal, body)
		}
	}
	return doc.Detail, doc.Code
}

// has compares members of decoded JSON with the wanted values, by path: names and indexes with dots between them, and
// "#" for the length of a list.
func has(t testing.TB, v any, want map[string]any) {
	t.Helper()
	got := map[string]any{}
	for path := range want {
		got[path] = member(v, path)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members differ (-want +got):\n%s\nof %v", diff, v)
	}
}

// member returns the member of decoded JSON at a path, or nil.
func member(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			switch {
			case name == "#":
				v = float64(len(in))
			case err != nil || i >= len(in):
				return nil
			default:
				v = in[i]
			}
		default:
			return nil
		}
	}
	return v
}

func bearer(credential string) string { return "Authorization: Bearer " + credential }

func code(source string) string { return fmt.Sprintf(`{"code":%q}`, source) }
