package main

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

// textWriter is where a command writes text for people. What could steer a terminal, reorder a line or hide is written as an
// escape, whoever it comes from: control characters, bidirectional and invisible characters as \u{…}, bytes that are not
// UTF-8 as \x… . Line ends and tabs stay. Only this program's own colours pass, as [console.paint] marks them. It is safe
// for concurrent use.
type textWriter struct {
	to io.Writer
	// json writes JSON's escapes, so that a document stays the same to who reads it.
	json bool
	// colour precedes a colour of this program. No text holds it: it is drawn anew for each run.
	colour string

	mu   sync.Mutex
	rest []byte // the beginning of a character, whose end is still to come
}

func newTextWriter(to io.Writer) *textWriter {
	return &textWriter{to: to, colour: "\x00" + rand.Text()}
}

// exact returns the writer under a textWriter, for formats of machines and for what a guest prints into a pipe.
func exact(w io.Writer) io.Writer {
	if t, ok := w.(*textWriter); ok {
		return t.to
	}
	return w
}

// jsonOutput returns a writer for JSON. Its strings are escaped where they would be in text.
func jsonOutput(w io.Writer) io.Writer { return &textWriter{to: exact(w), json: true} }

// terminal reports whether a reader or writer is a terminal.
func terminal(w any) bool {
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

// flush writes what is left of a character that never ended.
func (t *textWriter) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.escaped(string(t.rest))
	t.rest = nil
	_, _ = io.WriteString(t.to, out) // there is nowhere left to say that this failed
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

// ownColour takes a colour of this program off the front of text.
func (t *textWriter) ownColour(text string) (code, rest string, ok bool) {
	if t.colour == "" {
		return "", text, false
	}
	if rest, ok = strings.CutPrefix(text, t.colour); !ok {
		return "", text, false
	}
	return strings.Cut(rest, "m")
}

// unprintable reports whether a character is escaped: one that is not printed, or prints as nothing. Selectors of a character's
// variant, as emoji have them, stay.
func unprintable(r rune) bool {
	switch r {
	case '\n', '\t':
		return false
	case '\ufe0e', '\ufe0f':
		return false
	}
	return !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// oneLine returns text for a place in a line: with quotes and escapes where it would end the line or need escapes.
func oneLine(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return unprintable(r) || r == '\n' || r == '\t' }) || !utf8.ValidString(text) {
		return inQuotes(text)
	}
	return text
}

// inQuotes is strconv.Quote for text whose invisible characters are to be seen.
func inQuotes(text string) string {
	var b strings.Builder
	(&textWriter{to: &b}).quote(text)
	return b.String()
}

// quote writes text in quotes.
func (t *textWriter) quote(text string) {
	text = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(text)
	_, _ = io.WriteString(t.to, `"`+t.escaped(text)+`"`) // a strings.Builder takes everything
}

// errorLines returns what an error says, a line for each error that was joined. What stands in one error begins no line of
// its own, unless the error is a report of several lines.
func errorLines(err error) []string {
	text := err.Error()
	if report, ok := err.(lined); ok {
		return strings.Split(string(report), "\n")
	}
	switch wrapped := err.(type) {
	case interface{ Unwrap() error }:
		if inner := wrapped.Unwrap(); inner != nil && inner.Error() == text {
			return errorLines(inner)
		}
	case interface{ Unwrap() []error }:
		var lines, texts []string
		for _, inner := range wrapped.Unwrap() {
			lines, texts = append(lines, errorLines(inner)...), append(texts, inner.Error())
		}
		if strings.Join(texts, "\n") == text {
			return lines
		}
	}
	return []string{strings.ReplaceAll(text, "\n", `\n`)}
}

// lined is an error that has several lines, such as a guest's with its stack.
type lined string

func (l lined) Error() string { return string(l) }
