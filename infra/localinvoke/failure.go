package localinvoke

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/airlock-run/airlock/functions/execution"
)

// maxMessage is how much of a function's own words is passed on, in bytes.
const maxMessage = 1000

// public makes a failure one that a caller may see.
func (f *failure) public() *execution.Error {
	if f.Type == tooLarge {
		return &execution.Error{Code: execution.TooLarge, Message: "the result is too large to be returned", Err: errors.New(f.Message)}
	}
	return public(execution.Error{Code: execution.Code(f.Type), Message: f.Message})
}

// public keeps from an error that a function reported what the contract allows. Anything that is not one of its codes,
// such as a panic, is internal, and its words are for the log only.
func public(e execution.Error) *execution.Error {
	switch e.Code {
	case execution.InvalidRequest, execution.Unavailable, execution.Throttled, execution.TooLarge, execution.Unrecorded:
	case execution.Internal:
		return internal(errors.New(e.Message))
	default:
		return internal(errors.New(string(e.Code) + ": " + e.Message))
	}
	e.Message, e.Field = oneLine(e.Message), oneLine(e.Field)
	e.RetryAfter = max(e.RetryAfter, 0)
	return &e
}

// oneLine makes text fit for an error message.
func oneLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > maxMessage {
		s = s[:maxMessage]
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return s
}
