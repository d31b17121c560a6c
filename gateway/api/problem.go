package api

import (
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// A Problem is an outcome other than a result, rendered as a problem document (RFC 9457). Callers see everything but
// Cause, which only the log has.
type Problem struct {
	Status int
	// Code is stable: clients compare it. If empty, it follows from Status.
	Code  string
	Field string
	// Line and Column are the position in the code of Field, counting from 1, and 0 if the problem is not about code.
	Line, Column int
	// Detail is one sentence. If empty, it follows from Status.
	Detail string
	// Hint follows Detail, after a semicolon: what the caller may rely on, or do. It is true only if no code ran.
	Hint       string
	RetryAfter time.Duration
	// Challenge is the value of WWW-Authenticate.
	Challenge string
	Cause     error
}

// Error returns the detail and the cause, for the log.
func (p *Problem) Error() string {
	if p.Cause != nil {
		return p.Detail + ": " + p.Cause.Error()
	}
	return p.Detail
}

// NothingChanged is the Hint of a request that failed before it changed anything.
const NothingChanged = "nothing was changed"

// Invalid returns the error for a field of a request that is not valid.
func Invalid(field, message string) error {
	return &execution.Error{Code: execution.InvalidRequest, Field: field, Message: message}
}

// NotFound returns the error for something that does not exist, or that does not exist for this caller.
func NotFound(detail string) error { return &Problem{Status: 404, Detail: detail} }

// MissingScope returns the error for a caller who lacks a scope.
func MissingScope(scope string) error {
	return &Problem{
		Status: 403, Code: "insufficient_scope", Detail: "this needs the scope " + scope,
		Challenge: `Bearer realm="airlock", error="insufficient_scope", scope="` + scope + `"`,
	}
}

// Stateless returns the error for a request that needs the state of a gateway without one.
func Stateless() error {
	return &Problem{
		Status: 501, Code: "stateless",
		Detail: "this gateway keeps no state: it has neither saved functions nor jobs",
	}
}

// NoSnapshotKey returns the error for stored state whose key is not configured. Nothing was changed.
func NoSnapshotKey(cause error) error {
	return &Problem{
		Status: 503, Code: "no_snapshot_key",
		Detail: "this gateway does not have the key of this execution or session: the operator must add it to " +
			"SNAPSHOT_KEYS",
		Hint:       NothingChanged,
		RetryAfter: 10 * time.Second, Cause: cause,
	}
}

// RecordsUnavailable returns the error for audit records that cannot be read.
func RecordsUnavailable(cause error) error {
	return &Problem{
		Status: 503, Code: "unavailable", Detail: "the audit store cannot be read now; try again",
		RetryAfter: 5 * time.Second, Cause: cause,
	}
}
