package runner_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/runner"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/sandbox"
)

// attached is one server, of the namespace weather.
type attached struct {
	server string
	called int
}

func (a *attached) Begin() runner.ToolCalls { return a }
func (a *attached) Close()                  {}
func (a *attached) Server(tool string) string {
	if strings.HasPrefix(tool, "weather:") {
		return a.server
	}
	return ""
}

func (a *attached) Tool(name string) (runner.CallVia, time.Duration, bool) {
	return func(http.RoundTripper) func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return func(context.Context, json.RawMessage) (json.RawMessage, error) {
			a.called++
			return json.RawMessage("1"), nil
		}
	}, time.Second, a.Server(name) != ""
}

// caller is a sandbox that calls the first tool it is granted.
type caller struct{ err error }

func (c *caller) Run(ctx context.Context, _ sandbox.Script, g sandbox.Grants) (sandbox.Result, error) {
	_, c.err = g.Tools[0].CallVia(nil)(ctx, json.RawMessage("{}"))
	return sandbox.Result{Value: []byte("1")}, nil
}

func (c *caller) Append(context.Context, audit.Record) error { return nil }

// TestServerReplaced: a tool is called on the server that listed it when the tool was granted, or not at all.
func TestServerReplaced(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		granted map[string]string
		ok      bool
	}{
		"the same server":             {map[string]string{"weather": "one"}, true},
		"another server":              {map[string]string{"weather": "two"}, false},
		"a grant of another name":     {map[string]string{"news": "two"}, true},
		"a grant that does not say":   {nil, true},
		"several, one of them is new": {map[string]string{"news": "one", "weather": "old"}, false},
	} {
		servers, did := &attached{server: "one"}, &caller{}
		r, err := runner.New(runner.Config{Sandbox: did, Policy: policy.Default(), Records: did, RemoteTools: servers})
		if err != nil {
			t.Fatal(err)
		}
		sent, err := json.Marshal(execution.Invocation{
			Airlock: execution.InvocationVersion, ID: "exec_0123456789", Via: execution.ViaHTTP, Servers: c.granted,
			Request: execution.Request{Code: "await weather.get()", Policy: "agent",
				Tools: []execution.Tool{{Name: "weather:get"}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		inv, err := execution.DecodeInvocation(sent)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := r.Run(t.Context(), inv, nil); err != nil {
			t.Fatal(name, err)
		}
		if refused := did.err != nil && strings.Contains(did.err.Error(), "was replaced"); refused == c.ok ||
			servers.called == 0 == c.ok {
			t.Errorf("%s: %v, called %d times", name, did.err, servers.called)
		}
	}
}
