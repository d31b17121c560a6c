package gateway_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/waits"
	"github.com/airlock-run/airlock/policy/audit"
)

// Of many concurrent decisions exactly one counts and has a record. The same holds for an event that is awaited once.
func TestDecisionsAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path, body string
		waiting          execution.Waiting
	}{
		{"approvals", "/resume", `{"decisions":[{"seq":1,"decision":"approve"}]}`, refund(1)},
		{"events", "/events/e", `{}`, execution.Waiting{Seq: 1, Kind: execution.WaitEvent, Name: "e"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, f := waiting(t, options{auth: tokens(t)}, []execution.Waiting{c.waiting})
			started := bearer(token(t, "ann", "acme", "execute"))
			a := want(t, s.do(t, "POST", "/api/execute", code("1"), started), 202)
			path := "/api/executions/" + a.json(t)["id"].(string) + c.path
			var all sync.WaitGroup
			var counted, refused atomic.Int64
			for n := range 20 {
				by := bearer(token(t, fmt.Sprint("approver", n), "acme", "approve"))
				if c.name == "events" {
					by = started
				}
				all.Go(func() {
					switch got := s.do(t, "POST", path, c.body, by, prefer); got.StatusCode {
					case http.StatusOK, http.StatusAccepted:
						counted.Add(1)
					case http.StatusConflict:
						refused.Add(1)
					default:
						t.Errorf("%d %s", got.StatusCode, got.body)
					}
				})
			}
			all.Wait()
			if counted.Load() != 1 || refused.Load() != 19 {
				t.Errorf("%d counted and %d were refused, want 1 and 19", counted.Load(), refused.Load())
			}
			for f.segments() < 2 {
				<-s.records.added
			}
			decisions := 0
			s.records.mu.Lock()
			defer s.records.mu.Unlock()
			for _, r := range s.records.records {
				if r.Status == audit.DecidedStatus {
					decisions++
				}
			}
			if decisions != 1 || f.segments() != 2 {
				t.Errorf("%d decisions have records and %d segments ran, want 1 and 2", decisions, f.segments())
			}
		})
	}
}

// Pages of a list end early if its executions wait with large values, and each execution is listed once.
func TestLargePausedPages(t *testing.T) {
	t.Parallel()
	large := refund(1)
	large.Args = json.RawMessage(`{"x":"` + strings.Repeat("x", 400<<10) + `"}`)
	s, _ := waiting(t, options{}, []execution.Waiting{large})
	const executions = 9
	ids := map[string]int{}
	for range executions {
		ids[want(t, s.do(t, "POST", "/api/execute", code("1")), 202).json(t)["id"].(string)] = 0
	}
	cursor, pages := "", 0
	for {
		a := want(t, s.do(t, "GET", "/api/executions?status=paused&limit=50&cursor="+cursor, ""), 200)
		if pages++; len(a.body) > 3<<20 || pages > executions {
			t.Fatalf("page %d has %d bytes", pages, len(a.body))
		}
		var page struct {
			Items []struct{ ID string }
			Next  *string
		}
		if err := json.Unmarshal(a.body, &page); err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			ids[item.ID]++
		}
		if page.Next == nil {
			break
		}
		cursor = *page.Next
	}
	for id, n := range ids {
		if n != 1 {
			t.Errorf("%s is listed %d times", id, n)
		}
	}
	if pages < 2 {
		t.Errorf("%d page", pages)
	}
}

// Sessions, decisions and events cost the gateway's own process no more than a request with code.
func TestOwnCostsOfWaitsAndSessions(t *testing.T) {
	s, _ := waiting(t, options{reader: newFarReader(t)}, []execution.Waiting{refund(1)}, []execution.Waiting{refund(1)})
	path := "/api/executions/" + want(t, s.do(t, "POST", "/api/execute", code("1")), 202).json(t)["id"].(string)
	session := "/api/sessions/" + want(t, s.do(t, "POST", "/api/sessions", `{}`), 201).json(t)["id"].(string)
	const full = 1<<20 - 400
	bodies := costlyRequests()
	for name, entry := range map[string]string{
		"decisions": `{"seq":1,"decision":"maybe"}`, "small decisions": `{}`, "lists": `[]`, "numbers": `1`,
	} {
		bodies[name] = `{"decisions":[` + entry + strings.Repeat(","+entry, full/(len(entry)+1)-20) + `]}`
	}
	bodies["values"] = `{"decisions":[{"seq":1,"decision":"respond","value":[0` + strings.Repeat(",0", full/2-100) + `]}]}`
	bodies["reasons"] = `{"decisions":[{"seq":9,"decision":"reject","reason":"` +
		strings.Repeat(`\u0001`, full/6-30) + `"}]}`
	for _, body := range bodies {
		for _, endpoint := range []string{path + "/resume", path + "/events/e", "/api/sessions", session + "/fork",
			session + "/execute"} {
			s.bounded(t, "POST", endpoint, body)
		}
	}
}

// The check of a response by the schema of the code that waits costs the gateway's own process no more than a request,
// whatever the schema is.
func TestOwnCostsOfSchemas(t *testing.T) {
	repeat := strings.Repeat
	for name, c := range map[string]struct{ schema, value string }{
		"exponents":        {`{"items":{"type":"integer"}}`, "[0" + repeat(",1e999999", 100_000) + "]"},
		"few exponents":    {`{"items":{"type":"integer"}}`, "[0" + repeat(",1e999999", 100) + "]"},
		"digits":           {`{"type":"integer"}`, repeat("1", 1<<20-1000)},
		"elements":         {`{"items":{"minimum":0,"multipleOf":3}}`, "[0" + repeat(",0", 1<<19-1000) + "]"},
		"patterns":         {`{"allOf":[{}` + repeat(`,{"pattern":"a{900}"}`, 3000) + `]}`, "1"},
		"few patterns":     {`{"allOf":[{}` + repeat(`,{"pattern":"a{900}"}`, 350) + `]}`, "1"},
		"branches":         {`{"allOf":[{}` + repeat(`,{}`, 20_000) + `]}`, "1"},
		"few branches":     {`{"allOf":[{}` + repeat(`,{}`, 2500) + `]}`, "1"},
		"numbers of enums": {`{"enum":[0` + repeat(`,1e999999`, 7000) + `]}`, "1"},
	} {
		s, _ := waiting(t, options{}, []execution.Waiting{{
			Seq: 1, Kind: execution.WaitApproval, Title: "How many?", Schema: json.RawMessage(c.schema),
		}})
		path := want(t, s.do(t, "POST", "/api/execute", code("1")), 202).Header.Get("Location")
		body := `{"decisions":[{"seq":1,"decision":"respond","value":` + c.value +
			`},{"seq":9,"decision":"respond","value":1}]}`
		t.Run(name, func(t *testing.T) { s.bounded(t, "POST", path+"/resume", body) })
	}
}

// A paused execution whose row was altered does not run again: it ends with an error that says why.
func TestAlteredPausedExecution(t *testing.T) {
	t.Parallel()
	s, f := waiting(t, options{auth: tokens(t)}, []execution.Waiting{refund(1)}, []execution.Waiting{refund(2)})
	approve := bearer(token(t, "boss", "acme", "approve"))
	decide := func(seq int) string { return fmt.Sprintf(`{"decisions":[{"seq":%d,"decision":"approve"}]}`, seq) }
	// paused returns an execution that has paused twice, and how it was stored after the first time.
	paused := func(t *testing.T, subject, tenant string) (id string, first execution.Job) {
		started := bearer(token(t, subject, tenant, "execute approve"))
		id = want(t, s.do(t, "POST", "/api/execute", code("1"), started), 202).json(t)["id"].(string)
		first, err := s.state.Job(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		want(t, s.do(t, "POST", "/api/executions/"+id+"/resume", decide(1), started), 202, `"segment":2`)
		return id, first
	}
	stored := func(t *testing.T, subject, tenant string) []byte {
		id, _ := paused(t, subject, tenant)
		job, err := s.state.Job(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return job.Snapshot
	}
	other, colleagues, strangers := stored(t, "ann", "acme"), stored(t, "bob", "acme"), stored(t, "ann", "other")
	last := func(j *execution.Job) int { return len(j.Snapshot) - 1 }
	for name, alter := range map[string]func(j *execution.Job, first execution.Job){
		"a changed byte":                func(j *execution.Job, _ execution.Job) { j.Snapshot[last(j)] ^= 1 },
		"cut at its end":                func(j *execution.Job, _ execution.Job) { j.Snapshot = j.Snapshot[:last(j)] },
		"its beginning alone":           func(j *execution.Job, _ execution.Job) { j.Snapshot = j.Snapshot[:20] },
		"none":                          func(j *execution.Job, _ execution.Job) { j.Snapshot = nil },
		"that of an earlier segment":    func(j *execution.Job, first execution.Job) { j.Snapshot = first.Snapshot },
		"that of another execution":     func(j *execution.Job, _ execution.Job) { j.Snapshot = other },
		"that of a colleague":           func(j *execution.Job, _ execution.Job) { j.Snapshot = colleagues },
		"that of another tenant":        func(j *execution.Job, _ execution.Job) { j.Snapshot = strangers },
		"another engine":                func(j *execution.Job, _ execution.Job) { j.Wait.EngineBuild = "c" },
		"a different tier":              func(j *execution.Job, _ execution.Job) { j.Wait.Tier = "agent" },
		"a different number of segment": func(j *execution.Job, _ execution.Job) { j.Wait.Segment = 7 },
	} {
		t.Run(name, func(t *testing.T) {
			id, first := paused(t, "ann", "acme")
			s.alter(t, id, func(j *execution.Job) {
				j.Wait = j.Wait.Clone()
				alter(j, first)
			})
			ran := f.segments()
			want(t, s.do(t, "POST", "/api/executions/"+id+"/resume", decide(2), approve), 200, `"status":"error"`,
				waits.ErrSealed.Error())
			if n := f.segments() - ran; n != 0 {
				t.Errorf("%d segments ran", n)
			}
		})
	}
}

// Decisions that come too late, twice, or from a caller without permission are refused with a named error, over HTTP
// and MCP, and change nothing.
func TestRefusedDecisions(t *testing.T) {
	t.Parallel()
	s, f := waiting(t, options{auth: tokens(t), policy: fourEyes(t)},
		[]execution.Waiting{refund(1), {Seq: 2, Kind: execution.WaitEvent, Name: "e"}})
	ann, boss := bearer(token(t, "ann", "acme", "execute approve")), bearer(token(t, "boss", "acme", "approve"))
	resume := func(t *testing.T, id, seq, by string) {
		want(t, s.do(t, "POST", "/api/executions/"+id+"/resume", `{"decisions":[{"seq":`+seq+`,"decision":"approve"}]}`, by),
			200, `"status":"completed"`)
	}
	elapse := func(due time.Duration) func(t *testing.T, id string) {
		return func(t *testing.T, id string) {
			s.alter(t, id, func(j *execution.Job) {
				j.Wait = j.Wait.Clone()
				j.Wait.ExpiresAt, j.Wait.DueAt = time.Now().Add(-time.Second), time.Now().Add(due)
				for i := range j.Wait.Pending {
					j.Wait.Pending[i].ExpiresAt = j.Wait.ExpiresAt
				}
			})
		}
	}
	for _, c := range []struct {
		name   string
		before func(t *testing.T, id string)
		who    string // the caller who decides and sends the event, of the tenant acme unless another is named
		status int
		code   string
	}{
		{"after its end", func(t *testing.T, id string) { resume(t, id, "1", boss) }, "boss", 409, "not_waiting"},
		{"once it is too old", elapse(time.Hour), "boss", 409, "not_waiting"},
		{"after it expired", func(t *testing.T, id string) {
			elapse(-time.Second)(t, id)
			look := time.NewTicker(20 * time.Millisecond)
			defer look.Stop()
			for got := ""; got != "expired"; <-look.C {
				got = fmt.Sprint(want(t, s.do(t, "GET", "/api/executions/"+id, "", ann), 200).json(t)["status"])
			}
		}, "boss", 409, "not_waiting"},
		{"after it was cancelled", func(t *testing.T, id string) {
			want(t, s.do(t, "DELETE", "/api/executions/"+id, "", ann), 200, "cancelled")
		}, "boss", 409, "not_waiting"},
		{"by the requester, where another must", nil, "ann", 403, "approver_is_requester"},
		{"of another tenant", nil, "boss@other", 404, "not_found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := want(t, s.do(t, "POST", "/api/execute", `{"code":"1","policy":"four"}`, ann), 202)
			id := a.json(t)["id"].(string)
			if c.before != nil {
				c.before(t, id)
			}
			ran := f.segments()
			subject, tenant, _ := strings.Cut(c.who, "@")
			by := token(t, subject, cmp.Or(tenant, "acme"), "execute approve")
			for _, decision := range []string{"approve", "reject"} {
				body := `{"decisions":[{"seq":1,"decision":"` + decision + `"}]}`
				want(t, s.do(t, "POST", "/api/executions/"+id+"/resume", body, bearer(by)), c.status, `"code":"`+c.code+`"`)
			}
			if c.status != 403 { // every permitted caller may send events
				want(t, s.do(t, "POST", "/api/executions/"+id+"/events/e", "1", bearer(by)), c.status, `"code":"`+c.code+`"`)
			}
			agent := s.agent(t, protocols[0], by, nil)
			r, err := agent.CallTool(t.Context(), &sdk.CallToolParams{Name: "resume_execution", Arguments: map[string]any{
				"id": id, "decisions": []any{map[string]any{"seq": 1, "decision": "approve"}}}})
			if err != nil {
				t.Fatal(err)
			}
			if v := content(t, r); !r.IsError || v["code"] != c.code {
				t.Errorf("over MCP: %v", v)
			}
			if n := f.segments() - ran; n != 0 {
				t.Errorf("%d segments ran", n)
			}
		})
	}
}
