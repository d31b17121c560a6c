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
		r.source.locate(r.result.Exception)
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
	r.source.locate(ex)
	r.failed, r.result.Exception, r.result.Error = true, ex, oneLine(ex)
	return errThrown
}

// exception puts what the engine reported into the caller's own source.
func (s *source) exception(name, message, stack string) *Exception {
	ex := &Exception{Name: name, Message: message}
	var out []string
	for line := range strings.Lines(stack) {
		frame, ok := s.frame(strings.TrimRight(line, "\n"), ex)
		if ok {
			out = append(out, frame)
		}
	}
	ex.Stack = strings.Join(out, "\n")
	return ex
}

// frame maps one line of a stack to the caller's source, and drops lines that are not the caller's. The first frame
// with a position gives the exception its own.
func (s *source) frame(line string, ex *Exception) (string, bool) {
	if strings.Contains(line, "airlock:") || strings.Contains(line, "(native)") {
		return "", false
	}
	i := strings.LastIndex(line, quickjs.ScriptName+":")
	if i < 0 {
		return line, strings.TrimSpace(line) != ""
	}
	rest := strings.TrimSuffix(line[i+len(quickjs.ScriptName)+1:], ")")
	l, c, ok := strings.Cut(rest, ":")
	ln, err1 := strconv.Atoi(l)
	col, err2 := strconv.Atoi(c)
	if !ok || err1 != nil || err2 != nil {
		return line, true
	}
	file, ln, col, ok := s.origin(ln, col)
	if !ok {
		return "", false
	}
	if ex.Line == 0 {
		ex.File, ex.Line, ex.Column = file, ln, col
	}
	tail := line[i+len(quickjs.ScriptName)+1+len(rest):]
	return line[:i] + file + ":" + strconv.Itoa(ln) + ":" + strconv.Itoa(col) + tail, true
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
