package source

import (
	"strings"
	"unicode/utf8"

	"github.com/airlock-run/airlock/sandbox/internal/wording"
)

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
