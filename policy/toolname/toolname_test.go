package toolname_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/airlock-run/airlock/policy/toolname"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		name string
		ok   bool
	}{
		"method":                   {"weather:get", true},
		"dots":                     {"weather.get", true},
		"namespace alone":          {"weather", true},
		"method with a keyword":    {"files:delete", true},
		"method like a global":     {"web:fetch", true},
		"method in another script": {"weather:天気", true},
		"dollar":                   {"$:get", true},
		"thenable":                 {"weather:then", false},
		"thenable by dots":         {"weather.then", false},
		"serialiser":               {"weather:toJSON", false},
		"prototype":                {"weather:__proto__", false},
		"prototype after cleaning": {"weather:-_proto_-", false},
		"prototype by a space":     {"weather:__proto_ ", false},
		"constructor":              {"weather:constructor", false},
		"valueOf":                  {"weather:valueOf", false},
		"toString":                 {"weather:toString", false},
		"hasOwnProperty":           {"weather:hasOwnProperty", false},
		"namespace prototype":      {"__proto__:x", false},
		"namespace constructor":    {"constructor:x", false},
		"namespace Object":         {"Object:keys", false},
		"namespace keyword":        {"delete:x", false},
		"namespace then await":     {"await:x", false},
		"namespace console":        {"console:log", false},
		"namespace fetch":          {"fetch", false},
		"namespace api":            {"api:request", false},
		"namespace secrets":        {"secrets:KEY", false},
		"namespace of a stream":    {"CompressionStream:x", false},
		"digit first":              {"1a:x", false},
		"empty":                    {"", false},
		"empty namespace":          {":x", false},
		"too long":                 {"a:" + strings.Repeat("x", 255), false},
		"bidirectional override":   {"weather:\u202etxt", false},
		"bidirectional isolate":    {"weather:\u2066txt", false},
		"arabic letter mark":       {"weather:\u061ctxt", false},
		"zero width space":         {"weather:a\u200bb", false},
		"byte order mark":          {"weather:\ufeffa", false},
		"tag":                      {"weather:\U000e0041", false},
		"variation selector":       {"weather:a\U000e0100", false},
		"soft hyphen":              {"weather:a\u00adb", false},
		"bell":                     {"weather:\a", false},
		"delete":                   {"weather:\x7f", false},
		"C1 control":               {"weather:\u009b", false},
		"escape":                   {"weather:\x1b[31m", false},
		"carriage return":          {"weather:a\r\nb", false},
		"line separator":           {"weather:a\u2028b", false},
		"no UTF-8":                 {"weather:\xff", false},
	} {
		if err := toolname.Check(c.name); (err == nil) != c.ok {
			t.Errorf("%s: %q: %v", name, c.name, err)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain": "plain", "two\nlines\tand a tab": "two\nlines\tand a tab",
		"日本語 🙂 👩‍💻 می\u200cخواهم": "日本語 🙂 👩‍💻 می\u200cخواهم", "a\r\nb": "a\nb",
		"a\rb": `a\u{d}b`, "\x1b[2J": `\u{1b}[2J`, "x\u202ey": `x\u{202e}y`, "\u2066x\u2069": `\u{2066}x\u{2069}`,
		"\u200bx": `\u{200b}x`, "a\u2028b": `a\u{2028}b`,
		"\U000e0049\U000e0067": `\u{e0049}\u{e0067}`, "a\U000e0101": `a\u{e0101}`, "\xffa\xc3": `\xffa\xc3`,
		"\ufffd": "\ufffd", "\x00": `\u{0}`, "\u0085": `\u{85}`, "\ufeffx": `\u{feff}x`,
	} {
		if got := toolname.Plain(text); got != want {
			t.Errorf("%q is written %q; want %q", text, got, want)
		}
	}
}

func TestPlainJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a": "b"}`: `{"a": "b"}`, "{\n\"a\":\"\u202e\"}": "{\n\"a\":\"\\u202e\"}", "\"\U000e0041\"": `"\udb40\udc41"`,
		"\"\u2028\u007f\"": `"\u2028\u007f"`,
	} {
		if got := string(toolname.PlainJSON([]byte(text))); got != want {
			t.Errorf("%q is written %q; want %q", text, got, want)
		}
	}
}

// FuzzPlain: nothing hidden is left, what was plain stays, and JSON means the same.
func FuzzPlain(f *testing.F) {
	for _, s := range []string{"plain", "x\u202ey", "\xff", "\U000e0041", "a\r\nb", `{"a":1}`, "\ufffd\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plain := toolname.Plain(text)
		if again := toolname.Plain(plain); again != plain && !strings.Contains(plain, "\ufffd") {
			t.Errorf("%q is %q, which is %q", text, plain, again)
		}
		if !utf8.ValidString(plain) || strings.ContainsAny(plain, "\u202e\u2066\u200b\x1b\x00\r\u2028") {
			t.Errorf("%q leaves %q", text, plain)
		}
		if toolname.Check(text) == nil && plain != text {
			t.Errorf("%q is a name", text)
		}
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var before, after string
		if json.Unmarshal(quoted, &before) != nil || json.Unmarshal(toolname.PlainJSON(quoted), &after) != nil ||
			before != after {
			t.Errorf("%q became %q", before, after)
		}
	})
}
