package source

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// The parsers and printers that prepare code recurse, and a Go stack that outgrows its bound takes the process with it.
// nesting is the linear pass in front of them. It estimates how deep they would recurse from the tokens alone:
// brackets, and nesting without brackets, such as "new new", "a.b.c", "if (a) if (b)" and "A<B<C". Where a token is
// ambiguous it guesses; the watch in prepare.go of package sandbox catches what the guess misses.
const (
	maxNesting = 500   // brackets that are open at once
	maxChain   = 3_000 // brackets, and everything else that nests
)

// tooDeep reports whether code nests deeper than the parsers may go.
func tooDeep(code string) bool {
	_, deep := nestingOf(code)
	return deep
}

// refuseDeep returns the error for code that nests too deeply, or nil. what completes the sentence.
func refuseDeep(code, what string) *Exception {
	at, deep := nestingOf(code)
	if !deep {
		return nil
	}
	line, col := lineColumn(code, at)
	return &Exception{
		Name: "SyntaxError",
		Message: fmt.Sprintf("the code is nested too deeply%s: more than %d brackets or %d levels",
			what, maxNesting, maxChain),
		Line: line, Column: utf8.RuneCountInString(code[at-col+1:at]) + 1,
	}
}

// nestingOf returns the first offset at which code nests too deeply.
func nestingOf(code string) (at int, deep bool) {
	if len(code) <= maxNesting {
		return 0, false
	}
	n := nesting{code: code, levels: make([]level, 1, 32)}
	for n.at < len(code) {
		n.step()
		if len(n.levels) > maxNesting+1 || n.depth > maxChain {
			return min(n.at, len(code)-1), true
		}
	}
	return 0, false
}

// tokenClass is what the pass knows about a token.
type tokenClass uint8

const (
	classNone     tokenClass = iota
	classOperator            // an operand is expected next
	classPrefix              // a word after which the statement continues: new, typeof, else, …
	classWord                // any other word, and numbers
	classLiteral
	classClose // ) or ]
	classBrace // }
	classHead  // the ) of if, for, while or with
	classComma
	classSemicolon
)

// level is one open bracket.
type level struct {
	bracket byte // ( [ { or ` for the hole of a template
	head    bool // it opens the head of if, for, while or with
	// The nesting inside it without brackets. A comma ends that of expression, the end of a statement both.
	statement, expression int
	angles                int // how many of statement are <
}

type nesting struct {
	code   string
	at     int
	levels []level
	depth  int // brackets and what nests in all levels

	last, before tokenClass // the last token and the one before it
	control      bool       // the last token is if, for, while or with
	dotted       bool       // the last token is a dot
	fresh        bool       // a line break follows the last token
}

func (n *nesting) top() *level { return &n.levels[len(n.levels)-1] }

func (n *nesting) nest()      { n.top().expression++; n.depth++ }
func (n *nesting) nestUntil() { n.top().statement++; n.depth++ } // the end of the statement

// ended reports whether the last token can end an operand.
func (n *nesting) ended() bool {
	switch n.last {
	case classWord, classLiteral, classClose, classBrace:
		return true
	}
	return false
}

// token records the class of the token that ends before at.
func (n *nesting) token(class tokenClass) {
	n.before, n.last = n.last, class
	n.control, n.dotted, n.fresh = false, false, false
}

// endStatement resets the nesting of the statement before.
func (n *nesting) endStatement() {
	top := n.top()
	n.depth -= top.statement + top.expression
	top.statement, top.expression, top.angles = 0, 0, 0
}

// begin ends the statement before a token that can begin one, after a semicolon, a closing brace or a line break.
func (n *nesting) begin(word string) {
	switch word {
	case "else", "in", "instanceof", "of", "as", "satisfies", "extends", "implements", "from", "catch", "finally":
		return
	}
	if n.last == classSemicolon || n.last == classBrace && word != "" || n.fresh && n.ended() {
		n.endStatement()
	}
}

// step reads one token, or space, or a comment.
func (n *nesting) step() {
	c := n.code[n.at]
	if n.last == classSemicolon && c > ' ' && c != '/' && !wordByte(c) {
		n.endStatement()
	}
	switch {
	case c == '\n' || c == '\r':
		n.fresh = true
		n.at++
	case c == ' ' || c == '\t' || c == '\v' || c == '\f':
		n.at++
	case c == '"' || c == '\'':
		n.begin("")
		n.quoted(c)
		n.token(classLiteral)
	case c == '`':
		if n.ended() {
			n.nest()
		}
		n.at++
		n.template()
	case c == '/':
		n.slash()
	case c < utf8.RuneSelf && !wordByte(c):
		n.punctuator(c)
	default:
		n.word()
	}
}

func wordByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c >= utf8.RuneSelf ||
		c == '_' || c == '$' || c == '#' || c == '\\'
}

// word reads a name, a keyword or a number, or space beyond ASCII.
func (n *nesting) word() {
	from, number := n.at, '0' <= n.code[n.at] && n.code[n.at] <= '9'
	for n.at < len(n.code) {
		c := n.code[n.at]
		if c|0x20 >= 'a' && c|0x20 <= 'z' {
			n.at++
			continue
		}
		if !wordByte(c) {
			break
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(n.code[n.at:])
			if r == '\u2028' || r == '\u2029' || r == '\ufeff' || unicode.IsSpace(r) {
				if n.at == from {
					n.at += size
					n.fresh = n.fresh || r == '\u2028' || r == '\u2029'
					return
				}
				break
			}
			n.at += size
			continue
		}
		n.at++
		if number && n.at+1 < len(n.code) && n.code[n.at] == '.' && '0' <= n.code[n.at+1] && n.code[n.at+1] <= '9' {
			n.at++
		}
	}
	text := n.code[from:n.at]
	n.begin(text)
	if (n.last == classWord || n.last == classPrefix) && !n.dotted {
		n.nest()
	}
	class, control := classWord, false
	if !number && !n.dotted {
		class, control = n.keyword(text)
	}
	n.token(class)
	n.control = control
}

// keyword returns the class of a word that is not the name of a property.
func (n *nesting) keyword(text string) (class tokenClass, control bool) {
	switch text {
	case "if", "for", "while", "with":
		n.nestUntil()
		return classPrefix, true
	case "do", "else", "try", "finally":
		n.nestUntil()
		return classPrefix, false
	case "await": // for await (
		return classPrefix, n.control
	case "new", "typeof", "void", "delete", "yield", "async", "return", "throw", "case", "default", "in", "of",
		"instanceof", "as", "satisfies", "extends", "implements", "keyof", "infer", "readonly", "unique", "asserts",
		"is", "abstract", "declare", "export", "import", "static", "get", "set", "let", "const", "var", "function",
		"class", "namespace", "module", "enum", "type", "interface", "public", "private", "protected", "override",
		"accessor":
		return classPrefix, false
	}
	return classWord, false
}

// quoted reads a string. One that is not closed ends with its line.
func (n *nesting) quoted(quote byte) {
	for n.at++; n.at < len(n.code); n.at++ {
		switch n.code[n.at] {
		case '\\':
			n.at++
		case '\n':
			return
		case quote:
			n.at++
			return
		}
	}
}

// template reads the text of a template, to its end or to the next hole.
func (n *nesting) template() {
	for ; n.at < len(n.code); n.at++ {
		switch n.code[n.at] {
		case '\\':
			n.at++
		case '`':
			n.at++
			n.token(classLiteral)
			return
		case '$':
			if n.at+1 < len(n.code) && n.code[n.at+1] == '{' {
				n.at += 2
				n.open('`')
				return
			}
		}
	}
}

// slash reads a comment, a regular expression or a division.
func (n *nesting) slash() {
	switch next := n.peek(1); {
	case next == '/':
		for n.at < len(n.code) && n.code[n.at] != '\n' && n.code[n.at] != '\r' {
			n.at++
		}
		return
	case next == '*':
		for n.at += 2; n.at < len(n.code); n.at++ {
			if n.code[n.at] == '\n' {
				n.fresh = true
			}
			if n.code[n.at] == '*' && n.peek(1) == '/' {
				n.at += 2
				return
			}
		}
		return
	}
	if n.ended() && !(n.last == classBrace && n.fresh) {
		n.at++
		n.token(classOperator)
		return
	}
	n.begin("")
	class := false
	for n.at++; n.at < len(n.code); n.at++ {
		switch c := n.code[n.at]; {
		case c == '\\':
			n.at++
		case c == '\n':
			n.token(classLiteral)
			return
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			n.at++
			n.token(classLiteral)
			return
		}
	}
}

func (n *nesting) peek(ahead int) byte {
	if n.at+ahead < len(n.code) {
		return n.code[n.at+ahead]
	}
	return 0
}

func (n *nesting) open(bracket byte) {
	n.levels = append(n.levels, level{bracket: bracket, head: n.control})
	n.depth++
	n.token(classOperator)
}

func (n *nesting) close() {
	n.at++
	if len(n.levels) == 1 {
		n.token(classBrace)
		return
	}
	top := n.top()
	n.depth -= 1 + top.statement + top.expression
	bracket, head := top.bracket, top.head
	n.levels = n.levels[:len(n.levels)-1]
	switch {
	case bracket == '`':
		n.template()
	case head:
		n.token(classHead)
	case bracket == '{':
		n.token(classBrace)
	default:
		n.token(classClose)
	}
}

// punctuator reads brackets, separators and operators. Left-associative binary operators do not count: the parsers
// handle them in a loop.
func (n *nesting) punctuator(c byte) {
	switch c {
	case '(', '[', '{':
		n.bracket(c)
	case ')', ']', '}':
		n.close()
	case ',':
		n.at++
		top := n.top()
		n.depth -= top.expression
		top.expression = 0
		n.token(classComma)
	case ';':
		n.at++
		n.token(classSemicolon)
	case ':':
		n.at++
		if n.last == classWord && n.before != classComma && n.before != classOperator {
			n.nestUntil() // a label
		} else {
			n.nest()
		}
		n.token(classOperator)
	case '.':
		n.at++
		n.nest()
		n.token(classOperator)
		n.dotted = true
	default:
		n.operator(c)
	}
}

func (n *nesting) bracket(c byte) {
	if c != '{' && n.ended() {
		n.nest() // a call or a member
	}
	n.at++
	n.open(c)
}

func (n *nesting) operator(c byte) {
	next, ended := n.peek(1), n.ended()
	size := 1
	switch {
	case c == '<':
		n.less(next)
		return
	case c == '>':
		if top := n.top(); top.angles > 0 && next != '=' {
			top.angles--
			top.statement--
			n.depth--
		}
		n.at++
		n.token(classWord) // of a type; what it compares is counted otherwise
		return
	case c == '=' && next == '>':
		size = 2
		n.nest()
	case c == '=' && next == '=', c == '!' && next == '=':
		for size = 2; n.peek(size) == '='; size++ {
		}
	case (c == '+' || c == '-') && next == c:
		size = 2
		if ended && !n.fresh {
			n.at += size
			n.token(classWord)
			return
		}
		n.begin("")
		n.nest()
	case c == '*' && next == '*', c == '=', c == '~', c == '!':
		n.nest()
		if c == '*' {
			size = 2
		}
	case c == '?' && next == '?':
		size = 2
	case c == '?':
		n.nest()
	case (c == '+' || c == '-') && !ended:
		n.nest()
	}
	n.at += size
	n.token(classOperator)
}

// less reads a <: of type arguments, of an element, or a comparison. All of them nest until the statement ends.
func (n *nesting) less(next byte) {
	if next == '=' || next == '<' {
		n.at += 2
		n.token(classOperator)
		return
	}
	n.at++
	if !n.ended() {
		n.nest() // the operand of a type assertion, or the content of an element
	}
	n.nestUntil()
	n.top().angles++
	n.token(classOperator)
}
