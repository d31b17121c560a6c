package hostops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// Op answers a synchronous call. args are the guest's, from hostile memory; missing ones are Undefined. The guest sees
// an [*Exception] as a JavaScript exception. Any other error ends the run.
type Op func(c *Call, args []quickjs.Value) (quickjs.Value, error)

// Request answers an asynchronous call on a goroutine of its own. ctx ends with the run. The answer resolves the
// guest's promise. An error rejects it: an [*Exception] under its name, a [*LimitError] by ending the run, any other
// as an Error.
type Request func(ctx context.Context, payload string) (Answer, error)

// Answer is the result of a Request: Bytes as an ArrayBuffer if it is not nil, else JSON.
type Answer struct {
	JSON  json.RawMessage
	Bytes []byte
}

// Exception is an error that the guest sees. Its text must be fit for guests.
type Exception struct{ Name, Message string }

// Error returns the name and the message.
func (e *Exception) Error() string { return e.Name + ": " + e.Message }

// Throw returns an exception: a DOMException if name is one of its names, else an Error of that name.
func Throw(name, message string) *Exception { return &Exception{name, message} }

// Throwf returns an exception with a formatted message; see [Throw].
func Throwf(name, format string, args ...any) *Exception {
	return &Exception{name, fmt.Sprintf(format, args...)}
}

// ErrForged refuses arguments that the library never passes.
var ErrForged = Throw("TypeError", "invalid arguments")

// LimitError ends a run whose limit was hit. Limit is the name of the limit.
type LimitError struct{ Limit, Message string }

// Error returns the message.
func (e *LimitError) Error() string { return e.Message }

// AsLimit returns the limit error in err's chain, or nil.
func AsLimit(err error) *LimitError {
	var limit *LimitError
	if errors.As(err, &limit) {
		return limit
	}
	return nil
}

// AsException returns the form in which the guest sees err: an *Exception unchanged, any other error as an Error with
// its text.
func AsException(err error) *Exception {
	if e, ok := err.(*Exception); ok { // made by the operation itself, never wrapped
		return e
	}
	return &Exception{"Error", err.Error()}
}

// ErrorValue returns the value that the library turns into an exception: {"$error": [name, message]}.
func ErrorValue(in Guest, err error) (quickjs.Value, error) {
	e := AsException(err)
	text, marshalErr := json.Marshal(map[string][2]string{"$error": {e.Name, e.Message}})
	if marshalErr != nil {
		return 0, marshalErr
	}
	return in.ParseJSON(text)
}
