package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy/audit"
)

// Of many decisions at once exactly one counts, and one has a record; the same for an event that is awaited once.
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

// A list of executions that wait with much ends its pages early, and shows each of them once.
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
		for _, door := range []string{path + "/resume", path + "/events/e", "/api/sessions", session + "/fork",
			session + "/execute"} {
			s.bounded(t, "POST", door, body)
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
