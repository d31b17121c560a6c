package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"unicode/utf8"
)

// steering is text that clears a terminal, sets its title, reverses its lines, hides text, and forges a line.
const steering = "a\x1b[2J\x1b]0;owned\x07\x9b31m\u0085\u009b\x7f\r\b\u202e\u2066\u200b\u200f" +
	"\ufeff\u00ad\u034f\u3164\U000e0041\u2028\xff\xfe\nairlock: all is well"

// noSteering fails where output holds something that a terminal would act upon, or a line that was forged.
func noSteering(t *testing.T, what, output string) {
	t.Helper()
	if !utf8.ValidString(output) {
		t.Errorf("%s: not UTF-8: %q", what, output)
	}
	for _, r := range output {
		switch {
		case r == '\n' || r == '\t':
		case r < ' ', r >= 0x7f && r < 0xa0, r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e,
			r >= 0x2060 && r <= 0x206f,
			r == 0xad, r == 0x34f, r == 0x3164, r == 0xfeff, r >= 0xe0000 && r <= 0xe01ef:
			t.Errorf("%s: U+%04X is printed raw: %q", what, r, output)
			return
		}
	}
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "airlock: all is well") {
			t.Errorf("%s: a line is forged: %q", what, output)
		}
	}
}

func TestDocumentsStayTheSame(t *testing.T) {
	t.Parallel()
	for _, text := range []string{steering[:strings.IndexByte(steering, 0xff)], "plain",
		"ünï \U0001f469\u200d\U0001f4bb \u26a0\ufe0f", `\ " /`, "\x00"} {
		var out bytes.Buffer
		want := map[string]string{text: text}
		if err := json.NewEncoder(JSON(newTextWriter(&out))).Encode(want); err != nil {
			t.Fatal(err)
		}
		noSteering(t, text, out.String())
		var got map[string]string
		if err := json.Unmarshal(out.Bytes(), &got); err != nil ||
			got[strings.ToValidUTF8(text, "\ufffd")] != strings.ToValidUTF8(text, "\ufffd") {
			t.Errorf("%q reads back as %q: %v", text, got, err)
		}
	}
}

func TestTextWriter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ given, want string }{
		"plain text":               {"grüße, 世界 \u26a0\ufe0f\n\tdone\n", "grüße, 世界 \u26a0\ufe0f\n\tdone\n"},
		"escape sequences":         {"\x1b[2J", `\u{1b}[2J`},
		"C1":                       {"\u009b", `\u{9b}`},
		"bidirectional controls":   {"a\u202eb", `a\u{202e}b`},
		"a byte that is no letter": {"a\xffb", `a\xffb`},
		"half a letter":            {"a\xe4\xb8", `a\xe4\xb8`},
		"a colour of somebody":     {"\x00ABC31mred", `\u{0}ABC31mred`},
	} {
		for size := 1; size <= len(c.given)+1; size++ {
			var out bytes.Buffer
			w := newTextWriter(&out)
			for rest := c.given; rest != ""; {
				n := min(size, len(rest))
				if written, err := io.WriteString(w, rest[:n]); err != nil || written != n {
					t.Fatal(written, err)
				}
				rest = rest[n:]
			}
			w.flush()
			if out.String() != c.want {
				t.Errorf("%s in pieces of %d: %q, want %q", name, size, out.String(), c.want)
			}
		}
	}
}

func TestLogsAreEscaped(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(newTextWriter(&out), nil))
	log.Info(steering, steering, steering, "error", fmt.Errorf("%s", steering), "bytes", []byte(steering), "del", "\x7f")
	noSteering(t, "a log line", out.String())
	if strings.Count(out.String(), "\n") != 1 {
		t.Errorf("one entry takes several lines: %q", out.String())
	}
}

func FuzzTextWriter(f *testing.F) {
	f.Add([]byte(steering), 3)
	f.Add([]byte("\x00\xe4\xb8\xad"), 1)
	f.Fuzz(func(t *testing.T, text []byte, at int) {
		var whole, parts bytes.Buffer
		w, v := newTextWriter(&whole), newTextWriter(&parts)
		at = max(0, min(at, len(text)))
		for _, part := range [][]byte{text[:at], text[at:]} {
			if _, err := v.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		w.flush()
		v.flush()
		if whole.String() != parts.String() || !utf8.ValidString(whole.String()) ||
			strings.ContainsFunc(whole.String(), unprintable) {
			t.Errorf("%q is %q, in parts %q", text, whole.String(), parts.String())
		}
	})
}
