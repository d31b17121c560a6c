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
	// OnLog is called for each console call as it happens, on the guest's goroutine: a slow OnLog slows its own guest.
	OnLog func(Log)
}
