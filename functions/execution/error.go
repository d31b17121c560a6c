package execution

import "time"

// Code is the kind of a platform failure. Codes are append-only.
type Code string

// The platform failures.
const (
	// InvalidRequest means that the request is at fault; Field names the place.
	InvalidRequest Code = "invalid_request"
	// Unavailable means that no function could take the execution, or that it was lost before an answer. The caller may
	// retry.
	Unavailable Code = "unavailable"
	// Throttled means that too many executions run; RetryAfter says when to retry.
	Throttled Code = "throttled"
	// TooLarge means that the payload exceeds what can be carried to the function.
	TooLarge Code = "too_large"
	// Unrecorded means that the audit record could not be written; the result is withheld.
	Unrecorded Code = "unrecorded"
	// SourcesNeeded means that the function does not have the sources that the invocation names (Invocation.Content).
	// Nothing ran.
	SourcesNeeded Code = "sources_needed"
	// Internal means any other failure of the platform.
	Internal Code = "internal"
)

// ProcessLost is the error line of an execution whose process ended without an answer, by itself or for unknown
// reasons. It is a result and not an Error, because the code may have run.
const ProcessLost = "the process that ran the code ended unexpectedly"

// Error is a failure of the platform or of the request, never of the guest. Message may be shown to the caller; the
// wrapped error may not.
type Error struct {
	Code       Code          `json:"code"`
	Field      string        `json:"field,omitempty"`
	Message    string        `json:"message"`
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	Err        error         `json:"-"`
}

// Error returns the message, prefixed with the field if there is one.
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

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
