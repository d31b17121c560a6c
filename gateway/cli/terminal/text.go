package terminal

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
)

// A textWriter writes a command's text for people. It escapes everything that could steer a terminal, reorder a line
// or hide: control, bidirectional and invisible characters as \u{…}, bytes that are not UTF-8 as \x… . Line ends and
// tabs stay, and so do this program's own colours, which [Console.Paint] marks. It is safe for concurrent use.
type textWriter struct {
	to io.Writer
	// json uses the escapes of JSON, so that a document keeps its meaning.
	json bool
	// colour marks a colour of this program. It is random, so that no text contains it.
	colour string

	mu   sync.Mutex
	rest []byte // the first bytes of an incomplete character
}

func newTextWriter(to io.Writer) *textWriter {
	return &textWriter{to: to, colour: "\x00" + rand.Text()}
}

// Exact returns the writer below a console's output, for machine formats and for what a guest prints into a pipe.
func Exact(w io.Writer) io.Writer {
	if t, ok := w.(*textWriter); ok {
		return t.to
	}
	return w
}

// JSON returns a writer that escapes JSON where text would be escaped.
func JSON(w io.Writer) io.Writer { return &textWriter{to: Exact(w), json: true} }

// IsTerminal reports whether a reader or writer is a terminal.
func IsTerminal(w any) bool {
	if t, ok := w.(*textWriter); ok {
		w = t.to
	}
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// Write implements io.Writer.
func (t *textWriter) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := append(t.rest, b...)
	whole := len(text)
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if start := len(text) - n; utf8.RuneStart(text[start]) {
			if !utf8.FullRune(text[start:]) {
				whole = start
			}
			break
		}
	}
	out := t.escaped(string(text[:whole]))
	t.rest = append([]byte(nil), text[whole:]...)
	if _, err := io.WriteString(t.to, out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// flush writes the bytes of a character that never became complete.
func (t *textWriter) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.escaped(string(t.rest))
	t.rest = nil
	_, _ = io.WriteString(t.to, out) // nothing is left to report a failure to
}

func (t *textWriter) escaped(text string) string {
	if !strings.ContainsFunc(text, unprintable) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		if code, rest, ok := t.ownColour(text); ok {
			b.WriteString("\x1b[" + code + "m")
			text = rest
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1 && t.json:
			b.WriteString(`\ufffd`)
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case !unprintable(r):
			b.WriteRune(r)
		case t.json && r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		case t.json:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		text = text[size:]
	}
	return b.String()
}

// ownColour cuts a colour of this program off the front of text.
func (t *textWriter) ownColour(text string) (code, rest string, ok bool) {
	if t.colour == "" {
		return "", text, false
	}
	if rest, ok = strings.CutPrefix(text, t.colour); !ok {
		return "", text, false
	}
	return strings.Cut(rest, "m")
}

// unprintable reports whether a character is escaped: it is not printable, or it prints as nothing. Variation
// selectors, as emoji use them, stay.
func unprintable(r rune) bool {
	switch r {
	case '\n', '\t':
		return false
	case '\ufe0e', '\ufe0f':
		return false
	}
	return !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// OneLine returns text for use within a line: quoted and escaped if it would end the line or needs escapes.
func OneLine(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return unprintable(r) || r == '\n' || r == '\t' }) ||
		!utf8.ValidString(text) {
		return inQuotes(text)
	}
	return text
}

// inQuotes returns text as strconv.Quote does, with invisible characters escaped.
func inQuotes(text string) string {
	var b strings.Builder
	(&textWriter{to: &b}).quote(text)
	return b.String()
}

// quote writes text in quotes.
func (t *textWriter) quote(text string) {
	text = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(text)
	_, _ = io.WriteString(t.to, `"`+t.escaped(text)+`"`) // a strings.Builder never fails
}

// ErrorLines returns the text of an error, one line per joined error. A line end within one error is escaped, unless
// the error is of type [Lines].
func ErrorLines(err error) []string {
	text := err.Error()
	if report, ok := err.(Lines); ok {
		return strings.Split(string(report), "\n")
	}
	switch wrapped := err.(type) {
	case interface{ Unwrap() error }:
		if inner := wrapped.Unwrap(); inner != nil && inner.Error() == text {
			return ErrorLines(inner)
		}
	case interface{ Unwrap() []error }:
		var lines, texts []string
		for _, inner := range wrapped.Unwrap() {
			lines, texts = append(lines, ErrorLines(inner)...), append(texts, inner.Error())
		}
		if strings.Join(texts, "\n") == text {
			return lines
		}
	}
	return []string{strings.ReplaceAll(text, "\n", `\n`)}
}

// Lines is an error of several lines, such as a guest's error with its stack.
type Lines string

func (l Lines) Error() string { return string(l) }
