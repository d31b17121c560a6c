package mcptools

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A message has the same content with its structured content put aside as without, whatever a server writes.
func FuzzContents(f *testing.F) {
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"a":[1,"\u003c"]}}}`,
		`{"result":{"structuredContent":[1],"structuredContent":2}}`, `{"result":[{"structuredContent":1}]}`,
		`{"structuredContent":1,"result":{"x":{"structuredContent":1}}}`, `{"result":{"structuredContent":null}}`,
		`{"result":{"structuredContent":"\ud800"}}`, `{"result":{"structuredContent":1`,
		`{"result":{"structured\u0043ontent":1}}`,
		`{"result":{"structuredContent":0}}`, "[]", "",
		`{"result":{"structuredContent":{}},"result":{"structuredContent":7}}`,
	} {
		f.Add([]byte(message))
	}
	type message struct {
		Result struct {
			Content any `json:"structuredContent"`
		} `json:"result"`
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var before, after message
		kept := newContents()
		wrapped := putAside(kept, text)
		errBefore, errAfter := json.Unmarshal(text, &before), json.Unmarshal(wrapped, &after)
		if errBefore != nil {
			return
		}
		if errAfter != nil {
			t.Fatalf("%q became %q: %v", text, wrapped, errAfter)
		}
		content, err := kept.take(after.Result.Content)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, wrapped, err)
		}
		if raw, ok := content.(json.RawMessage); ok {
			if err := json.Unmarshal(raw, &content); err != nil {
				t.Fatal(err)
			}
		}
		// Of a name that is given twice, the content may be that of either.
		once := bytes.Count(bytes.ToLower(text), []byte(`"structuredcontent"`)) == 1 && bytes.Count(text, []byte(`\`)) == 0
		once = once && bytes.Count(bytes.ToLower(text), []byte(`"result"`)) == 1
		if once && (!reflect.DeepEqual(content, before.Result.Content) || len(kept.aside)+kept.bytes > 0) {
			t.Errorf("%q became %q, and %v remains", text, wrapped, kept.aside)
		}
	})
}

// putAside returns what a reader gives for a message.
func putAside(kept *contents, message []byte) []byte {
	found, err := partsOf(message)
	if err != nil {
		return message
	}
	return kept.putAside(message, found)
}

// The lines that a reader returns are those that it was given, up to one that is too long.
func TestRawReader(t *testing.T) {
	t.Parallel()
	lines := "\n" + strings.Repeat("x", 100_000) + "\n" + `{"a":1}` + "\nlast"
	r := newRawReader(io.NopCloser(strings.NewReader(lines)), newContents(), newCalls())
	var got bytes.Buffer
	if _, err := io.CopyBuffer(&got, struct{ io.Reader }{r}, make([]byte, 7)); err != nil || got.String() != lines {
		t.Errorf("%d of %d bytes, %v", got.Len(), len(lines), err)
	}
	lines = "first\n" + strings.Repeat("x", maxAnswer) + "\n"
	r = newRawReader(io.NopCloser(strings.NewReader(lines)), newContents(), newCalls())
	if got, err := io.ReadAll(r); string(got) != "first\n" || err != errLongLine {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// What no call takes makes room for later contents.
func TestContentsAreBounded(t *testing.T) {
	t.Parallel()
	kept := newContents()
	large := make(json.RawMessage, mostAside/3-eachAside)
	first := kept.keep(large, "")
	for range 3 {
		kept.keep(large, "")
	}
	if _, err := kept.take(first); err == nil || len(kept.aside) != 3 || kept.bytes != 3*(len(large)+eachAside) {
		t.Errorf("%d contents of %d bytes are kept, %v", len(kept.aside), kept.bytes, err)
	}
	if got, err := kept.take("another text"); got != "another text" || err != nil {
		t.Error(got, err)
	}
}

// Answers that no call waits for take little memory, however short they are, and little time.
func TestShortContentsAreBounded(t *testing.T) {
	t.Parallel()
	kept := newContents()
	message := []byte(`{"result":{"structuredContent":{}}}`)
	for range 10 * mostAside / eachAside {
		putAside(kept, message)
	}
	if n := len(kept.aside); n > mostAside/eachAside || len(kept.order) > n {
		t.Errorf("%d contents and %d names are kept", n, len(kept.order))
	}
	// The oldest is never taken, the later ones are.
	kept = newContents()
	kept.keep(json.RawMessage("0"), "")
	for range 1000 {
		if _, err := kept.take(kept.keep(json.RawMessage("1"), "")); err != nil {
			t.Fatal(err)
		}
	}
	if len(kept.order) > 20 {
		t.Errorf("%d names are kept for 1 content", len(kept.order))
	}
}

// A long list of contents is put aside, and has the same value for code as the SDK gives it.
func TestListsPutAside(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(`a\n<é>\ud83d\ude00`, 500)
	for _, list := range []string{
		`{"type":"text","text":"%s"}`, `{"text":"%s","type":"text"},{"type":"text","text":""}`,
		`{"type":"text","text":"%s"},{"type":"text","text":"b","annotations":{"priority":1},"_meta":{"a":1}}`,
		`{"type":"text","text":"%s"},{"type":"image","data":"AAAA","mimeType":"image/png"}`,
		`{"type":"text","text":"%s","text":"c"}`, `{"type":"t\u0065xt","text":"%s"}`, `{"type":"text","text":"%s\ud800"}`,
		`{"type":"text","text":"[1,\"%.0s\"]"}`, `{"type":"text"},{"type":"text","text":"%s"}`,
		`{"type":"resource","resource":{"uri":"a:b","text":"%s"}}`, `{"type":"image","data":"","mimeType":"%.0s"}`, `%.0s`,
		`{"type":"unknown","text":"%s"}`, `1,"%s"`, `null,"%s"`, `{"type":"text","text":1,"a":"%s"}`,
		`{"type":"text","text":"%s"} `,
	} {
		for _, more := range []string{"", `,"isError":true`, `,"structuredContent":null`,
			`,"isError":true,"structuredContent":{"a":1}`, `,"structuredContent":{"a":1}`, `,"content":[]`} {
			message := []byte(`{"jsonrpc":"2.0","id":1,"result":{"_meta":{"a":"` + long + `"},"content":[` +
				strings.ReplaceAll(strings.ReplaceAll(list, "%.0s", ""), "%s", long) + `]` + more + `}}`)
			kept := newContents()
			was, wrong := valueOf(t, message, nil)
			got, err := valueOf(t, putAside(kept, message), kept)
			if wrong != nil {
				continue // with its content put aside, the answer is refused by itself, and not the session
			}
			if err != nil || got != was && !sameJSON(got, was) {
				t.Errorf("%s%s: %.200s %v, want %.200s", list, more, got, err, was)
			}
			if len(kept.aside) > 0 {
				t.Errorf("%s%s: a content stays", list, more)
			}
		}
	}
}

// sameJSON reports whether two texts are the same value; the SDK writes the members of contents in its own order.
func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// valueOf returns the value of a message, or its error.
func valueOf(t testing.TB, message []byte, kept *contents) (string, error) {
	t.Helper()
	var m struct{ Result json.RawMessage }
	if err := json.Unmarshal(message, &m); err != nil {
		t.Fatalf("%.300s: %v", message, err)
	}
	var result sdk.CallToolResult
	if err := json.Unmarshal(m.Result, &result); err != nil {
		return "", err
	}
	v, err := value(&result, kept, "")
	if err != nil {
		return err.Error(), nil
	}
	return string(v), nil
}

// BenchmarkListedContents makes the value of a message of 1 MB, with its content put aside and without.
func BenchmarkListedContents(b *testing.B) {
	for name, list := range map[string]string{
		"escapes": `{"type":"text","text":"` + strings.Repeat(`\n`, 500_000) + `"}`,
		"letters": `{"type":"text","text":"` + strings.Repeat("x", 1_000_000) + `"}`,
		"short":   strings.Repeat(`{"type":"text","text":"a"},`, 37_000) + `{"type":"text","text":""}`,
		"marked":  strings.Repeat(`{"type":"text","text":"a","_meta":{}},`, 26_000) + `{"type":"text","text":""}`,
		"images":  strings.Repeat(`{"type":"image","data":"","mimeType":""},`, 25_000) + `{"type":"text","text":""}`,
		"JSON":    `{"type":"text","text":"[1` + strings.Repeat(`,1`, 500_000) + `]"}`,
	} {
		message := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[` + list + `]}}`)
		for way, kept := range map[string]*contents{"aside": newContents(), "whole": nil} {
			b.Run(name+"/"+way, func(b *testing.B) {
				for b.Loop() {
					text := message
					if kept != nil {
						text = putAside(kept, message)
					}
					if _, err := valueOf(b, text, kept); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
