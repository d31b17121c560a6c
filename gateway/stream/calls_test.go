package stream

import (
	"encoding/json"
	"strings"
	"testing"
)

// The data of an event is one line of JSON, whatever a function process sends as parameters, and has their size.
func TestCallEvent(t *testing.T) {
	t.Parallel()
	for _, params := range []string{
		"{\n\"a\":\r\n1,\t\"b\" : [ ]}", `"<&>\u2028"`, `{"a":1,"a":2}`, "[1e400,-0,1.50]",
		`"` + strings.Repeat("<", 1000) + `"`,
	} {
		body, err := callEvent(7, "a:b", json.RawMessage(params))
		if err != nil {
			t.Errorf("%s: %v", params, err)
		}
		if !json.Valid(body) || strings.ContainsAny(string(body), "\r\n") || len(body) > len(params)+100 {
			t.Errorf("%s: %s", params, body)
		}
	}
	for _, params := range []string{"", "{", "1 2", "1\n\ndata: 2", "nul", "{\"a\":1}}"} {
		if body, err := callEvent(7, "a:b", json.RawMessage(params)); err == nil {
			t.Errorf("%q: %s", params, body)
		}
	}
}
