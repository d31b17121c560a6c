package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
)

// begin begins a session of an agent. When it returns, the request has ended and holds no place.
func (s *served) begin(t *testing.T, credential string) (status int, session string) {
	a := s.do(t, "POST", "/mcp", hello, credential, "Accept: application/json, text/event-stream")
	return a.StatusCode, a.Header.Get("Mcp-Session-Id")
}

// open sends a request and leaves its response open until the test ends.
func (s *served) open(t *testing.T, method, path, body string, headers ...string) (status int, header http.Header) {
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := s.client.Do(r)
	if err != nil {
		cancel()
		t.Error(err)
		return 0, nil
	}
	t.Cleanup(func() { cancel(); _ = res.Body.Close() })
	return res.StatusCode, res.Header
}

// hang is a function that runs until it is stopped.
func hang(ctx context.Context, _ execution.Invocation, _ func(execution.Log)) (execution.Reply, error) {
	<-ctx.Done()
	return execution.Reply{}, ctx.Err()
}

// One token asks for more of each resource than exists. It gets at most nine tenths and a clear response, and does not
// lock out another token of its tenant, another tenant, or the operator.
func TestFloods(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		resource string
		code     string
		// ask requests one more.
		ask func(s *served, credential string, n int) (status int, header http.Header)
		ok  int
	}{
		{bounds.Live, "too_many", func(s *served, credential string, _ int) (int, http.Header) {
			return s.open(t, "GET", "/api/live?view=dashboard", "", credential)
		}, 200},
		{bounds.Streams, "too_many", func(s *served, credential string, _ int) (int, http.Header) {
			return s.open(t, "POST", "/api/execute/stream", `{"code":"1"}`, credential)
		}, 200},
		{bounds.MCPSessions, "too_many", func(s *served, credential string, _ int) (int, http.Header) {
			status, _ := s.begin(t, credential)
			return status, nil
		}, 200},
		{bounds.MCPStreams, "too_many", func(s *served, credential string, n int) (int, http.Header) {
			status, session := s.begin(t, credential)
			if status != 200 {
				return status, nil
			}
			return s.open(t, "GET", "/mcp", "", credential, "Accept: application/json, text/event-stream",
				"Mcp-Session-Id: "+session)
		}, 200},
		{bounds.Jobs, "queue_full", func(s *served, credential string, _ int) (int, http.Header) {
			return s.open(t, "POST", "/api/execute", `{"code":"1"}`, credential, "Prefer: respond-async")
		}, 202},
	} {
		t.Run(c.resource, func(t *testing.T) {
			t.Parallel()
			store, err := sqlitestate.Open(t.TempDir(), sqlitestate.Config{MaxJobsPerTenant: 200})
			if err != nil {
				t.Fatal(err)
			}
			s := serve(t, options{
				auth: authn.Config{APIKey: apiKey, Keys: hs256(t)}, state: unworked{store}, invoke: hang,
				config: gateway.Config{Places: 1, QueueDepth: 10_000},
			})
			t.Cleanup(func() { // after the server
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			})
			most := bounds.Of(c.resource).Most
			if c.resource == bounds.Jobs {
				most = 200
			}
			flood := bearer(token(t, "greedy", "a", authn.Execute+" "+authn.AuditRead))
			var got sync.Map
			var all sync.WaitGroup
			for n := range most + 20 {
				all.Go(func() {
					status, _ := c.ask(s, flood, n)
					got.Store(n, status)
				})
				if n%100 == 99 { // fewer than there are places for the requests that begin sessions
					all.Wait()
				}
			}
			all.Wait()
			counts := map[int]int{}
			got.Range(func(_, status any) bool { counts[status.(int)]++; return true })
			if n := counts[c.ok]; n < most*8/10 || n > most*92/100 {
				t.Errorf("%d of a flood of %d were accepted, want 80 to 92 in 100 of %d", n, most+20, most)
			}
			if counts[503] == 0 || counts[c.ok]+counts[503] != most+20 {
				t.Errorf("the flood of %d was answered %v", most+20, counts)
			}
			for name, credential := range map[string]string{
				"another tenant":                 bearer(token(t, "modest", "b", authn.Execute+" "+authn.AuditRead)),
				"another token of the tenant":    bearer(token(t, "modest", "a", authn.Execute+" "+authn.AuditRead)),
				"the operator":                   bearer(apiKey),
				"one more of the other tenant's": bearer(token(t, "second", "b", authn.Execute+" "+authn.AuditRead)),
			} {
				for range 2 { // the second time while the first place is held
					if status, _ := c.ask(s, credential, -1); status != c.ok {
						t.Errorf("%s: %d", name, status)
					}
				}
			}
			metrics := string(s.do(t, "GET", "/metrics", "", bearer(apiKey)).body)
			if want := fmt.Sprintf(`airlock_bound_most{resource=%q}`, c.resource); c.resource != bounds.Jobs &&
				!strings.Contains(metrics, want) {
				t.Errorf("%s is not among the metrics", want)
			}
		})
	}
}
