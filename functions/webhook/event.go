package webhook

import (
	"bytes"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	fast "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy/depth"
)

// An Event is a webhook as code sees it in its input.
type Event struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Query   map[string]string `json:"query"`
	Headers map[string]string `json:"headers"`
	// Body is the value if the body is JSON that an execution request could hold, an object of strings and lists of
	// strings if it is a form (application/x-www-form-urlencoded) of at most 1,000 fields, otherwise its text; null if
	// there is none.
	Body    any    `json:"body"`
	RawBody string `json:"rawBody"`
}

// NewEvent returns the event of a request, with the headers that sees passes: see [Visible].
func NewEvent(method, path string, query map[string]string, header http.Header, sees []string, body []byte) Event {
	e := Event{
		Method: valid(method), Path: valid(path), Query: make(map[string]string, len(query)),
		Headers: Visible(header, sees), RawBody: valid(string(body)),
	}
	for _, name := range slices.Sorted(maps.Keys(query)) { // two names may become the same
		e.Query[valid(name)] = valid(query[name])
	}
	switch {
	case len(body) == 0:
	case shallow(body) && execution.ValidJSON(body):
		e.Body = json.RawMessage(body)
	default:
		e.Body = e.RawBody
		if form, ok := formOf(header.Get("Content-Type"), e.RawBody); ok {
			e.Body = form
		}
	}
	return e
}

// valid returns text with U+FFFD in place of bytes that are not UTF-8.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// AppendJSON appends the event as JSON to dst. It does not escape for HTML, which would make an event up to six times
// as long. A body of 1 MiB takes about 10 ms each time it is parsed or quoted: one that is JSON is copied as it is, and
// a text that is both members is quoted once.
func (e Event) AppendJSON(dst []byte) (out []byte, err error) {
	add := func(name string, value any) {
		if err != nil {
			return
		}
		var b []byte
		b, err = fast.Marshal(value, fast.Deterministic(true), jsontext.AllowInvalidUTF8(true))
		dst = append(append(append(append(append(dst, '"'), name...), `":`...), b...), ',')
	}
	dst = append(slices.Grow(dst, 2*len(e.RawBody)+len(e.RawBody)/4), '{') // escapes may take more
	add("method", e.Method)
	add("path", e.Path)
	add("query", e.Query)
	add("headers", e.Headers)
	text := -1 // where the text of the body is
	switch body := e.Body.(type) {
	case json.RawMessage:
		dst = append(append(append(dst, `"body":`...), body...), ',')
	case string:
		if body != e.RawBody {
			add("body", body)
			break
		}
		dst = append(dst, `"body":`...)
		text = len(dst)
		dst = append(execution.AppendText(dst, body), ',')
	default:
		add("body", body)
	}
	dst = append(dst, `"rawBody":`...)
	if text < 0 {
		return append(execution.AppendText(dst, e.RawBody), '}'), err
	}
	end := len(dst) - len(`,"rawBody":`)
	return append(append(dst, dst[text:end]...), '}'), err
}

// maxFields bounds the fields of a form, as the parsers of Express and PHP do.
const maxFields = 1000

// formOf returns the fields of a form: strings, and lists of strings for names that occur more than once.
func formOf(contentType, body string) (map[string]any, bool) {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "application/x-www-form-urlencoded" || strings.Count(body, "&") >= maxFields {
		return nil, false
	}
	values, err := url.ParseQuery(body)
	if err != nil {
		return nil, false
	}
	form := make(map[string]any, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) { // two names may become the same
		all := values[name]
		for i := range all {
			all[i] = valid(all[i])
		}
		name = valid(name)
		if form[name] = all; len(all) == 1 {
			form[name] = all[0]
		}
	}
	return form, true
}

// Without returns a stored event without the headers that keep rejects. An event without such headers is returned
// unchanged. Headers that cannot be read are removed as a whole, and an event that is not JSON is null.
func Without(event []byte, keep func(name string) bool) json.RawMessage {
	if len(event) > 0 && !json.Valid(event) {
		return json.RawMessage("null")
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(event, &members) != nil || len(members["headers"]) == 0 {
		return event
	}
	var headers map[string]string
	err := json.Unmarshal(members["headers"], &headers)
	before := len(headers)
	maps.DeleteFunc(headers, func(name, _ string) bool { return !keep(strings.ToLower(name)) })
	if err == nil && len(headers) == before {
		return event
	}
	if err != nil || headers == nil {
		headers = map[string]string{}
	}
	kept, err := json.Marshal(headers)
	if err != nil {
		kept = []byte("{}")
	}
	members["headers"] = kept
	out, err := json.Marshal(members)
	if err != nil {
		return json.RawMessage("null") // not reached: all members were read from JSON
	}
	return out
}

// WithoutCredentials returns [Without] of an event whose source is unknown.
func WithoutCredentials(event []byte) json.RawMessage {
	return Without(event, func(name string) bool { return !Credential(name) })
}

// RequestWithoutCredentials returns [WithoutCredentials] of the input of a recorded execution request.
func RequestWithoutCredentials(request []byte) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(request, &members) != nil || len(members["input"]) == 0 {
		return request
	}
	input := WithoutCredentials(members["input"])
	if bytes.Equal(input, members["input"]) {
		return request
	}
	members["input"] = input
	out, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	return out
}

// Keeps returns the rule by which [Without] treats a stored event as [Visible] treats a new one.
func Keeps(sees []string) func(name string) bool {
	return func(name string) bool { return passes(name, sees) }
}

// shallow reports whether a body nests no deeper than an execution request may.
func shallow(body []byte) bool { return depth.Over(body, "", execution.MaxDepth-2) == "" }
