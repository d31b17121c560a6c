package toolinput

import (
	"context"
	"encoding/json"
)

// A Request is the error of a call that needs input. Its texts and its schema are the server's and not trusted.
type Request struct {
	// Title and Detail say who asks for what.
	Title  string `json:"title"`
	Detail string `json:"detail"`
	// Schema is the JSON Schema of the input.
	Schema json.RawMessage `json:"schema"`
	// State is JSON that the next round returns to the tool.
	State json.RawMessage `json:"state"`
}

// Error implements error.
func (r *Request) Error() string { return r.Title + ": " + r.Detail }

// The values of Response.Action.
const (
	Accept  = "accept"
	Decline = "decline"
)

// A Response is what a person answered.
type Response struct {
	Action  string          `json:"action"`
	Content json.RawMessage `json:"content,omitempty"`
}

// A Round is one of the calls that a tool needs to get its input. The first has neither State nor Response.
type Round struct {
	State    json.RawMessage `json:"state,omitempty"`
	Response *Response       `json:"response,omitempty"`
}

type key struct{}

// With returns a context for a call that may fail with a Request.
func With(ctx context.Context, r Round) context.Context { return context.WithValue(ctx, key{}, r) }

// Of returns the round of a call; ok is false if the call may not ask for input.
func Of(ctx context.Context) (r Round, ok bool) {
	r, ok = ctx.Value(key{}).(Round)
	return r, ok
}
