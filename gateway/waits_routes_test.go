package gateway_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/gateway"
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

func TestEventResumes(t *testing.T) {
	t.Parallel()
	s, _ := waiting(t, options{}, []execution.Waiting{{Seq: 1, Kind: execution.WaitEvent, Name: "replied"}})
	path := "/api/executions/" + want(t, s.do(t, "POST", "/api/execute", code("1")), 202).json(t)["id"].(string)
	want(t, s.do(t, "POST", path+"/resume", `{"decisions":[{"seq":1,"decision":"approve"}]}`), 400, "kind event")
	// A value that no segment could begin with is refused, and the execution waits on.
	for _, value := range []string{
		"{", "1 2", `"\ud800"`, `{"\udfff":1}`, `{"a":1,"a":2}`, "\"\xff\"", "\ufeff1",
		strings.Repeat("[", execution.MaxDepth+1) + strings.Repeat("]", execution.MaxDepth+1),
	} {
		want(t, s.do(t, "POST", path+"/events/replied", value), 400, "must be valid JSON in UTF-8")
	}
	want(t, s.do(t, "POST", path+"/events/replied", `{"text":"yes"}`), 200, `"value":{"text":"yes"}`)
}

// The name of an event is any text: its percent escapes in the path are decoded once.
func TestEventNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a/b c?d#e", "größe ☃", "50%", "a%2Fb", "..", "+"} {
		s, _ := waiting(t, options{}, []execution.Waiting{{Seq: 1, Kind: execution.WaitEvent, Name: name}})
		path := "/api/executions/" + want(t, s.do(t, "POST", "/api/execute", code("1")), 202).json(t)["id"].(string)
		want(t, s.do(t, "POST", path+"/events/%ff", "1"), 400, `"field":"name"`)
		want(t, s.do(t, "POST", path+"/events/"+url.PathEscape(name)+"x", "1"), 409, "does not wait for")
		escaped := strings.ReplaceAll(url.PathEscape(name), ".", "%2E")
		want(t, s.do(t, "POST", path+"/events/"+escaped, "1"), 200, `"value":1`)
	}
}

// An agent runs code that pauses, and reads how it goes on. An agent that may approve lists it and decides. The tools
// for that are hidden from others.
func TestAgentsApprove(t *testing.T) {
	t.Parallel()
	for _, protocol := range protocols {
		s, _ := waiting(t, options{auth: tokens(t)}, []execution.Waiting{refund(1)}, []execution.Waiting{refund(2)})
		author := s.agent(t, protocol, token(t, "ann", "acme", "execute"), nil)
		boss := s.agent(t, protocol, token(t, "bob", "acme", "approve"), nil)
		var names []string
		for _, session := range []*sdk.ClientSession{author, boss} {
			tools, err := session.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range tools.Tools {
				if tool.Name == "list_paused" || tool.Name == "resume_execution" {
					names = append(names, tool.Name)
				}
			}
		}
		if got := fmt.Sprint(names); got != "[list_paused resume_execution]" {
			t.Errorf("%s: the author and the boss see %s", protocol, got)
		}
		call := func(session *sdk.ClientSession, tool string, arguments map[string]any) (map[string]any, string, bool) {
			t.Helper()
			r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
			if err != nil {
				t.Fatal(err)
			}
			v, text := r.StructuredContent.(map[string]any), r.Content[0].(*sdk.TextContent).Text
			if v["segment"] == nil { // otherwise its code and its result so far are for programs
				v = content(t, r)
			}
			return v, text, r.IsError
		}
		v, text, failed := call(author, "execute_code", map[string]any{"code": "1"})
		id := fmt.Sprint(v["id"])
		if failed || v["status"] != "paused" {
			t.Fatalf("%s: failed %t, status %v: %s", protocol, failed, v["status"], text)
		}
		for _, part := range []string{`resume_execution {\"id\":\"` + id + `\"`, `"payments:refund"`} {
			if !strings.Contains(text, part) {
				t.Fatalf("%s: the text has no %s: %s", protocol, part, text)
			}
		}
		approve := func(seq int) map[string]any {
			return map[string]any{"id": id, "decisions": []any{map[string]any{"seq": seq, "decision": "approve"}}}
		}
		for _, tool := range []string{"list_paused", "resume_execution"} {
			arguments := map[string]any{}
			if tool == "resume_execution" {
				arguments = approve(1)
			}
			if v, _, failed := call(author, tool, arguments); !failed || v["code"] != "insufficient_scope" {
				t.Errorf("%s: %s without the scope: %v", protocol, tool, v)
			}
		}
		v, text, failed = call(boss, "list_paused", nil)
		if failed || len(v["items"].([]any)) != 1 || !strings.Contains(text, id) {
			t.Errorf("%s: %v", protocol, v)
		}
		v, text, failed = call(boss, "resume_execution", approve(1))
		members(t, v, map[string]any{"status": "paused", "segment": 2.0})
		if failed || !strings.Contains(text, "howToContinue") {
			t.Errorf("%s: %v", protocol, v)
		}
		if v, _, failed = call(boss, "resume_execution", approve(1)); !failed || v["code"] != "not_waiting" {
			t.Errorf("%s: decided twice: %v", protocol, v)
		}
		if v, _, failed = call(boss, "resume_execution", approve(2)); failed || v["status"] != "completed" {
			t.Errorf("%s: %v", protocol, v)
		}
		if v, _, failed = call(author, "get_execution", map[string]any{"id": id}); failed || v["status"] != "completed" {
			t.Errorf("%s: %v", protocol, v)
		}
		if v, _, _ = call(boss, "list_paused", nil); len(v["items"].([]any)) != 0 {
			t.Errorf("%s: %v", protocol, v)
		}
	}
}

// A user of an agent decides about what its code waits for, if the agent can ask and its user may decide.
func TestAgentsAsk(t *testing.T) {
	t.Parallel()
	form := func(action string, content map[string]any) *sdk.ElicitResult {
		return &sdk.ElicitResult{Action: action, Content: content}
	}
	approves := form("accept", map[string]any{"decision": "approve", "reason": "fine"})
	value := execution.Waiting{Seq: 1, Kind: execution.WaitApproval, Title: "How many?",
		Schema: json.RawMessage(`{"type":"integer"}`)}
	object := execution.Waiting{Seq: 1, Kind: execution.WaitApproval, Title: "Who?",
		Schema: json.RawMessage(`{"type":"object"}`)}
	sleep := execution.Waiting{Seq: 3, Kind: execution.WaitSleep, DueAt: time.Now().Add(time.Hour)}
	for _, c := range []struct {
		name, protocol, scope, policy string
		waits                         []execution.Waiting
		form                          *sdk.ElicitResult
		asked                         int
		status, got                   string
	}{
		{"approved", "", "execute approve", "", []execution.Waiting{refund(1), refund(2)}, approves, 2, "completed",
			"[map[call:true seq:1] map[call:true seq:2]]"},
		{"declined", "", "execute approve", "", []execution.Waiting{refund(1)}, form("decline", nil), 1, "completed",
			"[map[error:the request was rejected errorName:RejectedError seq:1]]"},
		{"rejected", "", "execute approve", "", []execution.Waiting{refund(1)},
			form("accept", map[string]any{"decision": "reject", "reason": "no"}), 1, "completed",
			"[map[error:the request was rejected: no errorName:RejectedError seq:1]]"},
		{"later", "", "execute approve", "", []execution.Waiting{refund(1)}, form("cancel", nil), 1, "paused", ""},
		{"a value", "", "execute approve", "", []execution.Waiting{value},
			form("accept", map[string]any{"decision": "respond", "value": 7.0}), 1, "completed", "[map[seq:1 value:7]]"},
		{"an object", "", "execute approve", "", []execution.Waiting{object},
			form("accept", map[string]any{"decision": "respond", "value": `{"name":"ann"}`}), 1, "completed",
			"[map[seq:1 value:map[name:ann]]]"},
		{"no scope", "", "execute", "", []execution.Waiting{refund(1)}, approves, 0, "paused", ""},
		{"four eyes", "", "execute approve", "four", []execution.Waiting{refund(1)}, approves, 0, "paused", ""},
		{"a sleep", "", "execute approve", "", []execution.Waiting{sleep}, approves, 0, "paused", ""},
		{"an old client", "2025-11-25", "execute approve", "", []execution.Waiting{refund(1)}, approves, 0, "paused", ""},
		{"a client that cannot ask", "", "execute approve", "", []execution.Waiting{refund(1)}, nil, 0, "paused", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, f := waiting(t, options{auth: tokens(t), policy: fourEyes(t)}, c.waits)
			var asked atomic.Int64
			o := &sdk.ClientOptions{}
			if c.form != nil {
				o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
					asked.Add(1)
					if !strings.Contains(r.Params.Message, "asks for approval") {
						t.Errorf("asked %q", r.Params.Message)
					}
					return form(c.form.Action, maps.Clone(c.form.Content)), nil // the client adds to the content
				}
			}
			session := s.agentWith(t, c.protocol, token(t, "ann", "acme", c.scope), o)
			arguments := map[string]any{"code": "1"}
			if c.policy != "" {
				arguments["policy"] = c.policy
			}
			r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "execute_code", Arguments: arguments})
			if err != nil {
				t.Fatal(err)
			}
			v := r.StructuredContent.(map[string]any)
			if r.IsError || v["status"] != c.status || int(asked.Load()) != c.asked {
				t.Errorf("asked %d times: %v", asked.Load(), v)
			}
			if got := fmt.Sprint(v["result"]); c.got != "" && got != c.got {
				t.Errorf("the segment got %s", got)
			}
			if n, want := f.segments(), map[string]int{"paused": 1, "completed": 2}[c.status]; want > 0 && n != want {
				t.Errorf("%d segments ran, want %d", n, want)
			}
		})
	}
}

// While a user is asked, somebody else decides: the call returns what the execution did.
func TestAgentsAskTooLate(t *testing.T) {
	t.Parallel()
	s, _ := waiting(t, options{}, []execution.Waiting{refund(1)})
	session := s.agentWith(t, "", "", &sdk.ClientOptions{
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			list := want(t, s.do(t, "GET", "/api/executions?status=paused", ""), 200).json(t)
			id := list["items"].([]any)[0].(map[string]any)["id"].(string)
			want(t, s.do(t, "POST", "/api/executions/"+id+"/resume", `{"decisions":[{"seq":1,"decision":"reject"}]}`), 200)
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve"}}, nil
		},
	})
	v, failed := use(t, session, "execute_code", map[string]any{"code": "1"})
	if failed || v["status"] != "completed" || !strings.Contains(fmt.Sprint(v["result"]), "rejected") {
		t.Errorf("got %v", v)
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

// The receiver of a job that waits is told of each pause, of each segment after one, and of the end. Each message is
// signed and has one ID, however often it is sent.
func TestCallbacksOfPauses(t *testing.T) {
	t.Parallel()
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	refused := map[string]bool{}
	got := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = signer.Verify(body, r.Header)
		}
		var message struct{ Type string }
		if err = cmp.Or(err, json.Unmarshal(body, &message)); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		id := r.Header.Get("webhook-id")
		mu.Lock()
		first := !refused[id]
		refused[id] = true
		mu.Unlock()
		if first {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		got <- message.Type + " " + id
	}))
	t.Cleanup(receiver.Close)
	o := options{}
	o.config.Callbacks.OpenedHosts = []string{"127.0.0.1"}
	s, f := waiting(t, o, []execution.Waiting{refund(1)}, []execution.Waiting{refund(2)})
	body := `{"code":"1","callback":{"url":"` + receiver.URL + `","secret":"` + secret + `"}}`
	id := want(t, s.do(t, "POST", "/api/execute", body, prefer), 202).json(t)["id"].(string)
	name := strings.TrimPrefix(id, "exec_")
	expect := func(want string) {
		t.Helper()
		if g := <-got; g != want {
			t.Errorf("the receiver got %s; want %s", g, want)
		}
	}
	for seq := 1; seq <= 2; seq++ {
		expect(fmt.Sprintf("execution.paused msg_%s.paused.%d", name, seq))
		f.mu.Lock() // the segment does not end before the receiver was called about it
		want(t, s.do(t, "POST", "/api/executions/"+id+"/resume",
			fmt.Sprintf(`{"decisions":[{"seq":%d,"decision":"approve"}]}`, seq), prefer), 202)
		expect(fmt.Sprintf("execution.resumed msg_%s.resumed.%d", name, seq+1))
		f.mu.Unlock()
	}
	expect("execution.completed msg_" + name)
}

// changeCounter is a state that counts the changes of jobs, and reads of them.
type changeCounter struct {
	gateway.State
	n, reads, looks atomic.Int64
	looked          chan struct{} // closed at the third look at the status of a job
}

func (c *changeCounter) JobState(ctx context.Context, id string) (execution.Job, error) {
	c.reads.Add(1)
	return c.State.JobState(ctx, id)
}

func (c *changeCounter) JobStatus(ctx context.Context, id string) (execution.Status, error) {
	if c.looks.Add(1) == 3 {
		close(c.looked)
	}
	return c.State.JobStatus(ctx, id)
}

func (c *changeCounter) ChangeJob(
	ctx context.Context, id string, fn func(*execution.Job) error,
) (execution.Job, error) {
	job, err := c.State.ChangeJob(ctx, id, fn)
	if err == nil {
		c.n.Add(1)
	}
	return job, err
}

func (c *changeCounter) ChangeJobState(
	ctx context.Context, id string, fn func(*execution.Job) error,
) (execution.Job, error) {
	job, err := c.State.ChangeJobState(ctx, id, fn)
	if err == nil {
		c.n.Add(1)
	}
	return job, err
}

// The value of an event is stored as often as the job changes, which may be a megabyte each time: with the event, with
// the segment that is queued, and with its end. It is not read while its caller waits for the end.
func TestEventIsStoredSeldom(t *testing.T) {
	t.Parallel()
	store := opened(t)
	count := &changeCounter{State: store, looked: make(chan struct{})}
	o := options{state: count, records: &ledger{added: make(chan audit.Record, 100)}}
	f := &sleeper{records: o.records, steps: [][]execution.Waiting{{{Seq: 1, Kind: execution.WaitEvent, Name: "e"}}}}
	o.config.SnapshotKeys = snapshotKeys(t)
	o.invoke = func(
		ctx context.Context, inv execution.Invocation, onLog func(execution.Log),
	) (execution.Reply, error) {
		if inv.Resume != nil {
			<-count.looked
		}
		return f.invoke(ctx, inv, onLog)
	}
	s := serve(t, o)
	path := "/api/executions/" + want(t, s.do(t, "POST", "/api/execute", code("1")), 202).json(t)["id"].(string)
	before, read, began := count.n.Load(), count.reads.Load(), time.Now()
	want(t, s.do(t, "POST", path+"/events/e", "1"), 200, `"status":"completed"`)
	if n := count.n.Load() - before; n > 3 && time.Since(began) < time.Second { // else it has been due for long
		t.Errorf("the job was stored %d times", n)
	}
	if n := count.reads.Load() - read; n > 2 {
		t.Errorf("the job was read %d times", n)
	}
}

// A long answer that comes while a segment runs that does not wait for it reaches the segment after that, and so do
// short and long answers that come together. Once they are received, nothing of them is stored.
func TestLongAnswersArrive(t *testing.T) {
	t.Parallel()
	event := func(seq int) execution.Waiting {
		return execution.Waiting{Seq: seq, Kind: execution.WaitEvent, Name: fmt.Sprint("e", seq)}
	}
	long := func(mark string) string { return `["` + mark + strings.Repeat("<é", 100_000) + `", 1]` }
	began, proceed := make(chan struct{}), make(chan struct{})
	o := options{records: &ledger{added: make(chan audit.Record, 100)}}
	f := &sleeper{records: o.records, steps: [][]execution.Waiting{{event(1), event(2)}, {event(2), event(3)}, {event(3)}}}
	o.config.SnapshotKeys = snapshotKeys(t)
	o.invoke = func(
		ctx context.Context, inv execution.Invocation, onLog func(execution.Log),
	) (execution.Reply, error) {
		if inv.Resume != nil && inv.Resume.Segment == 2 {
			began <- struct{}{}
			<-proceed
		}
		return f.invoke(ctx, inv, onLog)
	}
	s := kept(t, o)
	path := "/api/executions/" + want(t, s.do(t, "POST", "/api/execute", code("1")), 202).json(t)["id"].(string)
	want(t, s.do(t, "POST", path+"/events/e1", long("a"), prefer), 202)
	<-began
	want(t, s.do(t, "POST", path+"/events/e2", long("b"), prefer), 202)
	close(proceed)
	for f.segments() < 3 {
		want(t, s.do(t, "GET", path, ""), 200)
	}
	got := want(t, s.do(t, "POST", path+"/events/e3", long("c")), 200, `"status":"completed"`).json(t)["result"].([]any)
	for i, mark := range []string{"a", "b", "c"} {
		var value any
		if err := json.Unmarshal([]byte(long(mark)), &value); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(got[i].(map[string]any)["value"], value); diff != "" {
			t.Errorf("answer %d is another: %.200s", i+1, diff)
		}
	}
	job, err := s.state.Job(t.Context(), strings.TrimPrefix(path, "/api/executions/"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := json.Marshal(job); err != nil || len(text)+len(job.Snapshot) > 10_000 {
		t.Errorf("%d bytes and a snapshot of %d are stored: %v", len(text), len(job.Snapshot), err)
	}
	// The records have the hashes of what the segments got.
	hashes := map[string]bool{}
	for _, r := range o.records.records {
		if r.Decision != nil {
			hashes[r.Decision.ValueSHA256] = true
		}
	}
	for _, mark := range []string{"a", "b", "c"} {
		sum := sha256.Sum256([]byte(strings.Replace(long(mark), ", 1", ",1", 1)))
		if !hashes[hex.EncodeToString(sum[:])] {
			t.Errorf("no record has the hash of the value %s", mark)
		}
	}
}
