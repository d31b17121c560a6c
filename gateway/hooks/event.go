package hooks

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/airlock-run/airlock/functions/execution"
)

// Event is what code sees of a webhook, as its input.
type Event struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Query   map[string]string `json:"query"`
	Headers map[string]string `json:"headers"`
	// Body is the value when the body is JSON that an execution request could hold, else its text; null when there is none.
	Body    any    `json:"body"`
	RawBody string `json:"rawBody"`
}

// NewEvent tells a delivery. Header names are in lower case; several values of one name are joined by commas. A header
// that carries the hook's secret itself is left out.
func NewEvent(h execution.FunctionHook, method, path string, query url.Values, header http.Header, body []byte) Event {
	e := Event{
		Method: method, Path: path, Query: make(map[string]string, len(query)), Headers: make(map[string]string, len(header)),
		RawBody: strings.ToValidUTF8(string(body), "\uFFFD"),
	}
	switch {
	case len(body) == 0:
	case shallow(body) && jsontext.Value(body).IsValid():
		e.Body = json.RawMessage(body)
	default:
		e.Body = e.RawBody
	}
	for name, values := range query {
		e.Query[name] = strings.Join(values, ",")
	}
	secret := map[string]bool{}
	if h.Scheme == SharedHeader {
		for _, name := range Headers(h) {
			secret[strings.ToLower(name)] = true
		}
	}
	for name, values := range header {
		if lower := strings.ToLower(name); !secret[lower] {
			e.Headers[lower] = strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")
		}
	}
	return e
}

// shallow keeps bodies nested beyond what an execution request may be from being handed on as values.
func shallow(body []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > execution.MaxDepth-2 {
				return false
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return true
}
