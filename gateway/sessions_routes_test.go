package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/policy/audit"
)

// console is a function whose snapshot is the code of all steps, which is the result, too. A step with the code "fail"
// fails, and one with the code "wait" waits until proceed is closed.
type console struct {
	records *ledger
	started chan string
	proceed chan struct{}
}

func (f *console) invoke(
	ctx context.Context, inv execution.Invocation, _ func(execution.Log),
) (execution.Reply, error) {
	r := execution.Result{ID: inv.ID, Status: execution.Completed,
		Environment: execution.Environment{Policy: inv.Request.Policy, Engine: "quickjs",
			EngineBuild: "b"}, Pure: true}
	if inv.Session == nil || len(inv.Session.Granted) == 0 {
		return execution.Reply{}, errors.New("it is no step, or nothing says what its session was granted")
	}
	all := append(bytes.Clone(inv.Session.Snapshot), inv.Request.Code+";"...)
	switch inv.Request.Code {
	case "fail":
		line := "failed"
		r.Status, r.Error = execution.Failed, &line
	case "wait":
		f.started <- inv.ID
		<-f.proceed
		fallthrough
	default:
		r.Snapshot, r.Result = all, governance.Encode(string(all))
	}
	if err := f.records.Append(ctx, governance.Record(inv, nil, r, "sum", false)); err != nil {
		return execution.Reply{}, err
	}
	return execution.Reply{Recorded: true, Result: r}, nil
}

// consoles serves a gateway with sessions.
func consoles(t *testing.T, o options) (*served, *console) {
	t.Helper()
	o.records = &ledger{added: make(chan audit.Record, 1000)}
	f := &console{records: o.records, started: make(chan string, 1), proceed: make(chan struct{})}
	o.invoke, o.config.SnapshotKeys = f.invoke, snapshotKeys(t)
	return kept(t, o), f
}

// session makes a session and returns its path.
func (s *served) session(t testing.TB, body string, headers ...string) string {
	t.Helper()
	a := want(t, s.do(t, "POST", "/api/sessions", body, headers...), 201, `"steps":0`, `"running":false`)
	path := "/api/sessions/" + a.json(t)["id"].(string)
	if got := a.Header.Get("Location"); got != path {
		t.Errorf("Location is %q", got)
	}
	return path
}

// A step starts from the state of the last one that completed. Each has a record, and so has the end of the session.
func TestSessionSteps(t *testing.T) {
	t.Parallel()
	s, _ := consoles(t, options{})
	path := s.session(t, `{"policy":"extended","maxAge":60000}`)
	id := strings.TrimPrefix(path, "/api/sessions/")
	a := want(t, s.do(t, "POST", path+"/execute", code("a")), 200, `"result":"a;"`, `"session":{"id":"`+id+`","step":1}`,
		`"policy":"extended"`)
	if a.json(t)["snapshot"] != nil {
		t.Errorf("the response has the snapshot: %s", a.body)
	}
	first := a.json(t)["id"].(string)
	want(t, s.do(t, "GET", "/api/result/"+first, ""), 200, `"result":"a;"`)
	want(t, s.do(t, "POST", path+"/execute", code("fail")), 200, `"status":"error"`, `"step":2`)
	want(t, s.do(t, "POST", path+"/execute", code("b")), 200)
	want(t, s.do(t, "GET", path, ""), 200, `"steps":2`, `"running":false`)
	// The same request runs again, although its result is said to be pure.
	want(t, s.do(t, "POST", path+"/execute", code("a")), 200, `"result":"a;b;a;"`, `"cached":false`)
	want(t, s.do(t, "GET", "/api/executions?status=paused", ""), 200, `"items":[]`)
	for _, other := range []string{"/api/executions/", "/api/result/"} {
		want(t, s.do(t, "GET", other+id, ""), 404)
		want(t, s.do(t, "DELETE", other+id, ""), 404)
	}
	want(t, s.do(t, "POST", "/api/executions/"+id+"/resume", `{"decisions":[{"seq":1,"decision":"approve"}]}`), 404)
	want(t, s.do(t, "POST", "/api/executions/"+id+"/events/e", ""), 404)
	want(t, s.do(t, "DELETE", path, ""), 204)
	want(t, s.do(t, "GET", path, ""), 404)
	want(t, s.do(t, "DELETE", path, ""), 404)
	want(t, s.do(t, "POST", path+"/fork", ""), 404)
	want(t, s.do(t, "POST", path+"/execute", code("a")), 404)
	var got []string
	for _, r := range s.records.records {
		if r.Session != id {
			t.Errorf("the record %+v is not of the session", r)
		}
		got = append(got, fmt.Sprint(r.Status, " ", r.Step))
	}
	story := []string{"completed 1", "error 2", "completed 2", "completed 3", "cancelled 3"}
	if diff := gocmp.Diff(story, got); diff != "" {
		t.Error(diff)
	}
}

// A fork and its session go separate ways.
func TestSessionFork(t *testing.T) {
	t.Parallel()
	s, _ := consoles(t, options{})
	path := s.session(t, `{}`)
	want(t, s.do(t, "POST", path+"/execute", code("a")), 200)
	a := want(t, s.do(t, "POST", path+"/fork", `{"maxAge":1000}`), 201, `"steps":1`)
	fork := a.Header.Get("Location")
	want(t, s.do(t, "POST", path+"/execute", code("b")), 200, `"result":"a;b;"`)
	want(t, s.do(t, "POST", fork+"/execute", code("c")), 200, `"result":"a;c;"`, `"step":2`)
	want(t, s.do(t, "DELETE", path, ""), 204)
	want(t, s.do(t, "POST", fork+"/execute", code("d")), 200, `"result":"a;c;d;"`)
	want(t, s.do(t, "POST", s.session(t, `{}`)+"/fork", ""), 201, `"steps":0`)
}

// An agent uses a session over several calls, copies it from an earlier step, and deletes it.
func TestAgentSessions(t *testing.T) {
	t.Parallel()
	for _, protocol := range protocols {
		s, f := consoles(t, options{auth: tokens(t)})
		ann := s.agent(t, protocol, token(t, "ann", "acme", "execute"), nil)
		bob := s.agent(t, protocol, token(t, "bob", "acme", "execute"), nil)
		call := func(session *sdk.ClientSession, tool string, arguments map[string]any) map[string]any {
			t.Helper()
			v, _ := use(t, session, tool, arguments)
			return v
		}
		v := call(ann, "create_session", map[string]any{"policy": "extended", "maxAge": 60000})
		id := fmt.Sprint(v["id"])
		if v["policy"] != "extended" || v["steps"] != 0.0 {
			t.Fatalf("%s: %v", protocol, v)
		}
		for n, want := range []string{"a;", "a;b;", "a;b;c;"} {
			step := map[string]any{"code": string(rune('a' + n)), "session": id}
			if v = call(ann, "execute_code", step); v["result"] != want {
				t.Errorf("%s: %v", protocol, v)
			}
		}
		fork := call(ann, "create_session", map[string]any{"from": id, "step": 1})
		if v = call(ann, "execute_code", map[string]any{"code": "d", "session": fork["id"]}); v["result"] != "a;d;" {
			t.Errorf("%s: the fork: %v", protocol, v)
		}
		if v = call(ann, "list_sessions", nil); len(v["items"].([]any)) != 2 {
			t.Errorf("%s: %v", protocol, v)
		}
		ran := f.records.count()
		for name, c := range map[string]struct {
			session   *sdk.ClientSession
			tool      string
			arguments map[string]any
			code      string
		}{
			"another's step": {bob, "execute_code", map[string]any{"code": "1", "session": id}, "not_found"},
			"another's fork": {bob, "create_session", map[string]any{"from": id}, "not_found"},
			"another's end":  {bob, "delete_session", map[string]any{"id": id}, "not_found"},
			"no session's":   {ann, "execute_code", map[string]any{"code": "1", "session": "x"}, "not_found"},
			"another type":   {ann, "execute_code", map[string]any{"code": "1", "session": 7}, "invalid_request"},
			"another policy": {ann, "execute_code", map[string]any{"code": "1", "session": id, "policy": "agent"},
				"invalid_request"},
			"a step to come":   {ann, "create_session", map[string]any{"from": id, "step": 4}, "invalid_request"},
			"a step of none":   {ann, "create_session", map[string]any{"step": 1}, "invalid_request"},
			"a strict session": {ann, "create_session", map[string]any{"policy": "strict"}, "invalid_request"},
		} {
			v, failed := use(t, c.session, c.tool, c.arguments)
			if !failed || v["code"] != c.code {
				t.Errorf("%s: %s: %v", protocol, name, v)
			}
		}
		if n := f.records.count() - ran; n != 0 {
			t.Errorf("%s: %d refused calls ran", protocol, n)
		}
		if v = call(bob, "list_sessions", nil); len(v["items"].([]any)) != 0 {
			t.Errorf("%s: another's: %v", protocol, v)
		}
		call(ann, "delete_session", map[string]any{"id": id})
		if v, failed := use(t, ann, "execute_code", map[string]any{"code": "1", "session": id}); !failed {
			t.Errorf("%s: after its end: %v", protocol, v)
		}
	}
}

// A session can be copied from any of its last steps, while it goes on. The states of older steps are gone, and a
// state that was changed makes no copy.
func TestForkOfEarlierStep(t *testing.T) {
	t.Parallel()
	s, _ := consoles(t, options{})
	path := s.session(t, `{}`)
	id := strings.TrimPrefix(path, "/api/sessions/")
	for n := range 11 {
		want(t, s.do(t, "POST", path+"/execute", code(string(rune('a'+n)))), 200)
	}
	want(t, s.do(t, "GET", path, ""), 200, `"steps":11`, `"earliest":3`)
	want(t, s.do(t, "POST", path+"/execute", code("fail")), 200)
	want(t, s.do(t, "GET", path, ""), 200, `"steps":11`, `"earliest":3`)
	want(t, s.do(t, "POST", path+"/fork", `{"step":2}`), 400, `"field":"step"`, "from 3 to 11")
	want(t, s.do(t, "POST", path+"/fork", `{"step":12}`), 400, `"field":"step"`)
	want(t, s.do(t, "POST", path+"/fork", `{"step":-1}`), 400, `"field":"step"`)
	fork := want(t, s.do(t, "POST", path+"/fork", `{"step":3}`), 201, `"steps":3`, `"earliest":3`).Header.Get("Location")
	want(t, s.do(t, "POST", fork+"/execute", code("x")), 200, `"result":"a;b;c;x;"`, `"step":4`)
	want(t, s.do(t, "POST", fork+"/fork", `{"step":3}`), 201, `"steps":3`)
	empty := want(t, s.do(t, "POST", path+"/fork", `{"step":0}`), 201, `"steps":0`).Header.Get("Location")
	want(t, s.do(t, "POST", empty+"/execute", code("x")), 200, `"result":"x;"`)
	s.alter(t, id, func(j *execution.Job) { j.Snapshot[40] ^= 1 }) // in the oldest
	want(t, s.do(t, "POST", path+"/fork", `{"step":3}`), 409, "session_lost")
	want(t, s.do(t, "POST", path+"/fork", `{"step":4}`), 201)
	want(t, s.do(t, "POST", path+"/execute", code("z")), 200, `"step":12`)
}

// While a step runs, another is refused. A session that is deleted meanwhile keeps nothing of the step.
func TestSessionIsBusy(t *testing.T) {
	t.Parallel()
	s, f := consoles(t, options{})
	path := s.session(t, `{}`)
	ended := make(chan answer, 1)
	go func() { ended <- s.do(t, "POST", path+"/execute", code("wait")) }()
	<-f.started
	want(t, s.do(t, "POST", path+"/execute", code("a")), 409, "session_busy")
	want(t, s.do(t, "GET", path, ""), 200, `"running":true`)
	want(t, s.do(t, "POST", path+"/fork", ""), 201, `"steps":0`)
	want(t, s.do(t, "DELETE", path, ""), 204)
	want(t, s.do(t, "GET", path, ""), 404)
	close(f.proceed)
	want(t, <-ended, 409, "session_changed")
	if r := <-f.records.added; r.Step != 1 || r.Status != "completed" {
		t.Errorf("the record of the step: %+v", r)
	}
	if r := <-f.records.added; r.Step != 0 || r.Status != "cancelled" {
		t.Errorf("the record of the end: %+v", r)
	}
}

// A step whose session is deleted while it runs, and whose gateway then dies, has a record. It comes before that of the
// end of the session.
func TestDeletedSessionLosesItsStep(t *testing.T) {
	t.Parallel()
	s, f := consoles(t, options{})
	path := s.session(t, `{}`)
	id := strings.TrimPrefix(path, "/api/sessions/")
	const run = "exec_01JD5Z6Q8V0000000000000000"
	s.alter(t, id, func(j *execution.Job) {
		j.Wait = j.Wait.Clone()
		j.Wait.Session.Running, j.Wait.Session.Until = run, time.Now().Add(time.Hour)
	})
	want(t, s.do(t, "DELETE", path, ""), 204)
	want(t, s.do(t, "GET", path, ""), 404)
	job, err := s.state.Job(t.Context(), id)
	if err != nil || job.Ended() || !job.Wait.DueAt.Equal(job.Wait.Session.Until) {
		t.Errorf("the session waits for its step until %s: %v, %s", job.Wait.Session.Until, err, job.Wait.DueAt)
	}
	s.alter(t, id, func(j *execution.Job) {
		j.Wait = j.Wait.Clone()
		j.Wait.Session.Until, j.Wait.DueAt = time.Now().Add(-time.Second), time.Now()
	})
	if r := <-f.records.added; r.Step != 1 || r.Status != "error" || !strings.Contains(r.Error, "died") {
		t.Errorf("the record of the step: %+v", r)
	}
	if r := <-f.records.added; r.Step != 0 || r.Status != "cancelled" {
		t.Errorf("the record of the end: %+v", r)
	}
}

// The claim of a step whose gateway died lapses. A step that comes late keeps nothing.
func TestSessionClaimLapses(t *testing.T) {
	t.Parallel()
	s, f := consoles(t, options{})
	path := s.session(t, `{}`)
	id := strings.TrimPrefix(path, "/api/sessions/")
	want(t, s.do(t, "POST", path+"/execute", code("a")), 200)
	ended := make(chan answer, 1)
	go func() { ended <- s.do(t, "POST", path+"/execute", code("wait")) }()
	<-f.started
	s.alter(t, id, func(j *execution.Job) { j.Wait.Session.Until = time.Now().Add(-time.Second) })
	want(t, s.do(t, "POST", path+"/execute", code("b")), 200, `"result":"a;b;"`)
	close(f.proceed)
	want(t, <-ended, 409, "session_changed")
	want(t, s.do(t, "POST", path+"/execute", code("c")), 200, `"result":"a;b;c;"`)
	lapse := func(running string) {
		s.alter(t, id, func(j *execution.Job) {
			j.Wait = j.Wait.Clone()
			j.Wait.Session.Running, j.Wait.Session.Until = running, time.Now().Add(-time.Second)
		})
	}
	lapse("exec_01JD5Z6Q8V0000000000000000")
	want(t, s.do(t, "DELETE", path, ""), 204)
	var got []string
	for _, r := range f.records.records {
		got = append(got, fmt.Sprint(r.Step, " ", r.Status, " ", r.Error))
	}
	slices.Sort(got)
	lost := "error the process that ran this step died before it recorded the step; the session is as it was before"
	if diff := gocmp.Diff([]string{"1 completed ", "2 completed ", "2 completed ", "2 " + lost,
		"3 cancelled the session was deleted", "3 completed ", "4 " + lost}, got); diff != "" {
		t.Error(diff)
	}
}

// alter changes a stored session, as somebody who can write to the database might.
func (s *served) alter(t *testing.T, id string, fn func(*execution.Job)) {
	t.Helper()
	_, err := s.state.ChangeJob(t.Context(), id, func(j *execution.Job) error {
		j.Snapshot = bytes.Clone(j.Snapshot) // ChangeJob does not notice changed bytes of the old one
		fn(j)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A session whose row was altered runs nothing.
func TestAlteredSession(t *testing.T) {
	t.Parallel()
	s, f := consoles(t, options{auth: tokens(t)})
	ann, bob := tenantToken(t, "ann", "acme", "execute"), tenantToken(t, "bob", "acme", "execute")
	two := func(t *testing.T, who string) (path string, job execution.Job) {
		path = s.session(t, `{}`, who)
		want(t, s.do(t, "POST", path+"/execute", code("a"), who), 200)
		job, err := s.state.Job(t.Context(), strings.TrimPrefix(path, "/api/sessions/"))
		if err != nil {
			t.Fatal(err)
		}
		want(t, s.do(t, "POST", path+"/execute", code("b"), who), 200)
		return path, job
	}
	_, other := two(t, ann)
	_, bobs := two(t, bob)
	for name, alter := range map[string]func(j *execution.Job, before execution.Job){
		"a changed byte":      func(j *execution.Job, _ execution.Job) { j.Snapshot[len(j.Snapshot)-1] ^= 1 },
		"cut":                 func(j *execution.Job, _ execution.Job) { j.Snapshot = j.Snapshot[:20] },
		"none":                func(j *execution.Job, _ execution.Job) { j.Snapshot = nil },
		"an older step":       func(j *execution.Job, before execution.Job) { j.Snapshot = before.Snapshot },
		"another session":     func(j *execution.Job, _ execution.Job) { j.Snapshot = other.Snapshot },
		"another subject":     func(j *execution.Job, _ execution.Job) { j.Snapshot = bobs.Snapshot },
		"another engine":      func(j *execution.Job, _ execution.Job) { j.Wait.EngineBuild = "c" },
		"a different tier":    func(j *execution.Job, _ execution.Job) { j.Wait.Tier = "agent" },
		"a different counter": func(j *execution.Job, _ execution.Job) { j.Wait.Segment = 3 },
	} {
		t.Run(name, func(t *testing.T) {
			path, before := two(t, ann)
			s.alter(t, before.ID, func(j *execution.Job) { alter(j, before) })
			ran := f.records.count()
			want(t, s.do(t, "POST", path+"/execute", code("c"), ann), 409, "session_lost")
			want(t, s.do(t, "POST", path+"/fork", "", ann), 409, "session_lost")
			want(t, s.do(t, "GET", path, "", ann), 200, `"running":false`)
			if n := f.records.count(); n != ran {
				t.Errorf("%d executions ran", n-ran)
			}
		})
	}
}

// A session whose key is no longer configured runs nothing, and goes on when the key is back.
func TestSessionWithoutItsKey(t *testing.T) {
	t.Parallel()
	s, _ := consoles(t, options{})
	path := s.session(t, `{}`)
	want(t, s.do(t, "POST", path+"/execute", code("a")), 200)
	id := strings.TrimPrefix(path, "/api/sessions/")
	stored, err := s.state.Job(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	named := bytes.Replace(stored.Snapshot, []byte("\x04test"), []byte("\x04past"), 1)
	s.alter(t, id, func(j *execution.Job) { j.Snapshot = named })
	want(t, s.do(t, "POST", path+"/execute", code("b")), 503, "no_snapshot_key", "SNAPSHOT_KEYS")
	want(t, s.do(t, "POST", path+"/fork", ""), 503, "no_snapshot_key")
	s.alter(t, id, func(j *execution.Job) { j.Snapshot = stored.Snapshot })
	want(t, s.do(t, "POST", path+"/execute", code("b")), 200, `"step":2`)
}

// Nobody but its owner sees a session.
func TestSessionOfAnother(t *testing.T) {
	t.Parallel()
	s, _ := consoles(t, options{auth: tokens(t)})
	path := s.session(t, `{}`, tenantToken(t, "ann", "acme", "execute"))
	for name, who := range map[string]string{
		"another tenant": tenantToken(t, "ann", "other", "execute"), "a colleague": tenantToken(t, "bob", "acme", "execute"),
		"an approver": tenantToken(t, "bob", "acme", "execute approve"),
	} {
		t.Run(name, func(t *testing.T) {
			want(t, s.do(t, "GET", path, "", who), 404)
			want(t, s.do(t, "POST", path+"/execute", code("a"), who), 404)
			want(t, s.do(t, "POST", path+"/fork", "", who), 404)
			want(t, s.do(t, "DELETE", path, "", who), 404)
		})
	}
}

// A session expires with a record.
func TestSessionExpires(t *testing.T) {
	t.Parallel()
	s, _ := consoles(t, options{})
	path := s.session(t, `{"maxAge":1}`)
	for {
		r := <-s.records.added
		if r.Status == "expired" && "/api/sessions/"+r.Session == path && r.Error == "the session expired" {
			break
		}
		t.Errorf("got the record %+v", r)
	}
	want(t, s.do(t, "GET", path, ""), 404)
	want(t, s.do(t, "POST", path+"/execute", code("a")), 404)
}

// A caller lists its own sessions, in pages.
func TestSessionList(t *testing.T) {
	t.Parallel()
	s, _ := consoles(t, options{auth: tokens(t)})
	ann, bob := tenantToken(t, "ann", "acme", "execute"), tenantToken(t, "bob", "acme", "execute approve")
	var made, got []string
	for range 5 {
		made = append(made, strings.TrimPrefix(s.session(t, `{}`, ann), "/api/sessions/"))
	}
	want(t, s.do(t, "POST", "/api/sessions/"+made[0]+"/execute", code("a"), ann), 200)
	want(t, s.do(t, "DELETE", "/api/sessions/"+made[3], "", ann), 204)
	for cursor := ""; ; {
		page := want(t, s.do(t, "GET", "/api/sessions?limit=2&cursor="+cursor, "", ann), 200).json(t)
		for _, item := range page["items"].([]any) {
			got = append(got, fmt.Sprint(item.(map[string]any)["id"], " ", item.(map[string]any)["steps"]))
		}
		if page["next"] == nil {
			break
		}
		cursor = page["next"].(string)
	}
	if diff := gocmp.Diff([]string{made[0] + " 1", made[1] + " 0", made[2] + " 0", made[4] + " 0"}, got); diff != "" {
		t.Error(diff)
	}
	want(t, s.do(t, "GET", "/api/sessions", "", bob), 200, `"items":[]`, `"next":null`)
	want(t, s.do(t, "GET", "/api/sessions?limit=2&cursor="+made[0], "", bob), 200, `"items":[]`)
}

func TestSessionBounds(t *testing.T) {
	t.Parallel()
	s, _ := consoles(t, options{auth: tokens(t)})
	ann := tenantToken(t, "ann", "acme", "execute")
	var last string
	for range bounds.Of(bounds.Sessions).Most {
		last = s.session(t, `{}`, ann)
	}
	want(t, s.do(t, "POST", "/api/sessions", `{}`, ann), 507, "storage_quota")
	want(t, s.do(t, "POST", last+"/fork", "", ann), 507, "storage_quota")
	s.session(t, `{}`, tenantToken(t, "bob", "acme", "execute"))
	want(t, s.do(t, "DELETE", last, "", ann), 204)
	s.session(t, `{}`, ann)
}

// Without keys for snapshots there are no sessions, and the response says what is missing.
func TestNoSessions(t *testing.T) {
	t.Parallel()
	s := kept(t, options{config: gateway.Config{}})
	want(t, s.do(t, "POST", "/api/sessions", `{}`), 501, "no_sessions", "SNAPSHOT_KEYS")
	want(t, serve(t, options{}).do(t, "POST", "/api/sessions", `{}`), 501, "stateless")
}

// A restart of E2B's client empties the state of a session. Its steps are counted on, and forks begin empty.
func TestContextsRestart(t *testing.T) {
	t.Parallel()
	s, f := consoles(t, options{auth: tokens(t)})
	ann, eve := tenantToken(t, "ann", "acme", "execute"), tenantToken(t, "eve", "other", "execute")
	path := s.session(t, `{}`, ann)
	restart := "/api/e2b/contexts/" + strings.TrimPrefix(path, "/api/sessions/") + "/restart"
	want(t, s.do(t, "POST", restart, "", ann), 204)
	want(t, s.do(t, "POST", path+"/execute", code("a"), ann), 200, `"result":"a;"`)
	want(t, s.do(t, "POST", path+"/execute", code("b"), ann), 200, `"result":"a;b;"`)
	want(t, s.do(t, "POST", restart, "", eve), 404)
	want(t, s.do(t, "POST", restart, "", ann), 204)
	want(t, s.do(t, "GET", path, "", ann), 200, `"steps":2`, `"earliest":2`, `"bytes":0`)
	want(t, s.do(t, "POST", path+"/execute", code("fail"), ann), 200, `"status":"error"`)
	fork := want(t, s.do(t, "POST", path+"/fork", "", ann), 201).json(t)["id"].(string)
	want(t, s.do(t, "POST", "/api/sessions/"+fork+"/execute", code("c"), ann), 200, `"result":"c;"`)
	want(t, s.do(t, "POST", path+"/execute", code("c"), ann), 200, `"result":"c;"`, `"step":3`)
	want(t, s.do(t, "POST", path+"/execute", code("d"), ann), 200, `"result":"c;d;"`)
	want(t, s.do(t, "GET", path, "", ann), 200, `"steps":4`, `"earliest":3`)
	done := make(chan answer)
	go func() { done <- s.do(t, "POST", path+"/execute", code("wait"), ann) }()
	<-f.started
	want(t, s.do(t, "POST", restart, "", ann), 409, "session_busy")
	close(f.proceed)
	want(t, <-done, 200)
}
