package hooks

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"

	"github.com/airlock-run/airlock/functions/webhook"
)

// An Answer is the response to the sender of a webhook.
type Answer struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
}

const (
	// MaxAnswerBytes bounds the body of an answer.
	MaxAnswerBytes = 1 << 20
	jsonType       = "application/json"
)

// NewAnswer returns the answer for what code returned: {status, headers, body} as it is, anything else as a JSON
// body, and nothing as 204. A value that only resembles an answer counts as a value. ok is false if the answer is too
// long. Headers that [webhook.AnswerHeader] does not allow are dropped; named are the X- headers that the deployment
// allows besides.
func NewAnswer(value json.RawMessage, named ...string) (a Answer, ok bool) {
	if explicit, is := explicit(value); is {
		explicit.Restrict(named)
		return explicit, len(explicit.Body) <= MaxAnswerBytes
	}
	if len(value) == 0 || string(value) == "null" {
		return Answer{Status: http.StatusNoContent}, true
	}
	whole := map[string]string{"Content-Type": jsonType}
	return Answer{Status: http.StatusOK, Headers: whole, Body: string(value)}, len(value) <= MaxAnswerBytes
}

func explicit(value json.RawMessage) (Answer, bool) {
	top, ok := membersOf(value)
	if !ok || top["status"] == nil {
		return Answer{}, false
	}
	a := Answer{}
	if json.Unmarshal(top["status"], &a.Status) != nil || a.Status < 200 || a.Status > 599 {
		return Answer{}, false
	}
	if a.Headers, ok = webhook.ChosenHeaders(top["headers"]); !ok {
		return Answer{}, false
	}
	chosen := a.Headers["Content-Type"] != ""
	switch body := top["body"]; {
	case len(body) == 0 || string(body) == "null":
	case body[0] == '"':
		if json.Unmarshal(body, &a.Body) != nil {
			return Answer{}, false
		}
		if !chosen {
			a.Headers["Content-Type"] = "text/plain; charset=utf-8"
		}
	default:
		a.Body = string(body)
		if !chosen {
			a.Headers["Content-Type"] = jsonType
		}
	}
	return a, true
}

// membersOf returns the members of an object that has no others than an answer. It stops at the first other one, so
// that a large value costs little.
func membersOf(value json.RawMessage) (map[string]json.RawMessage, bool) {
	dec := json.NewDecoder(bytes.NewReader(value))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return nil, false
	}
	top := map[string]json.RawMessage{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil || name != "status" && name != "headers" && name != "body" {
			return nil, false
		}
		var member json.RawMessage
		if dec.Decode(&member) != nil {
			return nil, false
		}
		top[name.(string)] = member // it equals one of three strings
	}
	_, err := dec.Token()
	return top, err == nil
}

// Restrict removes what code may not choose: headers, and the body of an answer that has none.
func (a *Answer) Restrict(named []string) {
	maps.DeleteFunc(
		a.Headers, func(name, value string) bool { return !webhook.AnswerHeader(a.Status, name, value, named) },
	)
	if !webhook.HasBody(a.Status) {
		a.Body = ""
	}
}
