package gateway_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/deployment"
	"github.com/airlock-run/airlock/policy/scan"
)

const prefer = "Prefer: handling=lenient, respond-async; wait=10"

// ended polls a result until the execution has ended.
func (s *served) ended(t *testing.T, location string, headers ...string) answer {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		a := want(t, s.do(t, "GET", location, "", headers...), 200)
		if status := a.json(t)["status"]; status != "queued" && status != "running" {
			return a
		}
		<-look.C
	}
}

func TestRespondAsync(t *testing.T) {
	t.Parallel()
	s := kept(t, options{})
	a := want(t, s.do(t, "POST", "/api/execute", `{"code":"1","input":{"n":1}}`, prefer), 202, `"status":"queued"`)
	location, id := a.Header.Get("Location"), a.json(t)["id"].(string)
	a.headers(t, "Preference-Applied", "respond-async", "Retry-After", "1")
	if location != "/api/result/"+id || !execution.ValidID(id) {
		t.Errorf("%s %s", location, a.body)
	}
	want(t, s.ended(t, location), 200, `"id":"`+id+`"`, `"status":"completed"`, `"input":{"n":1}`)
	want(t, s.do(t, "PUT", "/api/functions/f", code("7")), 201)
	a = want(
		t, s.do(t, "POST", "/api/functions/f/invoke", `{"input":2}`, prefer), 202, `"function":{"name":"f","version":1}`,
	)
	want(t, s.ended(t, a.Header.Get("Location")), 200, `"function":{"name":"f","version":1}`, `"input":2`)
	a = want(t, s.do(t, "POST", "/api/execute", code("eval('1')"), prefer), 202)
	want(t, s.ended(t, a.Header.Get("Location")), 200, `"status":"blocked"`)

	first := want(t, s.do(t, "POST", "/api/execute", code("1"), prefer, "Idempotency-Key: k"), 202)
	second := want(t, s.do(t, "POST", "/api/execute", code("1"), prefer, "Idempotency-Key: k"), 202)
	if string(first.body) != string(second.body) {
		t.Errorf("%s %s", first.body, second.body)
	}
}

// changedPolicy decides by a later policy once that is in force, and counts its decisions.
type changedPolicy struct {
	gateway.Decider
	later   gateway.Decider
	changed chan struct{}
	asked   atomic.Int64
}

func (p *changedPolicy) DecideWith(
	ctx context.Context, r policy.Request, scanner scan.Func,
) (policy.Decision, error) {
	p.asked.Add(1)
	<-p.changed
	return p.later.DecideWith(ctx, r, scanner)
}

// A job is accepted without a decision. When it runs, the policy of that time decides, once.
func TestJobIsDecidedWhenItRuns(t *testing.T) {
	t.Parallel()
	later, err := deployment.Parse("policy.yaml", []byte("forbid: {patterns: [{name: marker, pattern: 'forbidden'}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	p := &changedPolicy{Decider: policy.Default(), later: later, changed: make(chan struct{})}
	s := kept(t, options{policy: p})
	a := want(t, s.do(t, "POST", "/api/execute", code("'forbidden'"), prefer), 202)
	close(p.changed)
	want(t, s.ended(t, a.Header.Get("Location")), 200, `"status":"blocked"`)
	if n := p.asked.Load(); n != 1 {
		t.Errorf("the policy decided %d times", n)
	}
}

// The result of a job that its function lost contains the earlier decision. The policy does not decide again.
func TestLostJobIsDecidedOnce(t *testing.T) {
	t.Parallel()
	p := &changedPolicy{Decider: policy.Default(), later: policy.Default(), changed: make(chan struct{})}
	close(p.changed)
	s := kept(t, options{policy: p, invoke: func(
		context.Context, execution.Invocation, func(execution.Log),
	) (execution.Reply, error) {
		return execution.Reply{}, &execution.Error{Code: execution.Unavailable, Message: "the function was lost"}
	}})
	a := want(t, s.do(t, "POST", "/api/execute", code("process.env.HOME"), prefer), 202)
	want(t, s.ended(t, a.Header.Get("Location")), 200, `"id":"`+a.json(t)["id"].(string)+`"`, `"status":"error"`,
		`"error":"the function was lost`, `"policy":"standard"`, `"category":"environment_access"`, `"logs":[]`)
	if n := p.asked.Load(); n != 1 {
		t.Errorf("the policy decided %d times", n)
	}
}

// overtaken is a state whose first claim another process may have taken over before it begins.
type overtaken struct {
	gateway.State
	asked atomic.Int64
}

func (s *overtaken) StartBefore(string) time.Time {
	if s.asked.Add(1) <= 2 { // before the place, and before the pause
		return time.Now().Add(-time.Second)
	}
	return time.Now().Add(time.Hour)
}

// A job that another process may have taken over does not begin. It returns to the queue, and its next claim runs.
func TestOvertakenJobDoesNotBegin(t *testing.T) {
	t.Parallel()
	s, invoked := &overtaken{State: opened(t)}, atomic.Int64{}
	served := serve(t, options{state: s, invoke: func(
		_ context.Context, inv execution.Invocation, _ func(execution.Log),
	) (execution.Reply, error) {
		invoked.Add(1)
		if inv.StartBefore.Before(time.Now()) {
			t.Errorf("a function may begin it until %v", inv.StartBefore)
		}
		return execution.Reply{}, &execution.Error{Code: execution.InvalidRequest, Message: "enough"}
	}})
	a := want(t, served.do(t, "POST", "/api/execute", code("1"), prefer), 202)
	served.ended(t, a.Header.Get("Location"))
	job, err := s.Job(t.Context(), a.json(t)["id"].(string))
	if err != nil {
		t.Fatal(err)
	}
	if invoked.Load() != 1 || job.Attempts != 1 {
		t.Errorf("it was invoked %d times and returned to the queue %d times, want 1 and 1", invoked.Load(), job.Attempts)
	}
}

func TestAsyncRefuses(t *testing.T) {
	t.Parallel()
	s := kept(t, options{auth: tokens(t)})
	key := bearer(apiKey)
	for _, c := range []struct{ body, says string }{
		{``, "Content-Type"},
		{`{}`, "code"},
		{`{"code":"1","nope":1}`, "nope"},
		{`{"code":"1","policy":"nope"}`, "policy"},
		{`{"code":"1","callback":1}`, "callback"},
		{`{"code":"1","callback":""}`, "callback"},
		{`{"code":"1","callback":"ftp://example.com"}`, "callback"},
		{`{"code":"1","callback":"https://me:pw@example.com"}`, "callback"},
		{`{"code":"1","callback":{"url":"https://example.com","secret":"short"}}`, "callback.secret"},
		{`{"code":"1","callback":{"url":"https://example.com","more":1}}`, "callback"},
		{`{"code":"1","callback":"https://a.example","callback":"https://b.example"}`, "callback"},
	} {
		status := 400
		if c.body == "" {
			status = 415
		}
		detail, _ := s.do(t, "POST", "/api/execute", c.body, key, prefer).problem(t, status)
		if !strings.Contains(detail, c.says) {
			t.Errorf("%s: %s", c.body, detail)
		}
	}
	s.do(t, "POST", "/api/execute", `{"code":"1","callback":"https://example.com"}`, key).problem(t, 400)
	ann, bob := tenantToken(t, "ann", "acme", "execute"), tenantToken(t, "bob", "acme", "execute")
	s.do(t, "POST", "/api/execute", `{"code":"1","priority":"high"}`, ann, prefer).problem(t, 403)
	a := want(t, s.do(t, "POST", "/api/execute", code("1"), ann, prefer), 202)
	location := a.Header.Get("Location")
	for _, method := range []string{"GET", "DELETE"} {
		s.do(t, method, location, "", bob).problem(t, 404)
		s.do(t, method, location, "").problem(t, 401)
		s.do(t, method, location, "", tenantToken(t, "ann", "other", "execute")).problem(t, 404)
		s.do(t, method, "/api/result/nope", "", ann).problem(t, 404)
	}
	want(t, s.ended(t, location, ann), 200)
	want(t, s.do(t, "GET", location, "", tenantToken(t, "boss", "x", "execute audit:read:all")), 200)
	s.do(t, "DELETE", location, "", tenantToken(t, "boss", "x", "execute audit:read:all")).problem(t, 404)
	s.do(t, "DELETE", location, "", ann).problem(t, 409)
}

// heldState delays the storing of a job's end until the test allows it.
type heldState struct {
	gateway.State
	ending, store chan struct{}
}

func (h heldState) ChangeJobState(
	ctx context.Context, id string, fn func(*execution.Job) error,
) (execution.Job, error) {
	if job, err := h.Job(ctx, id); err == nil && job.Status == execution.Running {
		h.ending <- struct{}{}
		<-h.store
	}
	return h.State.ChangeJobState(ctx, id, fn)
}

// Nobody sees the result of a job before it is stored: neither at its location nor as an agent.
func TestResultIsStoredBeforeItIsShown(t *testing.T) {
	t.Parallel()
	store := opened(t)
	held := heldState{store, make(chan struct{}), make(chan struct{})}
	s := serve(t, options{state: held, invoke: mirror, auth: tokens(t)})
	reads := token(t, "ann", "acme", "execute audit:read")
	location := want(t, s.do(t, "POST", "/api/execute", code("1"), prefer, bearer(reads)), 202).Header.Get("Location")
	id := strings.TrimPrefix(location, "/api/result/")
	agent := s.agent(t, "", reads, nil)
	<-held.ending
	want(t, s.do(t, "GET", location, "", bearer(reads)), 200, `"status":"running"`)
	if v, failed := use(t, agent, "get_execution", map[string]any{"id": id}); failed || v["status"] != "running" {
		t.Errorf("an agent sees %v", v)
	}
	close(held.store)
	want(t, s.ended(t, location, bearer(reads)), 200, `"status":"completed"`)
	v, failed := use(t, agent, "get_execution", map[string]any{"id": id})
	if has(t, v, map[string]any{"status": "completed", "result.code": "1"}); failed {
		t.Error("it failed")
	}
}

// items returns the IDs and the items of a list.
func items(t *testing.T, a answer) (ids []string, all []map[string]any) {
	t.Helper()
	for _, item := range a.json(t)["items"].([]any) {
		all = append(all, item.(map[string]any))
		ids = append(ids, all[len(all)-1]["id"].(string))
	}
	return ids, all
}

// Callers list their own jobs that have not ended, callers who may read records those of their tenant.
func TestJobsAreListed(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := kept(t, options{
		auth: tokens(t), config: gateway.Config{Places: 8},
		invoke: func(_ context.Context, inv execution.Invocation, _ func(execution.Log)) (execution.Reply, error) {
			<-release
			result := completed("1")
			result.ID = inv.ID
			return execution.Reply{Recorded: true, Result: result}, nil
		},
	})
	t.Cleanup(func() { close(release) })
	ann, bob := tenantToken(t, "ann", "acme", "execute"), tenantToken(t, "bob", "acme", "execute")
	auditor := tenantToken(t, "eve", "acme", "execute audit:read")
	warden := tenantToken(t, "wes", "acme", "execute cancel")
	other := tenantToken(t, "ann", "other", "execute audit:read")
	var submitted []string
	for _, caller := range []string{ann, bob, ann} {
		body := `{"code":"1","callback":"http://hooks.example/?token=t"}`
		a := want(t, s.do(t, "POST", "/api/execute", body, prefer, caller), 202)
		submitted = append(submitted, a.json(t)["id"].(string))
	}
	const running = "/api/executions?status=running"
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		if ids, _ := items(t, want(t, s.do(t, "GET", running, "", auditor), 200)); len(ids) == len(submitted) {
			break
		}
		<-look.C
	}
	for _, c := range []struct {
		name, caller, path string
		want               []string
		own                int
	}{
		{"ann's", ann, running, []string{submitted[0], submitted[2]}, 2},
		{"bob's", bob, running, submitted[1:2], 1},
		{"the tenant's", auditor, running, submitted, 0},
		{"the tenant's, to cancel", warden, running, submitted, 3},
		{"another tenant's", other, running, nil, 0},
		{"none is queued", auditor, "/api/executions?status=queued", nil, 0},
	} {
		ids, all := items(t, want(t, s.do(t, "GET", c.path, "", c.caller), 200, `"next":null`))
		if diff := cmp.Diff(c.want, ids); diff != "" {
			t.Errorf("%s: the list differs (-want +got):\n%s", c.name, diff)
		}
		own := 0
		for _, item := range all {
			if item["cancellable"] == true {
				own++
			}
			if (item["callback"] != nil) != (item["cancellable"] == true && c.caller != warden) {
				t.Errorf("%s: %v shows a callback to somebody else, or none to its owner", c.name, item)
			}
		}
		if own != c.own {
			t.Errorf("%s: %d may be cancelled, want %d", c.name, own, c.own)
		}
	}
	ids, _ := items(t, want(t, s.do(t, "GET", running+"&limit=2", "", auditor), 200, `"next":"`+submitted[1]+`"`))
	if diff := cmp.Diff(submitted[:2], ids); diff != "" {
		t.Errorf("the first page differs (-want +got):\n%s", diff)
	}
	ids, _ = items(t, want(t, s.do(t, "GET", running+"&cursor="+submitted[1], "", auditor), 200))
	if diff := cmp.Diff(submitted[2:], ids); diff != "" {
		t.Errorf("the second page differs (-want +got):\n%s", diff)
	}
}
