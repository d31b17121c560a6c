package sandbox

import (
	"errors"
	"strconv"
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// errThrown says that the code threw; the result already has what.
var errThrown = errors.New("the code threw")

// thrown reports an exception that reached the host by itself: code that does not compile, or a library function that
// ran out of stack.
func (r *run) thrown(in *quickjs.Instance, v quickjs.Value) error {
	if r.failed {
		return errThrown
	}
	r.failed = true
	name, message, stack, err := in.Describe(v, maxErrorText)
	if err != nil {
		return err
	}
	r.result.Exception = r.source.exception(name, message, stack)
	if !r.running && name == "SyntaxError" {
		if err := r.locate(); err != nil {
			return err
		}
	}
	r.result.Error = oneLine(r.result.Exception)
	if in.IsStackOverflow(v) {
		r.result.Limit = LimitStack
	}
	return errThrown
}

// escaping refuses code that closes the function around it and goes on outside.
func (r *run) escaping() error {
	ex := &Exception{Name: "SyntaxError", Message: "the code closes the function that it is the body of", Line: 1 + r.source.skipped, Column: 1}
	r.failed, r.result.Exception = true, ex
	if err := r.locate(); err != nil {
		return err
	}
	r.result.Error = oneLine(r.result.Exception)
	return errThrown
}

// locate gives the syntax error in the result its position, within the limits of the run.
func (r *run) locate() error {
	source, ex := r.source, *r.result.Exception
	located, err := prepare(r, func() Exception {
		source.locate(&ex)
		return ex
	})
	if err == nil {
		r.result.Exception = &located
	}
	return err
}

// exception is what was thrown. stack is what trace made of the frames, behind a name and a message, unless the code has put
// something else there. The first frame of the caller's own gives the exception its position.
func (s *source) exception(name, message, stack string) *Exception {
	ex := &Exception{Name: name, Message: message, Stack: framesOf(name, message, stack)}
	for line := range strings.Lines(ex.Stack) {
		if file, l, c, ok := frameAt(line); ok && s.has(file) {
			ex.File, ex.Line, ex.Column = file, l, c
			break
		}
	}
	return ex
}

// framesOf is stack without what stands in front of the frames. What has no frames is kept as it is.
func framesOf(name, message, stack string) string {
	stack = strings.TrimRight(stack, "\n")
	if rest, ok := strings.CutPrefix(stack, name+": "+message); ok {
		stack = rest
	} else if stack == name && message == "" {
		return ""
	}
	if i := strings.Index("\n"+stack, "\n"+framePrefix); i >= 0 {
		return stack[i:]
	}
	return strings.TrimLeft(stack, "\n")
}

const (
	framePrefix = "    at "
	bundledName = "script_default" // what esbuild calls the script among other modules
)

// frameAt reads where a frame, "    at name (file:line:column)" or "    at file:line:column", stands.
func frameAt(frame string) (file string, line, col int, ok bool) {
	text, ok := strings.CutPrefix(strings.TrimRight(frame, "\n"), framePrefix)
	if !ok {
		return "", 0, 0, false
	}
	if i := strings.LastIndex(text, " ("); i >= 0 {
		text = text[i+2:]
	}
	text = strings.TrimSuffix(text, ")")
	rest, c, ok1 := cutLast(text)
	file, l, ok2 := cutLast(rest)
	line, err1 := strconv.Atoi(l)
	col, err2 := strconv.Atoi(c)
	return file, line, col, ok1 && ok2 && err1 == nil && err2 == nil
}

// cutLast cuts s at its last colon.
func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// has tells whether file is one of the caller's.
func (s *source) has(file string) bool {
	return file == s.name || s.bundle != nil && !strings.HasPrefix(file, "<")
}

// trace puts the frames that the engine lists into the caller's own source, with a line break before each, and drops those
// that are not the caller's. work is what that took, in bytes looked at.
func (s *source) trace(frames string) (text string, work int) {
	var out strings.Builder
	for line := range strings.Lines(frames) {
		if frame, looked, ok := s.frame(strings.TrimRight(line, "\n")); ok {
			out.WriteByte('\n')
			out.WriteString(frame)
			work += looked
		}
	}
	return out.String(), work + len(frames)
}

// frame is trace for one frame.
func (s *source) frame(line string) (frame string, work int, ok bool) {
	if strings.Contains(line, "airlock:") || strings.HasSuffix(line, "(native)") || strings.HasPrefix(line, framePrefix+"<input>:") {
		return "", 0, false
	}
	file, l, c, ok := frameAt(line)
	if !ok || file != quickjs.ScriptName {
		return line, 0, strings.TrimSpace(line) != ""
	}
	line = strings.Replace(line, framePrefix+bundledName+" (", framePrefix+"<anonymous> (", 1)
	at := strings.LastIndex(line, quickjs.ScriptName)
	if file, l, c, ok = s.origin(l, c); !ok {
		return "", 0, false
	}
	tail := ""
	if strings.HasSuffix(line, ")") {
		tail = ")"
	}
	return line[:at] + file + ":" + strconv.Itoa(l) + ":" + strconv.Itoa(c) + tail, c, true
}

// oneLine is the exception as Result.Error has it.
func oneLine(ex *Exception) string {
	message, _, _ := strings.Cut(ex.Message, "\n")
	switch {
	case ex.Name == "":
		return message
	case message == "":
		return ex.Name
	default:
		return ex.Name + ": " + message
	}
}
