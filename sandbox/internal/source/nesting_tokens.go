package source

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
