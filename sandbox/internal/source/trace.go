package source

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/internal/wording"
)

// Exception returns what was thrown. stack is what Trace made of the frames, behind a name and a message, unless the
// code has replaced it. The position is that of the first frame in the caller's code.
func (s *Source) Exception(name, message, stack string) *Exception {
	ex := &Exception{Name: name, Message: message, Stack: framesOf(name, message, stack)}
	for line := range strings.Lines(ex.Stack) {
		if file, l, c, ok := frameAt(line); ok && s.has(file) {
			ex.File, ex.Line, ex.Column = file, l, c
			break
		}
	}
	return ex
}

// framesOf returns stack without what precedes the frames. It returns a stack without frames as it is.
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

// frameAt parses a frame, "    at name (file:line:column)" or "    at file:line:column".
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

// has reports whether file is one of the caller's.
func (s *Source) has(file string) bool {
	return file == s.name || s.bundle != nil && !strings.HasPrefix(file, "<")
}

// Trace translates the frames that the engine lists to the caller's source, with a line break before each, and drops
// those that are not the caller's. work is the bytes that it read.
func (s *Source) Trace(frames string) (text string, work int) {
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

// isOwn reports whether a frame is of a function in the head of a script.
func isOwn(line string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(line, framePrefix), " (")
	return name == namedFunction || name == namespaceFunction || name == loadFunction
}

// frame translates one frame.
func (s *Source) frame(line string) (frame string, work int, ok bool) {
	if strings.Contains(line, "airlock:") || strings.HasSuffix(line, "(native)") ||
		isOwn(line) ||
		strings.HasPrefix(line, framePrefix+"<input>:") {
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

// OneLine returns the name and the first line of the message of an exception.
func OneLine(ex *Exception) string {
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

// FrameStart returns where the frames begin in a stack that the engine has made, in bytes. It returns -1 for a stack
// that the guest has set.
func (s *Source) FrameStart(stack string) int {
	at := strings.Index(stack, "\n"+framePrefix)
	if at < 0 {
		return -1
	}
	frame, _, _ := strings.Cut(stack[at+1:], "\n")
	if file, _, _, ok := frameAt(frame); !ok || !s.has(file) {
		return -1
	}
	return at
}

// TraceOtherEngine returns the stack of an error of another engine in the caller's source. V8 writes stacks as QuickJS
// does, but counts columns in UTF-16 units.
func (s *Source) TraceOtherEngine(stack string) string {
	at := strings.Index("\n"+stack, "\n"+framePrefix)
	if at < 0 {
		return stack
	}
	frames, _ := s.Trace(s.units(stack[at:]))
	return strings.TrimSuffix(stack[:at], "\n") + frames
}

// units returns stack with the columns of the text counted in bytes, as QuickJS counts them, where another engine has
// counted UTF-16 units.
func (s *Source) units(stack string) string {
	var out strings.Builder
	for line := range strings.Lines(stack) {
		if file, l, c, ok := frameAt(line); ok && file == quickjs.ScriptName && s.bundle == nil {
			lines := s.compiledLines.of(s.Text)
			old := quickjs.ScriptName + ":" + strconv.Itoa(l) + ":" + strconv.Itoa(c)
			if l >= 1 && l <= len(lines) {
				c = bytesBefore(s.Text[lines[l-1]:], c-1) + 1
			}
			if l == 1 {
				c-- // QuickJS counts columns of the first line from 0
			}
			line = strings.Replace(line, old, quickjs.ScriptName+":"+strconv.Itoa(l)+":"+strconv.Itoa(c), 1)
		}
		out.WriteString(line)
	}
	return out.String()
}

// bytesBefore returns the length of the first n UTF-16 units of text in bytes.
func bytesBefore(text string, n int) int {
	for i, r := range text {
		if n <= 0 {
			return i
		}
		n -= utf16.RuneLen(r)
	}
	return len(text)
}

// Doubt returns text that does not compile if the code closes the function around it and opens another, and "" for
// code that cannot do that.
func (s *Source) Doubt() string {
	if !s.doubtful {
		return ""
	}
	return otherHead + s.code + otherTail
}

// maxCall bounds the text of a call that Call returns, and how far in front of the position it begins, in bytes.
const maxCall = 4 << 10

// Call returns the call at the position of a frame that Trace returned, as the caller wrote it. Lines after the first
// lose the indentation that the call has. text is "" if it cannot be read. work is the bytes that were read.
func (s *Source) Call(frame string) (text string, work int) {
	file, line, col, ok := frameAt(frame)
	if !ok {
		return "", 0
	}
	code := s.given
	if file != s.name {
		if s.bundle == nil {
			return "", 0
		}
		code = string(s.bundle.files[file])
	}
	rest, at := lineOf(code, line), 0
	for ; col > 1 && at < len(rest); col-- {
		_, n := utf8.DecodeRuneInString(rest[at:])
		at += n
	}
	text, column := callAt(rest, at)
	return dedent(text, column), len(code) - len(rest) + at + len(text)
}

// callAt returns the call whose callee's last name is at an offset of code, and where it starts. Code begins with a
// line.
func callAt(code string, at int) (text string, from int) {
	end := at
	for end < len(code) && wording.IsName(code[end]) {
		end++
	}
	if from = at; end == at {
		return "", 0
	}
	for near := max(at-maxCall, 0); ; { // the objects that the name is a member of
		head := strings.TrimRight(code[near:from], " \t")
		if !strings.HasSuffix(head, ".") {
			break
		}
		head = strings.TrimSuffix(strings.TrimSuffix(head, "."), "?")
		for {
			start, part := wording.Before(head)
			if part == "" {
				return "", 0
			}
			member := strings.HasSuffix(head, ")") || strings.HasSuffix(head, "]")
			if head = head[:start]; !member || head == "" ||
				!wording.IsName(head[len(head)-1]) && head[len(head)-1] != ')' && head[len(head)-1] != ']' {
				break
			}
		}
		from = near + len(head)
	}
	n := nesting{code: code[at:min(at+maxCall, len(code))], at: end - at, levels: make([]level, 1, 8), last: classWord}
	for n.at < len(n.code) && len(n.levels) <= maxNesting {
		opened := len(n.levels) > 1
		if n.step(); opened && len(n.levels) == 1 {
			return code[from : at+n.at], from
		}
		if c := n.code[n.at-1]; !opened && len(n.levels) == 1 && c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return "", 0 // no call
		}
	}
	return "", 0
}

// dedent removes up to n spaces and tabs in front of each line of text but the first.
func dedent(text string, n int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines[1:] {
		cut := 0
		for cut < min(n, len(line)) && (line[cut] == ' ' || line[cut] == '\t') {
			cut++
		}
		lines[i+1] = line[cut:]
	}
	return strings.Join(lines, "\n")
}
