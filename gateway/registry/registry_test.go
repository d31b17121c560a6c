package registry_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/registry"
)

func TestValidName(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"a", "A9", "a-b_c.d", strings.Repeat("x", 64)} {
		if !registry.ValidName(s) {
			t.Errorf("%q", s)
		}
	}
	for _, s := range []string{"", ".", "..", "-a", "_a", "a/b", "a b", "ä", "a\x00", strings.Repeat("x", 65)} {
		if registry.ValidName(s) {
			t.Errorf("%q", s)
		}
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	file := func(pairs ...string) execution.FunctionContent {
		c := execution.FunctionContent{Request: execution.Request{Entry: "a.js", Files: map[string]execution.File{}}}
		for i := 0; i < len(pairs); i += 2 {
			c.Request.Files[pairs[i]] = execution.File(pairs[i+1])
		}
		return c
	}
	a, b := file("a.js", "1\n2\n", "same", "x", "bin", "\xff", "gone", "y"), file(
		"a.js", "1\n3\n", "same", "x", "bin", "\xfe",
	)
	b.Request.Policy, b.Env = "strict", map[string]string{"A": "1"}
	d, err := registry.Diff(1, 2, a, b)
	if err != nil || d.Same || len(d.Files) != 3 {
		t.Errorf("%+v %v", d, err)
	}
	if text := d.Files["a.js"]; !strings.Contains(text, "-2\n+3\n") {
		t.Errorf("a.js differs by %q", text)
	}
	if text := d.Files["bin"]; !strings.HasPrefix(text, "binary") {
		t.Errorf("bin differs by %q", text)
	}
	if len(d.Fields) != 2 || d.Fields[0].Field != "env" {
		t.Fatalf("%+v", d.Fields)
	}
	if tier := d.Fields[1]; string(tier.From) != "null" || string(tier.To) != `"strict"` {
		t.Errorf("%+v", tier)
	}
	if d, err = registry.Diff(1, 1, a, a); err != nil || !d.Same {
		t.Errorf("%+v %v", d, err)
	}
}

// Comparing texts takes longer the more they differ, so only as much is compared as takes some ten milliseconds.
func TestDiffOfLongTexts(t *testing.T) {
	t.Parallel()
	lines := func(n int, each string) string { return strings.Repeat(each, n) }
	for name, c := range map[string]struct {
		from, to string
		compared bool
	}{
		"a change in a long file":  {lines(50_000, "line\n") + "a\n", lines(50_000, "line\n") + "b\n", true},
		"a line more":              {"a\n" + lines(50_000, "line\n"), lines(50_000, "line\n"), true},
		"another long file":        {lines(50_000, "0\n1\n"), lines(50_000, "1\n2\n"), false},
		"a change in a huge file":  {lines(1<<18, "line\n") + "a\n", lines(1<<18, "line\n") + "b\n", false},
		"changes at both its ends": {"a\n" + lines(50_000, "line\n") + "b", "c\n" + lines(50_000, "line\n") + "d", false},
	} {
		version := func(text string) execution.FunctionContent {
			return execution.FunctionContent{Request: execution.Request{Code: text}}
		}
		d, err := registry.Diff(1, 2, version(c.from), version(c.to))
		if err != nil || d.Same || strings.HasPrefix(d.Files["code"], "too long to compare: ") == c.compared {
			t.Errorf("%s: %v %.200v", name, err, d)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"code":"1"}`, `{"files":{"index.js":"1"}}`, `{"files":{"a":{"base64":"AA=="}},"entry":"a"}`,
		`{"code":"1","env":{"A":"b"}}`,
		`{"code":"1","hook":{"scheme":"github","secret":"x"}}`, `{"code":"1","schedule":"* * * * *"}`,
		`{"code":"1","schedule":{"cron":"@daily","input":{"a":1}}}`,
		`{"code":"1","code":"2"}`, `[`, `null`, `{"files":[]}`, `{"code":"1","hook":null}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := registry.Decode(body)
		var e *execution.Error
		if err != nil {
			if !errors.As(err, &e) || e.Message == "" {
				t.Errorf("%q: %v", body, err)
			}
			return
		}
		r := d.Content.Request
		if (r.Code == "") == (r.Entry == "") || r.Input != nil || r.Priority != "" {
			t.Errorf("%q: %+v", body, r)
		}
	})
}

// A member of a function that is no member of a request, and an entry that is found, do not stand in for each other.
func TestDecodeTakesItsMembers(t *testing.T) {
	t.Parallel()
	for _, own := range []string{`"env":{"A":"b"}`, `"env":null`, `"hook":null`} {
		for _, rest := range []string{`"files":{"index.js":"1"}`, `"code":"1"`} {
			for _, body := range []string{"{" + own + "," + rest + "}", "{" + rest + "," + own + "}"} {
				d, err := registry.Decode([]byte(body))
				if err != nil || d.Content.Request.Code == "" && d.Content.Request.Entry != "index.js" {
					t.Errorf("%s: %+v, %v", body, d.Content.Request, err)
				}
			}
		}
	}
}
