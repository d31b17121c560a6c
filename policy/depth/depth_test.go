package depth_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/policy/depth"
)

func nested(open, inner, close string, n int) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(close, n)
}

func TestOver(t *testing.T) {
	for _, c := range []struct {
		name, text string
		limit      int
		want       string
	}{
		{"flat", `{"a":1}`, 1, ""},
		{"a scalar", `"[[[["`, 1, ""},
		{"at the limit", nested("[", "", "]", 512), 512, ""},
		{"one over", nested("[", "", "]", 513), 512, "v[0][0][0][0][0][0]…"},
		{"wide, not deep", "[" + strings.Repeat("[[]],", 1000) + "1]", 3, ""},
		{"members", `{"x":[1],"a":[1,2,3,{"b":{"c":{}}}]}`, 4, "v.a[3].b.c…"},
		{"a value is no key", `{"a":"b","c":["d",[[]]]}`, 3, "v.c[1][0]…"},
		{"brackets in text", `{"a":"]}\"[[[[","b":[[]]}`, 2, "v.b[0]…"},
		{"strange keys", `{"a b":{"":{"__proto__":{"\u202e":[]}}}}`, 4, `v["a b"][""].__proto__["\u202e"]…`},
		{"long keys", `{"` + strings.Repeat("é", 40) + `":[[]]}`, 2, `v["` + strings.Repeat("é", 16) + `…"][0]…`},
		{"limit of none", `[]`, 0, "v…"},
		{"spaces", "{ \"a\" \n: [ [ ] ] }", 2, "v.a[0]…"},
	} {
		if got := depth.Over([]byte(c.text), "v", c.limit); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// FuzzOver compares Over with a decoder, and checks that its path is short.
func FuzzOver(f *testing.F) {
	for _, s := range []string{`{"a":[{"b":[]}]}`, `[[["]"]]]`, `{"\"":{"\\":[]}}`, `"`, `{"a`, "]]]["} {
		f.Add(s, 2)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = max(limit, 0) % 100
		path := depth.Over([]byte(text), "root", limit)
		if len(path) > 6*100 {
			t.Fatalf("a path of %d bytes", len(path))
		}
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			return
		}
		if levels(v) > limit && path == "" {
			t.Fatalf("%d levels, limit %d", levels(v), limit)
		}
	})
}

// levels counts how deep a decoded value nests. It does not see a member that a later one of the same name replaces,
// although that counts for the depth of the text.
func levels(v any) int {
	most := 0
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			most = max(most, levels(e))
		}
		return most + 1
	case map[string]any:
		for _, e := range v {
			most = max(most, levels(e))
		}
		return most + 1
	}
	return 0
}
