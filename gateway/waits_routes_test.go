package gateway_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/gateway/waits"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/policy/deployment"
)

// sleeper is a function whose executions pause as often as there are steps, and then complete with the answers of all
// segments.
type sleeper struct {
	records *ledger
	steps   [][]execution.Waiting
	// lose makes the function die after it recorded the segment with that number.
	lose int

	mu     sync.Mutex
	ran    []execution.Invocation
	answer []execution.Answer
}

func (s *sleeper) invoke(
	ctx context.Context, inv execution.Invocation, _ func(execution.Log),
) (execution.Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ran = append(s.ran, inv)
	segment := 1
	if inv.Resume != nil {
		segment = inv.Resume.Segment
		s.answer = append(s.answer, inv.Resume.Answers...)
		if want := fmt.Sprintf("snapshot %d", segment-1); string(inv.Resume.Snapshot) != want {
			return execution.Reply{}, fmt.Errorf("the snapshot is %q, want %q", inv.Resume.Snapshot, want)
		}
	}
	r := execution.Result{ID: inv.ID, Status: execution.Completed,
		Environment: execution.Environment{Policy: cmp.Or(inv.Request.Policy, "standard"),
			Engine: "quickjs", EngineBuild: "b"}, DurationMs: float64(segment), Usage: execution.Usage{WallMs: float64(segment),
			CPUMs: float64(segment), Ticks: int64(segment), APICalls: segment, MemoryBytes: 100}}
	if segment <= len(s.steps) {
		r.Status, r.Waiting, r.Snapshot = execution.Paused, s.steps[segment-1], fmt.Appendf(nil, "snapshot %d", segment)
	} else {
		r.Result = governance.Encode(s.answer)
	}
	record := governance.Record(inv, nil, r, "sum", false)
	if err := s.records.Append(ctx, record); err != nil {
		return execution.Reply{}, err
	}
	if s.lose == segment {
		s.lose = 0
		return execution.Reply{}, &execution.Error{Code: execution.Unavailable, Message: "the function died"}
	}
	return execution.Reply{Recorded: true, Result: r}, nil
}

// segments returns the number of segments that ran.
func (s *sleeper) segments() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ran)
}

func refund(seq int) execution.Waiting {
	return execution.Waiting{Seq: seq, Kind: execution.WaitApproval, Tool: "payments:refund",
		Args: json.RawMessage(`{"order":7}`)}
}

func snapshotKeys(t testing.TB) *waits.Keys {
	t.Helper()
	k, err := waits.ParseKeys(waits.NewKey("test"))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// waiting serves a gateway whose executions pause.
func waiting(t *testing.T, o options, steps ...[]execution.Waiting) (*served, *sleeper) {
	t.Helper()
	o.records = &ledger{added: make(chan audit.Record, 100)}
	f := &sleeper{records: o.records, steps: steps}
	o.invoke, o.config.SnapshotKeys = f.invoke, snapshotKeys(t)
	return kept(t, o), f
}

// An execution pauses, shows what it waits for, and completes after the decision. Every segment and the decision have
// a record.
func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	s, f := waiting(t, options{}, []execution.Waiting{refund(1)})
	a := want(t, s.do(t, "POST", "/api/execute", code("1")), 202, `"status":"paused"`, `"tool":"payments:refund"`,
		`"args":{"order":7}`, `"expiresAt":"`)
	id := a.json(t)["id"].(string)
	path := "/api/executions/" + id
	if a.Header.Get("Location") != path || a.json(t)["snapshot"] != nil {
		t.Errorf("%v %s", a.Header, a.body)
	}
	want(t, s.do(t, "GET", path, ""), 200, `"status":"paused"`, `"seq":1`, `"code":"1"`)
	want(t, s.do(t, "GET", "/api/result/"+id, ""), 200, `"status":"paused"`)
	want(t, s.do(t, "GET", "/api/executions?status=paused", ""), 200, id, `"next":null`)
	a = want(t, s.do(t, "POST", path+"/resume",
		`{"decisions":[{"seq":1,"decision":"edit","args":{"order":8}}]}`), 200, `"status":"completed"`, `"id":"`+id+`"`)
	if got := fmt.Sprint(a.json(t)["result"]); got != "[map[args:map[order:8] call:true seq:1]]" {
		t.Errorf("the segment got %s", got)
	}
	want(t, s.do(t, "GET", path, ""), 200, `"status":"completed"`)
	want(t, s.do(t, "GET", "/api/executions?status=paused", ""), 200, `"items":[]`)
	type line struct {
		Status, Parent string
		Segment        int
		Decision       string
	}
	var got []line
	for _, r := range s.records.records {
		l := line{Status: r.Status, Parent: r.Parent, Segment: r.Segment}
		if r.Decision != nil {
			l.Decision = fmt.Sprintf("%s %d by %s", r.Decision.Decision, r.Decision.Seq, r.Caller.Subject)
		}
		got = append(got, l)
	}
	if diff := gocmp.Diff([]line{
		{"paused", "", 0, ""}, {"decided", id, 1, "edit 1 by local"}, {"completed", id, 2, ""},
	}, got); diff != "" {
		t.Error(diff)
	}
	if !f.ran[0].Waits || f.ran[1].Resume.Parent != id || f.ran[1].ID == id {
		t.Errorf("invoked with %+v", f.ran)
	}
}

// The result of an execution counts what all its segments used, and each record what its own segment used.
func TestUsageOfSegments(t *testing.T) {
	t.Parallel()
	s, _ := waiting(t, options{}, []execution.Waiting{refund(1)}, []execution.Waiting{refund(2)})
	a := want(t, s.do(t, "POST", "/api/execute", code("1")), 202)
	path := "/api/executions/" + a.json(t)["id"].(string) + "/resume"
	want(t, s.do(t, "POST", path, `{"decisions":[{"seq":1,"decision":"approve"}]}`), 202)
	a = want(t, s.do(t, "POST", path, `{"decisions":[{"seq":2,"decision":"approve"}]}`), 200)
	var result execution.Result
	if err := json.Unmarshal(a.body, &result); err != nil {
		t.Fatal(err)
	}
	if result.Usage.Ticks != 3 || result.DurationMs != 3 {
		t.Errorf("the result has the usage %+v, and took %g ms", result.Usage, result.DurationMs)
	}
	for _, r := range s.records.records {
		want := audit.Usage{WallMs: 1, CPUMs: 1, Ticks: 1, APICalls: 1, MemoryBytes: 100}
		if r.Decision != nil {
			want = audit.Usage{}
		}
		r.Usage.QueueMs = 0
		if diff := gocmp.Diff(want, r.Usage); diff != "" || r.DurationMs != want.WallMs {
			t.Errorf("segment %d took %g ms: %s", r.Segment, r.DurationMs, diff)
		}
	}
}

// Decisions that do not apply change nothing and say so.
func TestResumeRefuses(t *testing.T) {
	t.Parallel()
	s, _ := waiting(t, options{}, []execution.Waiting{refund(1), refund(2)}, []execution.Waiting{refund(2)})
	id := want(t, s.do(t, "POST", "/api/execute", code("1")), 202).json(t)["id"].(string)
	path := "/api/executions/" + id
	for _, c := range []struct {
		name, body string
		status     int
		says       string
	}{
		{"no decisions", `{"decisions":[]}`, 400, "decisions"},
		{"an unknown decision", `{"decisions":[{"seq":1,"decision":"maybe"}]}`, 400, "decision"},
		{"an unknown field", `{"decisions":[{"seq":1,"decision":"approve","by":"me"}]}`, 400, "decisions"},
		{"edit without arguments", `{"decisions":[{"seq":1,"decision":"edit"}]}`, 400, "args"},
		{"respond without a value", `{"decisions":[{"seq":1,"decision":"respond"}]}`, 400, "value"},
		{"arguments of an approval", `{"decisions":[{"seq":1,"decision":"approve","args":{}}]}`, 400, "args"},
		{"twice in one request", `{"decisions":[{"seq":1,"decision":"approve"},{"seq":1,"decision":"reject"}]}`, 400,
			"twice"},
		{"not pending", `{"decisions":[{"seq":3,"decision":"approve"}]}`, 409, "operation 3"},
		{"one of two not pending", `{"decisions":[{"seq":1,"decision":"approve"},{"seq":3,"decision":"approve"}]}`, 409,
			"operation 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want(t, s.do(t, "POST", path+"/resume", c.body), c.status, c.says)
		})
	}
	want(t, s.do(t, "POST", path+"/events/arrived", "{}"), 409, "arrived")
	want(t, s.do(t, "POST", "/api/executions/exec_0000000000/resume",
		`{"decisions":[{"seq":1,"decision":"approve"}]}`), 404)
	want(t, s.do(t, "POST", path+"/resume", `{"decisions":[{"seq":1,"decision":"approve"}]}`), 202, `"segment":2`)
	want(t, s.do(t, "POST", path+"/resume", `{"decisions":[{"seq":1,"decision":"reject"}]}`), 409)
	want(t, s.do(t, "POST", path+"/resume", `{"decisions":[{"seq":2,"decision":"reject","reason":"no"}]}`), 200,
		`"status":"completed"`, "the request was rejected: no")
	want(t, s.do(t, "POST", path+"/resume", `{"decisions":[{"seq":2,"decision":"approve"}]}`), 409, "completed")
}

// A gateway without keys accepts no decision that it could not carry out.
func TestResumeWithoutKeys(t *testing.T) {
	t.Parallel()
	s := kept(t, options{})
	for path, body := range map[string]string{
		"/resume": `{"decisions":[{"seq":1,"decision":"approve"}]}`, "/events/e": `{"paid":true}`,
	} {
		a := s.do(t, "POST", "/api/executions/exec_0000000001"+path, body)
		if detail, kind := a.problem(t, 501); kind != "stateless" || !strings.Contains(detail, "SNAPSHOT_KEYS") {
			t.Errorf("%s: %s: %s", path, kind, detail)
		}
	}
}

// A paused execution whose key is no longer configured stays as it is, and goes on when the key is back.
func TestResumeWithoutItsKey(t *testing.T) {
	t.Parallel()
	s, f := waiting(t, options{}, []execution.Waiting{refund(1), {Seq: 2, Kind: execution.WaitEvent, Name: "e"}})
	id := want(t, s.do(t, "POST", "/api/execute", code("1")), 202).json(t)["id"].(string)
	path, decision := "/api/executions/"+id, `{"decisions":[{"seq":1,"decision":"approve"}]}`
	stored, err := s.state.Job(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	other, err := waits.ParseKeys(waits.NewKey("k0"))
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := other.Seal(stored, []byte("snapshot 1"))
	if err != nil {
		t.Fatal(err)
	}
	replace := func(snapshot []byte) {
		s.alter(t, id, func(j *execution.Job) {
			if err := waits.Carry(j.Wait, nil, snapshot); err != nil {
				t.Error(err)
			}
			j.Snapshot = snapshot
		})
	}
	replace(sealed)
	want(t, s.do(t, "POST", path+"/resume", decision), 503, "no_snapshot_key", "SNAPSHOT_KEYS")
	want(t, s.do(t, "POST", path+"/events/e", "1"), 503, "no_snapshot_key")
	want(t, s.do(t, "GET", path, ""), 200, `"status":"paused"`, `"segment":1`, `"decided":[]`)
	replace(stored.Snapshot)
	want(t, s.do(t, "POST", path+"/resume", decision), 200, `"status":"completed"`)
	if n := f.segments(); n != 2 {
		t.Errorf("%d segments ran; want 2", n)
	}
}

func TestStreamPauses(t *testing.T) {
	t.Parallel()
	s, _ := waiting(t, options{}, []execution.Waiting{refund(1)})
	want(t, s.do(t, "POST", "/api/execute/stream", code("1")), 200, "event: paused", `"status":"paused"`)
}

// A sleep ends by itself. So does the wait of a job whose caller does not wait.
func TestSleepEnds(t *testing.T) {
	t.Parallel()
	s, _ := waiting(t, options{},
		[]execution.Waiting{{Seq: 1, Kind: execution.WaitSleep, DueAt: time.Now().Add(10 * time.Millisecond)}},
		[]execution.Waiting{{Seq: 2, Kind: execution.WaitEvent, Name: "e", ExpiresAt: time.Now().Add(time.Millisecond)}})
	a := want(t, s.do(t, "POST", "/api/execute", code("1"), prefer), 202)
	location := "/api/result/" + a.json(t)["id"].(string)
	got := a.json(t)
	for look := time.NewTicker(5 * time.Millisecond); got["status"] != "completed"; <-look.C {
		got = want(t, s.do(t, "GET", location, ""), 200).json(t)
	}
	answers := "[map[seq:1] map[error:the event e has not come in time errorName:TimeoutError seq:2]]"
	if fmt.Sprint(got["result"]) != answers {
		t.Errorf("got %v", got["result"])
	}
}

// A paused execution is cancelled with a record, and nothing resumes it.
func TestCancelPaused(t *testing.T) {
	t.Parallel()
	s, f := waiting(t, options{}, []execution.Waiting{refund(1)})
	path := "/api/executions/" + want(t, s.do(t, "POST", "/api/execute", code("1")), 202).json(t)["id"].(string)
	want(t, s.do(t, "DELETE", path, ""), 200, `"status":"cancelled"`)
	want(t, s.do(t, "POST", path+"/resume", `{"decisions":[{"seq":1,"decision":"approve"}]}`), 409, "cancelled")
	last := s.records.records[len(s.records.records)-1]
	if last.Status != "cancelled" || last.Parent == "" || last.Caller.Subject != "local" {
		t.Errorf("the last record is %+v", last)
	}
	if len(f.ran) != 1 {
		t.Errorf("%d segments ran; want 1", len(f.ran))
	}
}

// A paused execution whose long values are lost is shown, cannot go on, and is cancelled. Another goes on.
func TestCancelWithoutValues(t *testing.T) {
	t.Parallel()
	long := refund(1)
	long.Args = json.RawMessage(`{"order":"` + strings.Repeat("7", 1<<20) + `"}`)
	s, f := waiting(t, options{}, []execution.Waiting{long})
	pause := func() string {
		return want(t, s.do(t, "POST", "/api/execute", code("1")), 202).json(t)["id"].(string)
	}
	hurt := pause()
	if err := os.RemoveAll(filepath.Join(s.dir, "contents")); err != nil {
		t.Fatal(err)
	}
	well := pause()
	const at, approve = "/api/executions/", `{"decisions":[{"seq":1,"decision":"approve"}]}`
	want(t, s.do(t, "POST", at+hurt+"/resume", approve), 409, "content_lost")
	want(t, s.do(t, "GET", "/api/executions?status=paused", ""), 200, hurt, well)
	want(t, s.do(t, "POST", at+well+"/resume", approve), 200, `"status":"completed"`)
	want(t, s.do(t, "DELETE", at+hurt, ""), 200, `"status":"cancelled"`)
	want(t, s.do(t, "GET", at+hurt, ""), 200, `"status":"cancelled"`)
	last := s.records.records[len(s.records.records)-1]
	if last.Status != "cancelled" || last.Parent == "" || f.segments() != 3 {
		t.Errorf("%d segments ran, and the last record is %+v", f.segments(), last)
	}
}

// Without keys, executions cannot wait, and their invocations say so.
func TestNoKeys(t *testing.T) {
	t.Parallel()
	s := kept(t, options{invoke: func(
		_ context.Context, inv execution.Invocation, _ func(execution.Log),
	) (execution.Reply, error) {
		return execution.Reply{Recorded: true, Result: execution.Result{ID: inv.ID, Status: execution.Completed,
			Result: governance.Encode(inv.Waits)}}, nil
	}})
	want(t, s.do(t, "POST", "/api/execute", code("1")), 200, `"result":false`)
	want(t, s.do(t, "GET", "/api/executions?status=paused", ""), 200, `"items":[]`)
	want(t, s.do(t, "GET", "/api/executions?status=done", ""), 400, "status")
}

// A value that does not fit what the code asked for decides nothing.
func TestRespondFits(t *testing.T) {
	t.Parallel()
	s, f := waiting(t, options{}, []execution.Waiting{refund(1), {Seq: 2, Kind: execution.WaitApproval, Title: "How many?",
		Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)}})
	path := "/api/executions/" + want(t, s.do(t, "POST", "/api/execute", code("1")), 202).json(t)["id"].(string)
	for _, value := range []string{`7`, `{"n":"7"}`, `{}`, `null`} {
		want(t, s.do(t, "POST", path+"/resume", `{"decisions":[{"seq":1,"decision":"approve"},
			{"seq":2,"decision":"respond","value":`+value+`}]}`), 400, `"field":"decisions[1].value"`, "operation 2")
	}
	want(t, s.do(t, "GET", path, ""), 200, `"decided":[]`)
	if n := f.segments(); n != 1 {
		t.Errorf("%d segments ran", n)
	}
	want(t, s.do(t, "POST", path+"/resume", `{"decisions":[{"seq":1,"decision":"respond","value":"any"},
		{"seq":2,"decision":"respond","value":{"n":7}}]}`), 200, `"value":{"n":7}`)
}

// fourEyes returns a policy whose tier four asks for an approver who did not start the execution.
func fourEyes(t *testing.T) *policy.Set {
	t.Helper()
	rules, err := deployment.Parse("policy.yaml", []byte("version: 1\n"+
		"tiers: {four: {base: standard, waits: {approverIsNotRequester: true}}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// Who may decide: the scope approve in the execution's tenant, and somebody else than who started it if the tier says
// so.
func TestWhoApproves(t *testing.T) {
	t.Parallel()
	rules := fourEyes(t)
	decide := `{"decisions":[{"seq":1,"decision":"approve"}]}`
	for _, c := range []struct {
		name, tier, subject, tenant, scope string
		status                             int
		says                               string
	}{
		{"the requester", "standard", "ann", "acme", "approve", 200, "completed"},
		{"a colleague", "standard", "bob", "acme", "approve", 200, "completed"},
		{"a colleague without the scope", "standard", "bob", "acme", "execute", 403, "approve"},
		{"another tenant", "standard", "bob", "other", "approve", 404, ""},
		{"the requester, where two are needed", "four", "ann", "acme", "approve", 403, "somebody else"},
		{"a colleague, where two are needed", "four", "bob", "acme", "approve", 200, "completed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := waiting(t, options{auth: tokens(t), policy: rules}, []execution.Waiting{refund(1)})
			started := bearer(token(t, "ann", "acme", "execute"))
			a := want(t, s.do(t, "POST", "/api/execute", `{"code":"1","policy":"`+c.tier+`"}`, started), 202)
			path := "/api/executions/" + a.json(t)["id"].(string)
			want(t, s.do(t, "POST", path+"/resume", decide, bearer(token(t, c.subject, c.tenant, c.scope))), c.status, c.says)
		})
	}
}
