package schema

import (
	"encoding/json"
	"testing"

	"github.com/airlock-run/airlock/policy/depth"
)

// FuzzSchema checks that a hostile schema and a hostile value are judged or refused in bounded time, without a panic.
func FuzzSchema(f *testing.F) {
	for _, s := range []string{`{"type":"object"}`, `{"$ref":"#"}`, `{"pattern":"(a+)+$"}`,
		`{"anyOf":[{"properties":{"x":{"$ref":"#"}}},{"properties":{"x":{"$ref":"#"}}}]}`, `{"$id":"a","$ref":"b"}`,
		`{"uniqueItems":true}`, `{"format":"regex"}`} {
		f.Add(s, `{"x":{"x":1}}`)
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		s, err := New(json.RawMessage(text))
		if err != nil || s == nil || !json.Valid([]byte(value)) || depth.Over([]byte(value), "", depth.Default) != "" {
			return
		}
		_ = s.Check(t.Context(), json.RawMessage(value))
	})
}
