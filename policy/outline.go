package policy

// outline is what one rough pass over the code tells before any parser sees it: whether it is a module, how deep it nests,
// how hard it would be to parse, and which escapes hide plain characters. Parsers recurse and keep scopes in ways whose
// cost an attacker can choose; what is beyond these bounds is scanned by tokens instead.
type outline struct {
	module bool
	// brackets is the deepest nesting of brackets, nesting of brackets and of all that nests to the right without them.
	brackets, nesting int
	// openings and operators are counted over the raw bytes: they bound the depth even where the rough pass errs.
	openings, operators int
	tokens              int
	names               int // distinct, roughly
	scopeWork           int
	arrowWork           int
	functionWork        int
	// suffixes is the longest chain of members and calls, redeclared the number of names that look declared twice.
	suffixes, redeclared int
	escapes              []escape
}

// escape is a place where an escape hides what could have been written plainly.
type escape struct {
	offset int
	ident  bool
	text   string
}

// The bounds. They were chosen by measuring: within them the tree parser needs some 20 ms for 256 KiB, and esbuild, which
// has no limit of its own and kills the process when it recurses too deep, stays under 2 MiB of stack.
const (
	maxBrackets      = 900
	maxTokens        = 120_000
	maxNames         = 24_000
	maxScopeWork     = 150_000
	maxArrowWork     = 4_000_000
	maxNesting       = 600
	maxFunctionWork  = 300_000
	maxRawOpenings   = 60_000
	maxRawOperators  = 80_000
	maxSuffixes      = 4_000
	maxRedeclared    = 1_000
	maxEscapeReports = maxFindings
)

// parseable reports whether the tree parser may have the code.
func (o *outline) parseable() bool {
	return o.brackets <= maxBrackets && o.tokens <= maxTokens && o.names <= maxNames && o.scopeWork <= maxScopeWork && o.arrowWork <= maxArrowWork
}

// transformable reports whether esbuild may have the code.
func (o *outline) transformable() bool {
	return o.tokens <= maxTokens && o.nesting <= maxNesting && o.functionWork <= maxFunctionWork &&
		o.openings <= maxRawOpenings && o.operators <= maxRawOperators && o.suffixes <= maxSuffixes && o.redeclared <= maxRedeclared
}

func outlineOf(src string) outline {
	var o outline
	o.countRaw(src)
	l := lexer{src: src, stack: make([]frame, 1, 32)}
	var names, declared nameSet
	chains, fns, frames := 0, 0, uint32(0)
	var before token
	for {
		depth := len(l.stack)
		t := l.next()
		if t.kind == tokenEnd || o.tokens > maxTokens || o.brackets > maxBrackets {
			return o
		}
		if len(l.stack) == 0 {
			l.stack = append(l.stack, l.closed) // an unmatched bracket does not close the program
		}
		o.tokens++
		if len(l.stack) < depth || t.kind == tokenTemplate && l.closed.open == '$' && before.kind != tokenEnd {
			chains -= int(l.closed.chain)
			fns -= int(l.closed.fns)
			if l.closed.open == '{' || l.closed.open == '(' {
				o.scopeWork += min(int(l.closed.words), names.n)
			}
			l.stack[len(l.stack)-1].words += l.closed.words
			l.closed.chain, l.closed.fns, l.closed.words = 0, 0, 0
		}
		top := &l.stack[len(l.stack)-1]
		text := l.text(t)
		if endsChain(&l, before, t, text) {
			chains -= int(top.chain)
			fns -= int(top.fns)
			top.chain, top.fns, top.suffixes = 0, 0, 0
		}
		if len(l.stack) > depth {
			frames++
			top.serial = frames
			l.stack[len(l.stack)-2].suffixes++
		} else if text == "." || text == "?." || t.kind == tokenTemplate {
			top.suffixes++
		}
		o.suffixes = max(o.suffixes, int(top.suffixes))
		added := nestsRight(&l, before, t, text)
		top.chain += int32(added)
		chains += added
		if text == "=>" || text == "function" {
			top.fns++
			fns++
			o.functionWork += fns * fns
			if text == "=>" {
				o.arrowWork += min(int(top.words), names.n)
			}
		}
		switch t.kind {
		case tokenWord:
			top.words++
			names.add(text, 0)
			o.names = names.n
			if binds(&l, before) && !declared.add(text, top.serial) {
				o.redeclared++
			}
			if len(l.stack) == 1 && (text == "import" || text == "export") && l.src[max(before.end-1, 0)] != '.' {
				o.module = o.module || startsModule(l, text)
			}
			o.escaped(t.start, text, true)
		case tokenString, tokenTemplate:
			if t.kind == tokenTemplate && before.kind == tokenWord && l.text(before) == "raw" {
				break // String.raw: these are no escapes
			}
			o.escaped(t.start, text, false)
		}
		o.brackets = max(o.brackets, len(l.stack)-1)
		o.nesting = max(o.nesting, len(l.stack)-1+chains)
		before = t
	}
}

func (o *outline) countRaw(src string) {
	for i := range len(src) {
		switch src[i] {
		case '(', '[', '{', '<':
			o.openings++
		case '!', '~', '-', '+', '=', '?', ':', '*', '&', '|':
			o.operators++
		}
	}
}

// startsModule looks past "import" or "export" at the program's top level, on a copy of the lexer.
func startsModule(l lexer, word string) bool {
	l.stack = append([]frame(nil), l.stack...)
	next := l.next()
	switch text := l.text(next); {
	case word == "import":
		return next.kind == tokenString || next.kind == tokenWord || text == "{" || text == "*"
	default:
		return next.kind == tokenWord || text == "{" || text == "*"
	}
}

// endsChain reports whether what nested to the right in this frame is over: at a separator, or where one statement ends
// and another begins without one.
func endsChain(l *lexer, before, t token, text string) bool {
	if text == "," || text == ";" {
		return true
	}
	if t.kind != tokenWord || before.kind == tokenEnd {
		return false
	}
	switch text {
	case "else", "catch", "finally", "while", "in", "instanceof", "of", "as", "extends":
		return false
	}
	switch last := l.src[before.end-1]; {
	case before.kind == tokenPunct && last == '}':
		return true
	case !t.newline:
		return false
	case before.kind == tokenPunct:
		return last == ']' || last == ')' && l.closed.operand
	default:
		return before.kind != tokenWord || !isKeyword(l.text(before))
	}
}

// nestsRight gives how many levels a token may add to what a parser has on its stack.
func nestsRight(l *lexer, before, t token, text string) int {
	switch t.kind {
	case tokenPunct:
		switch text {
		case "=>", "=", "?", "**", "!", "~", ":", "<", "++", "--", "&", "|":
			return 1
		case "+", "-":
			if before.kind == tokenPunct && l.src[before.end-1] != ')' && l.src[before.end-1] != ']' || before.kind == tokenEnd {
				return 1
			}
		}
	case tokenWord:
		if before.kind == tokenWord && !t.newline || isKeyword(text) {
			return 1
		}
	}
	return 0
}

// binds reports whether a name after this token may be one that is being declared.
func binds(l *lexer, before token) bool {
	switch l.text(before) {
	case "let", "const", "class", "function", "import", "enum", "namespace", "as", "type", "interface", "(", "[", "{", ",", ":", "*", ".":
		return before.kind == tokenWord || l.src[before.end-1] != '.' || before.start > 0 && l.src[before.start-1] == '.'
	}
	return false
}

// nameSet counts distinct names, roughly: two that share a slot count once.
type nameSet struct {
	n     int
	slots [1 << 10]uint64
}

// add reports whether the name was new; salt keeps equal names of different places apart.
func (s *nameSet) add(name string, salt uint32) bool {
	h := 2166136261 ^ salt*0x9e3779b1
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * 16777619
	}
	h ^= h >> 16
	if bit := uint64(1) << (h & 63); s.slots[h>>6&1023]&bit == 0 {
		s.slots[h>>6&1023] |= bit
		s.n++
		return true
	}
	return false
}
