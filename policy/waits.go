package policy

import (
	"encoding/json"
	"time"
)

// Waits says how an execution may wait for approvals, events and time. The zero value grants no waiting.
type Waits struct {
	// MaxPending is how many operations may be awaited at once.
	MaxPending int
	// MaxAge is how long an execution may exist after its first pause. Then it expires.
	MaxAge time.Duration
	// MaxImageBytes bounds the state of a paused execution before it is compressed.
	MaxImageBytes int64
	// ApproverIsNotRequester refuses approvals by the caller who started the execution.
	ApproverIsNotRequester bool
}

// MarshalJSON writes the waits in camelCase, durations in milliseconds.
func (w Waits) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		MaxPending             int   `json:"maxPending"`
		MaxAgeMs               int64 `json:"maxAgeMs"`
		MaxImageBytes          int64 `json:"maxImageBytes"`
		ApproverIsNotRequester bool  `json:"approverIsNotRequester"`
	}{w.MaxPending, w.MaxAge.Milliseconds(), w.MaxImageBytes, w.ApproverIsNotRequester})
}

// orNil returns nil for waits that grant nothing.
func (w Waits) orNil() *Waits {
	if w.MaxPending <= 0 {
		return nil
	}
	return &w
}

// grantWaits grants what the tier says to an execution that can be kept while it waits, on an engine that can pause.
func grantWaits(e *evaluation) error {
	if e.tier != nil && e.request.Waits && (e.grants.Engine == "" || e.grants.Engine == QuickJS) {
		e.grants.Waits = e.tier.Waits
	}
	return nil
}
