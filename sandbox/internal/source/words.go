package source

import (
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/internal/wording"
)

// around bounds the code that is read before and after a position, in bytes.
const around = 512

// Word returns the message that V8 gives an error whose name and message are head and whose frames are frames, if the
// engine words it otherwise. work is the bytes that it read.
func (s *Source) Word(head, frames string) (message string, work int, ok bool) {
	name, message, ok := strings.Cut(head, ": ")
	if !ok {
		return "", 0, false
	}
	var place wording.Place
	first, rest, _ := strings.Cut(frames, "\n")
	if native, ok := strings.CutSuffix(first, " (native)"); ok {
		place.Native = strings.TrimPrefix(native, framePrefix)
		first, _, _ = strings.Cut(rest, "\n")
	}
	if file, line, col, ok := frameAt(first); ok && file == quickjs.ScriptName {
		place.Caller, _, _ = strings.Cut(strings.TrimPrefix(first, framePrefix), " (")
		place.Code, place.At = s.near(line, col)
		place.Prior = s.prior(line)
	}
	message, work, ok = wording.Message(name, message, place)
	return message, len(first) + work, ok
}

// near returns the compiled text around a position as the engine counts it, and the position in that text.
func (s *Source) near(line, col int) (code string, at int) {
	lines := s.compiledLines.of(s.Text)
	if line < 1 || line > len(lines) {
		return "", 0
	}
	at = lines[line-1] + max(col-1, 0)
	if line == 1 {
		at++ // the engine counts columns of the first line from 0
	}
	if at >= len(s.Text) {
		return "", 0
	}
	from := max(at-around, 0)
	return s.Text[from:min(at+around, len(s.Text))], at - from
}

// maxPrior bounds the text before a line in which the class is looked for, in bytes.
const maxPrior = 8 << 10

// prior returns the compiled text before a line.
func (s *Source) prior(line int) string {
	lines := s.compiledLines.of(s.Text)
	if line < 1 || line > len(lines) {
		return ""
	}
	end := min(lines[line-1], len(s.Text))
	return s.Text[max(end-maxPrior, 0):end]
}
