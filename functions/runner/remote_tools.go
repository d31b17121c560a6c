package runner

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/sandbox"
)

// CallVia returns a func that calls a tool over a network.
type CallVia = func(network http.RoundTripper) func(ctx context.Context, params json.RawMessage) (json.RawMessage,
	error)

// noCaller is why a function that has no CallTool refuses tools of the caller.
const noCaller = "cannot be caller here: this function has no way back to its caller while it runs; give the tool a url"

// callerTool returns the func that calls a tool of the caller.
func (r *Runner) callerTool(name string) sandbox.ToolFunc {
	return func(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
		if r.cfg.CallTool == nil {
			return nil, errors.New("there is no caller") // a replay, which takes the answers from the record
		}
		return r.cfg.CallTool(ctx, name, params)
	}
}

// calls returns the calls of one execution.
func (r *Runner) calls() ToolCalls {
	if r.cfg.RemoteTools == nil {
		return noTools{}
	}
	return r.cfg.RemoteTools.Begin()
}

// callsOf returns the calls of an invocation, limited to the servers that were granted.
func (r *Runner) callsOf(inv execution.Invocation) ToolCalls {
	if len(inv.Servers) == 0 {
		return r.calls()
	}
	return grantedCalls{r.calls(), inv.Servers}
}

// grantedCalls refuses to call a tool on a server other than the one that listed it when it was granted. The list of
// servers may have changed while the execution waited.
type grantedCalls struct {
	ToolCalls
	servers map[string]string // by namespace
}

// Tool implements ToolCalls.
func (g grantedCalls) Tool(name string) (call CallVia, timeout time.Duration, ok bool) {
	call, timeout, ok = g.ToolCalls.Tool(name)
	namespace, _ := execution.ToolGlobal(name)
	if was := g.servers[namespace]; ok && was != "" && was != g.Server(name) {
		call = func(http.RoundTripper) func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return func(context.Context, json.RawMessage) (json.RawMessage, error) {
				return nil, errors.New("the server of " + namespace +
					" was replaced after the tool was granted; run the code again")
			}
		}
	}
	return call, timeout, ok
}

// noTools has no tools.
type noTools struct{}

// Tool implements ToolCalls.
func (noTools) Tool(string) (CallVia, time.Duration, bool) {
	return nil, 0, false
}

// Server implements ToolCalls.
func (noTools) Server(string) string { return "" }

// Close implements ToolCalls.
func (noTools) Close() {}

// replayedCalls stands for the servers of a recorded execution, which may no longer be attached. A replay takes their
// answers from the record.
type replayedCalls struct{ noTools }

// Tool implements ToolCalls.
func (replayedCalls) Tool(string) (CallVia, time.Duration, bool) {
	return func(http.RoundTripper) func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return nil, errors.New("a replay does not call servers")
		}
	}, 0, true
}
