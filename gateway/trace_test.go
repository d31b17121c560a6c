package gateway_test

import (
	"context"
	"net/http"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
)

// tracing adds a trace context to every request.
type tracing struct {
	next   http.RoundTripper
	parent string
}

func (tr tracing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Traceparent", tr.parent)
	return tr.next.RoundTrip(r)
}

// A valid trace context is passed to the function and named in the response. An invalid one counts as none.
func TestTraceContext(t *testing.T) {
	t.Parallel()
	const valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	got := make(chan string, 1)
	s := kept(t, options{invoke: func(
		ctx context.Context, inv execution.Invocation, onLog func(execution.Log),
	) (execution.Reply, error) {
		got <- inv.TraceParent
		return echo(ctx, inv, onLog)
	}})
	for _, c := range []struct{ given, want string }{
		{"", ""},
		{valid, valid},
		{"01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes-later", valid},
		{"00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", ""},
		{"00-00000000000000000000000000000000-b7ad6b7169203331-01", ""},
		{"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", ""},
		{"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", ""},
		{valid + "-more", ""},
		{"nonsense", ""},
	} {
		a := s.do(t, "POST", "/api/execute", code("1"), "Cache-Control: no-store", "Traceparent: "+c.given)
		if a.StatusCode != 200 || <-got != c.want || a.Header.Get("Traceparent") != c.want {
			t.Errorf("%q: %d, answered with %q, want %q", c.given, a.StatusCode, a.Header.Get("Traceparent"), c.want)
		}
	}
	a := s.do(
		t, "POST", "/api/execute", code("1"), "Cache-Control: no-store", "Traceparent: "+valid, "Traceparent: "+valid,
	)
	if a.StatusCode != 200 || <-got != "" {
		t.Error("two trace contexts are taken for one")
	}
	a = s.do(t, "POST", "/api/execute", "{", "Traceparent: "+valid)
	a.problem(t, 400)
	if a.Header.Get("Traceparent") != valid {
		t.Error("a problem does not say which trace it is of")
	}
	// Jobs and webhooks keep the trace context.
	want(t, s.do(t, "POST", "/api/execute", code("3"), prefer, "Traceparent: "+valid), 202)
	if at := <-got; at != valid {
		t.Errorf("a job is traced as %q", at)
	}
	for n, async := range []string{"false", "true"} {
		want(t, s.do(t, "PUT", "/api/functions/f", `{"code":"4","hook":{"scheme":"none","async":`+async+`}}`), 201-n)
		if a := s.do(t, "POST", "/hooks/f", "{}", "Traceparent: "+valid); a.StatusCode >= 300 || <-got != valid {
			t.Errorf("a webhook loses its trace: %d %s", a.StatusCode, a.body)
		}
	}
	s.client.Transport = tracing{s.client.Transport, valid}
	session := s.agent(t, "", "", nil)
	if _, err := session.CallTool(
		t.Context(), &sdk.CallToolParams{Name: "execute_code", Arguments: map[string]any{"code": "2"}},
	); err != nil || <-got != valid {
		t.Errorf("a tool call loses its trace: %v", err)
	}
}
