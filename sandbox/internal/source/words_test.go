package source

import (
	"fmt"
	"strings"
	"testing"
)

// What a message is looked for in is counted as work, also the text before the code around the error.
func TestWorkOfWords(t *testing.T) {
	t.Parallel()
	far := strings.Repeat("// far away\n", 1000)
	for _, c := range []struct{ name, before, line, head, want string }{
		{"the class of a receiver", "class Early { #p }\n", "early.p()", "TypeError: invalid brand on object",
			"Receiver must be an instance of class Early"},
		{"the class of a variable", "const it = Object.freeze(new Late())\n", "it.x = 1", "TypeError: no setter for property",
			"Cannot set property x of #<Late> which has only a getter"},
		{"another variable", "const with_it = new Wrong(), it = new Late()\n", "it.x = 1",
			"TypeError: no setter for property", "Cannot set property x of #<Late> which has only a getter"},
		{"the elements of an array", "const list = Object.freeze([1, 2])\n", "list.push(3)",
			"TypeError: object is not extensible", "Cannot add property 2, object is not extensible"},
	} {
		for distance, text := range map[string]string{"near": "", "far": far[:maxPrior-1<<10]} {
			s := &Source{Text: c.before + text[:strings.LastIndexByte(text, '\n')+1] + c.line}
			line, native, column := strings.Count(s.Text, "\n")+1, "", 1
			if strings.Contains(c.line, "push") {
				native, column = "    at push (native)\n", strings.Index(c.line, "push")+1
			}
			frames := fmt.Sprintf("%s    at f (script.js:%d:%d)", native, line, column)
			message, work, ok := s.Word(c.head, frames)
			if !ok || message != c.want {
				t.Errorf("%s, %s: %q, want %q", c.name, distance, message, c.want)
			}
			if work < len(s.Text) {
				t.Errorf("%s, %s: %d bytes of work for a text of %d", c.name, distance, work, len(s.Text))
			}
		}
	}
}
