package runner

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// calls gives what one execution has of the attached tools.
func (r *Runner) calls() Calls {
	if r.cfg.Attached == nil {
		return none{}
	}
	return r.cfg.Attached.Begin()
}

// none attaches nothing.
type none struct{}

// Tool implements Calls.
func (none) Tool(string) (func(http.RoundTripper) func(context.Context, json.RawMessage) (json.RawMessage, error), time.Duration, bool) {
	return nil, 0, false
}

// Close implements Calls.
func (none) Close() {}
