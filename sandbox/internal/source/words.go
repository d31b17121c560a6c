package source

import (
	"cmp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/airlock-run/airlock/sandbox/internal/lazyregexp"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/internal/wording"
)

// around bounds the code that is read before and after a position, in bytes.
const around = 512

// parseWork is what esbuild's parser costs for the shortest code.
const parseWork = 1 << 16

const (
	nativeFrame   = " (native)" // ends the frame of a native function
	evaluatedFile = "<input>:"  // begins the position in code that the program evaluates
)

// Word returns the message that V8 gives an error whose name and message are head and whose frames are frames, if the
// engine words it otherwise. work is the bytes that it read.
func (s *Source) Word(head, frames string) (message string, work int, ok bool) {
	name, message, ok := strings.Cut(head, ": ")
	if !ok {
		return "", 0, false
	}
	var place wording.Place
	first, rest, _ := strings.Cut(frames, "\n")
	evaluated := name == "SyntaxError" && strings.HasPrefix(first, framePrefix+evaluatedFile)
	if evaluated {
		first, rest, _ = strings.Cut(rest, "\n")
	}
	if native, ok := strings.CutSuffix(first, nativeFrame); ok {
		place.Native = strings.TrimPrefix(native, framePrefix)
		first, rest, _ = strings.Cut(rest, "\n")
		if first == framePrefix+"call"+nativeFrame || first == framePrefix+"apply"+nativeFrame {
			place.Borrowed = true
			first, _, _ = strings.Cut(rest, "\n")
		}
	}
	place.Caller, _, _ = strings.Cut(strings.TrimPrefix(first, framePrefix), " (")
	if file, line, col, ok := frameAt(first); ok && file == quickjs.ScriptName {
		place.Code, place.At = s.near(line, col)
		place.Prior = s.prior(line)
	}
	worded, work, ok := wording.Message(name, message, place)
	work += len(first)
	if evaluated {
		if code, known := wording.Evaluated(place); known && !tooDeep(code) {
			work += parseWork + 64*len(code)
			if said := ofEvaluated(message, cmp.Or(worded, message), code); said != message {
				return said, work, true
			}
		}
	}
	return worded, work, ok
}

// ofEvaluated returns V8's message for an error that the engine found in code which the program evaluates, where worded
// is what the engine's message alone tells.
func ofEvaluated(message, worded, code string) string {
	out := api.Transform(code,
		api.TransformOptions{Loader: api.LoaderJS, Target: api.ESNext, LogLevel: api.LogLevelSilent})
	if importing.MatchString(code) {
		return "Cannot use import statement outside a module"
	}
	if len(out.Errors) == 0 && strings.HasPrefix(message, "expecting ") && strings.Contains(code, "await") {
		return wording.Misplaced
	}
	if len(out.Errors) == 0 || out.Errors[0].Location == nil {
		return worded
	}
	found := out.Errors[0]
	lines, at := strings.Split(code, "\n"), found.Location.Column
	for _, line := range lines[:min(found.Location.Line-1, len(lines))] {
		at += len(line) + 1
	}
	at = min(at, len(code))
	said := wording.Syntax(message, found.Text, code, at, strings.TrimSpace(code[at:]) == "")
	if said == message {
		return worded
	}
	return said
}

// importing matches code that begins with an import of a module.
var importing = lazyregexp.New(`^\s*import\b\s*[\pL_${*"']`)

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
