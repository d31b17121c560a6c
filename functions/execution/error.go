package execution

import "time"

// Code says what kind of platform failure happened. Codes are append-only.
type Code string

// The platform failures.
const (
	// InvalidRequest: the request itself is at fault; Field names where.
	InvalidRequest Code = "invalid_request"
	// Unavailable: no function could take the execution, or it was lost before an answer. It may be tried again.
	Unavailable Code = "unavailable"
	// Throttled: too many at once; RetryAfter says when to come back.
	Throttled Code = "throttled"
	// TooLarge: a payload above what the way to the function can carry.
	TooLarge Code = "too_large"
	// Unrecorded: the execution ended and its audit record could not be written; its result is withheld.
	Unrecorded Code = "unrecorded"
	// SourcesNeeded: the function does not have the sources that the invocation only names (Invocation.Content). Nothing ran.
	SourcesNeeded Code = "sources_needed"
	// Internal: anything else of ours.
	Internal Code = "internal"
)

// Error is a failure of the platform or of the request, never of the guest. Message is safe to show to the caller; the
// wrapped error is not.
type Error struct {
	Code       Code          `json:"code"`
	Field      string        `json:"field,omitempty"`
	Message    string        `json:"message"`
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	Err        error         `json:"-"`
}

// Error gives the message, with the field in front when there is one.
func (e *Error) Error() string {
	s := e.Message
	if e.Field != "" {
		s = e.Field + ": " + s
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }
