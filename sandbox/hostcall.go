package sandbox

import (
	"context"
	"encoding/json"
)

// HostCall is a Go function that a guest may call as an async function. params is the JSON of the call's one argument
// (null when it has none). It runs on a goroutine of its own, concurrently with the guest and with other calls; ctx ends
// with the run. The returned JSON resolves the guest's promise; an error rejects it with the error's text, so the text
// must be fit for guests.
type HostCall func(ctx context.Context, params json.RawMessage) (json.RawMessage, error)

// Grants is the whole list of what one run may do. The zero value grants computation under the default Limits.
type Grants struct {
	Limits Limits
	// Eval allows eval, Function and their kin.
	Eval bool
	// HostCalls are functions that the guest may call, each by its name "namespace.method" (or "namespace:method") as
	// the global namespace.method(params). Each call counts against Limits.APICalls.
	HostCalls map[string]HostCall
	// OnLog is called for each console call as it happens, on the guest's goroutine: a slow OnLog slows its own guest.
	OnLog func(Log)
}

// hostCalls are the asynchronous operations of a run with these grants.
func hostCalls(g Grants) map[string]asyncOp {
	if len(g.HostCalls) == 0 {
		return nil
	}
	ops := make(map[string]asyncOp, len(g.HostCalls))
	for name, call := range g.HostCalls {
		ops["tool:"+name] = func(ctx context.Context, payload string) (answer, error) {
			out, err := call(ctx, json.RawMessage(payload))
			return answer{JSON: out}, err
		}
	}
	return ops
}
