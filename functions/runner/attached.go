package runner

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// Over makes a call over a network.
type Over = func(network http.RoundTripper) func(ctx context.Context, params json.RawMessage) (json.RawMessage, error)

// calls gives what one execution has of the attached tools.
func (r *Runner) calls() Calls {
	if r.cfg.Attached == nil {
		return none{}
	}
	return r.cfg.Attached.Begin()
}

// callsOf returns the attached tools of an execution, as they were granted.
func (r *Runner) callsOf(inv execution.Invocation) Calls {
	if len(inv.Servers) == 0 {
		return r.calls()
	}
	return granted{r.calls(), inv.Servers}
}

// granted refuses to call a tool of another server than the one that listed it when it was granted. The list of servers
// may have been replaced while the execution waited.
type granted struct {
	Calls
	servers map[string]string // by namespace
}

// Tool implements Calls.
func (g granted) Tool(name string) (over Over, timeout time.Duration, ok bool) {
	over, timeout, ok = g.Calls.Tool(name)
	namespace, _ := execution.ToolGlobal(name)
	if was := g.servers[namespace]; ok && was != "" && was != g.Server(name) {
		over = func(http.RoundTripper) func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return func(context.Context, json.RawMessage) (json.RawMessage, error) {
				return nil, errors.New("the server of " + namespace + " was replaced after the tool was granted; run the code again")
			}
		}
	}
	return over, timeout, ok
}

// none attaches nothing.
type none struct{}

// Tool implements Calls.
func (none) Tool(string) (func(http.RoundTripper) func(context.Context, json.RawMessage) (json.RawMessage, error), time.Duration, bool) {
	return nil, 0, false
}

// Server implements Calls.
func (none) Server(string) string { return "" }

// Close implements Calls.
func (none) Close() {}
