package events

import (
	"encoding/json"
	"net/http"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/webhook"
)

// chosen returns the answer of bound code: a value {status, headers, body} is the whole answer, any other value its
// body. If the code did not complete, the answer says so and names the execution's ID, and reveals nothing of the code.
func chosen(result execution.Result, named []string) reply {
	switch result.Status {
	case execution.Completed:
	case execution.TimedOut:
		return status(http.StatusGatewayTimeout, "the execution "+result.ID+" took too long", "")
	case execution.Blocked:
		return status(http.StatusForbidden, "the execution "+result.ID+" was blocked by policy", "")
	default:
		return status(http.StatusInternalServerError, "the execution "+result.ID+" failed", "")
	}
	if answer, ok := explicit(result.Result, named); ok {
		return answer
	}
	if len(result.Result) == 0 || string(result.Result) == "null" {
		return reply{status: http.StatusNoContent, header: http.Header{"Cache-Control": {"no-store"}}}
	}
	return reply{status: http.StatusOK, header: jsonHeader("application/json"), body: string(result.Result)}
}

// explicit reads {status, headers, body}. A value that only resembles it is not an answer.
func explicit(value json.RawMessage, named []string) (reply, bool) {
	var top map[string]json.RawMessage
	if json.Unmarshal(value, &top) != nil || top["status"] == nil {
		return reply{}, false
	}
	for name := range top {
		if name != "status" && name != "headers" && name != "body" {
			return reply{}, false
		}
	}
	var code int
	if json.Unmarshal(top["status"], &code) != nil || code < 200 || code > 599 {
		return reply{}, false
	}
	r := reply{status: code, header: jsonHeader("application/json")}
	if !r.setHeaders(top["headers"], named) {
		return reply{}, false
	}
	switch body := top["body"]; {
	case len(body) == 0 || string(body) == "null":
		r.header.Del("Content-Type")
	case body[0] == '"':
		if json.Unmarshal(body, &r.body) != nil {
			return reply{}, false
		}
		if r.header.Get("Content-Type") == "application/json" && !json.Valid([]byte(r.body)) {
			r.header.Set("Content-Type", "text/plain; charset=utf-8")
		}
	default:
		r.body = string(body)
	}
	if !webhook.HasBody(code) {
		r.body = ""
		r.header.Del("Content-Type")
	}
	return r, true
}

// setHeaders adds the headers that code may set, and none that could split the answer.
func (r *reply) setHeaders(raw json.RawMessage, named []string) bool {
	headers, ok := webhook.ChosenHeaders(raw)
	for name, value := range headers {
		if webhook.AnswerHeader(r.status, name, value, named) {
			r.header.Set(name, value)
		}
	}
	return ok
}
