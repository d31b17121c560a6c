package execution_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy/audit"
)

func TestFacts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		request, main, language string
		timeout                 time.Duration
		memory                  int64
	}{
		{`{"code":"1"}`, "1", "javascript", 0, 0},
		{`{"code":"1","language":"typescript","timeout":1.5,"memory":"32mb"}`, "1", "typescript", 1500 * time.Microsecond,
			32 << 20},
		{`{"files":{"a.ts":"2","b.js":"3"},"entry":"a.ts","timeout":1e300}`, "2", "typescript", 24 * time.Hour, 0},
		{`{"files":{"a.js":"2"},"entry":"a.js"}`, "2", "javascript", 0, 0},
	} {
		r, err := execution.DecodeRequest([]byte(c.request))
		if err != nil {
			t.Fatal(err)
		}
		f := r.Facts()
		if r.Main() != c.main || r.MainLanguage() != c.language {
			t.Errorf("%s: %q in %s, want %q in %s", c.request, r.Main(), r.MainLanguage(), c.main, c.language)
		}
		if f.Timeout != c.timeout || f.MemoryBytes != c.memory {
			t.Errorf("%s: %v and %d bytes, want %v and %d", c.request, f.Timeout, f.MemoryBytes, c.timeout, c.memory)
		}
		if _, beside := f.Files[r.Entry]; beside {
			t.Errorf("%s: what runs is beside itself", c.request)
		}
	}
	r, err := execution.DecodeRequest([]byte(`{"code":"1","context":{"a":1},"tools":[{"name":"b:c-d",` +
		`"url":"https://b.example"}]}`))
	if f := r.Facts(); err != nil || !slices.Equal(f.Tools, []string{"b:c-d"}) ||
		!slices.Equal(f.Globals, []string{"a", "b"}) {
		t.Errorf("%+v %v", f, err)
	}
}

// What a request is said to take in a record is what it takes there, and never less than nine tenths of it.
func TestRecordedBytes(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"x", "\n", "\x01", "\x7f", `"`, `\`, "é", "😀", "\u2028", "\u2029", "\u2027", "<&>"} {
		text := strings.Repeat(piece, 5000)
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		plain := json.RawMessage(`"` + strings.Repeat("\u2028", 5000) + `"`)
		for name, r := range map[string]execution.Request{
			"code":    {Code: text},
			"file":    {Files: map[string]execution.File{"a": execution.File(text)}},
			"bytes":   {Files: map[string]execution.File{"a": execution.File(text + "\xff")}},
			"input":   {Input: quoted},
			"plain":   {Input: plain},
			"context": {Context: map[string]json.RawMessage{"a": quoted, "b": plain}},
			"args":    {Args: []string{text, text}},
			"tool":    {Tools: []execution.Tool{{Name: "a", Description: text, InputSchema: quoted, OutputSchema: plain}}},
		} {
			whole, err := audit.Encode(r)
			if err != nil {
				t.Fatal(err)
			}
			got := r.RecordedBytes(1 << 20)
			if want := len(whole); got > want+100 || got < want-want/10 {
				t.Errorf("%s of %q: %d, want %d", name, piece, got, want)
			}
			if got = r.RecordedBytes(1000); got <= 1000 {
				t.Errorf("%s of %q: %d, although it is more", name, piece, got)
			}
		}
	}
}
