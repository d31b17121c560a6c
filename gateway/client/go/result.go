package client

import (
	"encoding/json"
	"fmt"

	"github.com/airlock-run/airlock/functions/execution"
)

// A Result is the result of an execution, with fields that print.
type Result struct {
	execution.Result
	// Value is what the code evaluates to, as JSON. It is empty if the code did not complete.
	Value Value
	// Error is one line, and empty if the code completed.
	Error string
	// Limit names the limit that ended the run, if one did.
	Limit string
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Result) UnmarshalJSON(b []byte) error {
	*r = Result{}
	if err := json.Unmarshal(b, &r.Result); err != nil {
		return err
	}
	if r.Status == execution.Completed {
		r.Value = Value(r.Result.Result)
	}
	if r.Result.Error != nil {
		r.Error = *r.Result.Error
	}
	if r.Result.Limit != nil {
		r.Limit = *r.Result.Limit
	}
	return nil
}

// MarshalJSON implements json.Marshaler. The JSON is that of the gateway.
func (r Result) MarshalJSON() ([]byte, error) { return json.Marshal(r.Result) }

// String returns the status with the value or the error.
func (r Result) String() string {
	text := string(r.Status)
	if r.Limit != "" {
		text += " (" + r.Limit + ")"
	}
	switch {
	case r.Error != "":
		text += ": " + r.Error
	case len(r.Value) > 0:
		text += ": " + r.Value.String()
	}
	return text
}

// Decode stores the value of a completed run in the value that into points to. If the run did not complete, the error
// has the text of Error.
func (r Result) Decode(into any) error {
	if r.Status != execution.Completed {
		return fmt.Errorf("the execution did not complete: %s", r)
	}
	return json.Unmarshal(r.Value, into)
}

// A Value is JSON that prints as text.
type Value json.RawMessage

// String returns the JSON.
func (v Value) String() string { return string(v) }
