package replystream

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/airlock-run/airlock/functions/execution"
)

// maxMessage bounds the part of a function's text that is passed on, in bytes.
const maxMessage = 1000

// TooLarge is Lambda's error type for an answer that is too large.
const TooLarge = "Function.ResponseSizeTooLarge"

// A Failure is an error in the form of a Lambda function.
type Failure struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
}

// Read fills f from the JSON of an error report. It returns false and leaves f as it is if the report is invalid.
func (f *Failure) Read(report []byte) bool {
	var read Failure
	if json.Unmarshal(report, &read) != nil || read == (Failure{}) {
		return false
	}
	f.Message = read.Message
	if read.Type != "" {
		f.Type = read.Type
	}
	return true
}

// Public returns the failure as an error that a caller may see.
func (f *Failure) Public() *execution.Error {
	if f.Type == TooLarge {
		return &execution.Error{Code: execution.TooLarge, Message: "the result is too large to be returned",
			Err: errors.New(f.Message)}
	}
	return Public(execution.Error{Code: execution.Code(f.Type), Message: f.Message})
}

// Public returns a function's error as far as the contract allows. Anything with an unknown code, such as a panic, is
// internal, and its text is for the log only.
func Public(e execution.Error) *execution.Error {
	switch e.Code {
	case execution.InvalidRequest, execution.Unavailable, execution.Throttled, execution.TooLarge, execution.Unrecorded,
		execution.SourcesNeeded:
	case execution.Internal:
		return Internal(errors.New(e.Message))
	default:
		return Internal(errors.New(string(e.Code) + ": " + e.Message))
	}
	e.Message, e.Field = OneLine(e.Message), OneLine(e.Field)
	e.RetryAfter = max(e.RetryAfter, 0)
	return &e
}

// Internal returns the error for a cause that callers must not see.
func Internal(cause error) *execution.Error {
	return &execution.Error{Code: execution.Internal, Message: "the execution failed inside the platform", Err: cause}
}

// OneLine returns text of a function in a form that fits an error message.
func OneLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > maxMessage {
		s = s[:maxMessage]
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return s
}
