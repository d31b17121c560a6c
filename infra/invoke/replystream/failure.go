package replystream

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/airlock-run/airlock/functions/execution"
)

// maxMessage is how much of a function's own words is passed on, in bytes.
const maxMessage = 1000

// TooLarge is the type of the failure that an answer is larger than the way back carries; the name is Lambda's.
const TooLarge = "Function.ResponseSizeTooLarge"

// Failure is an error as a Lambda function reports it.
type Failure struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
}

// Read fills f from the JSON of an error report. A report that is none leaves f as it is, and gives false.
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

// Public makes of a failure an error that a caller may see.
func (f *Failure) Public() *execution.Error {
	if f.Type == TooLarge {
		return &execution.Error{Code: execution.TooLarge, Message: "the result is too large to be returned",
			Err: errors.New(f.Message)}
	}
	return Public(execution.Error{Code: execution.Code(f.Type), Message: f.Message})
}

// Public keeps of an error that a function reported what the contract allows. Anything that is not one of its codes,
// such as a panic, is internal, and its words are for the log only.
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

// Internal is the error for everything that callers are told nothing about.
func Internal(cause error) *execution.Error {
	return &execution.Error{Code: execution.Internal, Message: "the execution failed inside the platform", Err: cause}
}

// OneLine makes text that came from a function fit for an error message.
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
