package scan

import (
	"math/bits"
	"strings"
)

// outline is what one rough pass over the code tells before any parser sees it: whether it is a module, how deep it nests,
// how hard it would be to parse, and which escapes hide plain characters.
type outline struct {
	src    string
	module bool
	// whole reports that the pass came to the end of the code, which it does unless it met far too much.
	whole bool
	// brackets is the deepest nesting of brackets, nesting of brackets and of all that nests to the right without them.
	brackets, nesting int
	// openings and operators are counted over the raw bytes: they bound the depth even where the rough pass errs.
	openings, operators int
	tokens, functions   int
	// groups counts parentheses that are no calls, and the brackets right inside them.
	groups int
	names  int // distinct, roughly
	// scopeWork is how many names go from scopes to those around them, arrowWork how many names stand before an arrow.
	scopeWork, arrowWork, functionWork int
	// suffixes is the longest chain of members and calls, redeclared the number of names that look declared twice.
	suffixes, redeclared int
	// linkWork and privateWork grow with the square of the longest chains of operators and commas, and of the private names of
	// a class: esbuild looks at all that came before with each one.
	linkWork, privateWork int
	escapes               []escape
}

// escape is a place where an escape hides what could have been written plainly.
type escape struct {
	offset int
	ident  bool
	text   string
}

// frame is what the outline knows of one open bracket, or of the program.
type frame struct {
	// chain counts what nests to the right without a bracket since the frame's last reset, fns the functions among it,
	// words the names in the frame so far, seen a bit for each of these.
	chain, fns, words int32
	seen              uint64
	// suffixes counts members and calls since the reset; serial tells frames apart.
	suffixes int32
	serial   uint32
	// links counts operators and commas since the last reset, privates the private names.
	links, privates int32
	// group marks parentheses that are no call, listed brackets whose commas separate elements.
	group, listed bool
}

// hoisting foretells the work of handing the frame's names to the one around it: few names are compared one by one, of many the
// parser keeps maps, into which what is new goes.
func (f *frame) hoisting(outer *frame, names int) int {
	n := min(f.distinct(), names)
	switch {
	case n+min(outer.distinct(), names) <= indexedNames:
		return n * fewHoistWork
	case f.many() || outer.many():
		return n * hoistWork
	}
	return n*valueWork + bits.OnesCount64(f.seen&^outer.seen)*hoistWork
}

// distinct gives roughly how many different names the frame has had; where there are too many to tell, all of them.
func (f *frame) distinct() int {
	if f.many() {
		return int(f.words)
	}
	n := bits.OnesCount64(f.seen)
	return min(int(f.words), n+n*n/64)
}

func (f *frame) many() bool { return bits.OnesCount64(f.seen) >= 48 }

func outlineOf(src string) outline {
	o := outline{src: src}
	l := newLexer(src)
	frames := make([]frame, 1, 33)
	work := workFor(len(src))
	var names, declared nameSet
	chains, fns, serial := 0, 0, uint32(0)
	var before token
	for {
		depth := l.depth()
		t := l.next()
		if t.kind == tokenEnd || o.tokens*leastWork > work || depth > maxBrackets {
			o.whole = t.kind == tokenEnd
			return o
		}
		o.tokens++
		closes := l.depth() < depth || t.kind == tokenTemplate && src[t.start] == '}'
		opens := l.depth() > depth || closes && l.depth() == depth
		if closes {
			f := &frames[len(frames)-1]
			chains -= int(f.chain)
			fns -= int(f.fns)
			outer := &frames[len(frames)-2]
			if l.closed.open() == '{' || l.closed.open() == '(' {
				o.scopeWork += f.hoisting(outer, names.n)
			}
			outer.words += f.words
			outer.seen |= f.seen
			frames = frames[:len(frames)-1]
		}
		if opens {
			outer := &frames[len(frames)-1]
			outer.suffixes++
			serial++
			group := src[t.start] == '(' && !l.operand(before)
			if group || outer.group && src[t.start] != '(' {
				o.groups++
			}
			listed := !group && (src[t.start] == '(' || src[t.start] == '[' && !l.operand(before))
			frames = append(frames, frame{serial: serial, group: group, listed: listed})
			o.brackets = max(o.brackets, l.depth())
		}
		top := &frames[len(frames)-1]
		text := l.text(t)
		if endsChain(l, before, t, text) {
			chains -= int(top.chain)
			fns -= int(top.fns)
			top.chain, top.fns, top.suffixes = 0, 0, 0
			if text[0] != ',' || top.listed {
				top.links = 0
			}
		}
		o.countLinks(top, t, text)
		if t.kind == tokenTemplate || t.kind == tokenPunct && text[len(text)-1] == '.' {
			top.suffixes++
		}
		o.suffixes = max(o.suffixes, int(top.suffixes))
		added := nestsRight(l, before, t, text)
		top.chain += int32(added)
		chains += added
		o.nesting = max(o.nesting, l.depth()+chains)
		if text == "=>" || text == "function" {
			top.fns++
			fns++
			o.functions++
			o.functionWork += fns * fns
			if text == "=>" {
				o.arrowWork += min(top.distinct(), names.n)
			}
		}
		switch t.kind {
		case tokenWord:
			h := hashOf(text)
			if (before.kind != tokenPunct || src[before.end-1] != '.') && !isKeyword(text) {
				top.words++
				top.seen |= 1 << (h >> 26)
			}
			names.add(h, 0)
			o.names = names.n
			if binds(l, before) && !declared.add(h, top.serial) {
				o.redeclared++
			}
			if l.depth() == 0 && (text == "import" || text == "export") && l.src[max(before.end-1, 0)] != '.' {
				o.module = o.module || startsModule(*l, text)
			}
			o.escaped(t.start, text, true)
		case tokenString, tokenTemplate:
			if t.kind == tokenTemplate && before.kind == tokenWord && l.text(before) == "raw" {
				break // String.raw: these are no escapes
			}
			o.escaped(t.start, text, false)
		}
		before = t
	}
}

// countLinks counts what a token adds to a chain of operators or to the private names of a class.
func (o *outline) countLinks(top *frame, t token, text string) {
	switch {
	case t.kind == tokenPunct && strings.IndexByte(",+-*/%&|^?<>=:", text[0]) >= 0:
		top.links++
		o.linkWork += int(top.links)
	case t.kind == tokenWord && text[0] == '#':
		top.privates++
		o.privateWork += int(top.privates)
	}
}

// startsModule looks past "import" or "export" at the program's top level, on a copy of the lexer.
func startsModule(l lexer, word string) bool {
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
	if t.kind != tokenWord || before.kind == tokenEnd {
		return t.kind == tokenPunct && (text[0] == ',' || text[0] == ';')
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
		return last == ']' || last == ')' && l.closed.operand()
	default:
		return before.kind != tokenWord || !isKeyword(l.text(before))
	}
}

// nestsRight gives how many levels a token may add to what a parser has on its stack.
func nestsRight(l *lexer, before, t token, text string) int {
	switch t.kind {
	case tokenPunct:
		switch c := text[0]; c {
		case '=', '!', '~', ':', '<', '&', '|':
			return 1
		case '?', '*':
			if text != "?." && text != "*" {
				return 1
			}
		case '+', '-':
			if len(text) == 2 || before.kind == tokenPunct && l.src[before.end-1] != ')' && l.src[before.end-1] != ']' || before.kind == tokenEnd {
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
	switch before.kind {
	case tokenPunct:
		if before.end-before.start != 1 {
			return false
		}
		switch l.src[before.start] {
		case '(', '[', '{', ',', ':', '*':
			return true
		case '.': // a rest
			return before.start > 0 && l.src[before.start-1] == '.'
		}
	case tokenWord:
		switch l.text(before) {
		case "let", "const", "class", "function", "import", "enum", "namespace", "as", "type", "interface":
			return true
		}
	}
	return false
}

// nameSet counts distinct names, roughly: two that share a slot count once.
type nameSet struct {
	n     int
	slots [1 << 10]uint64
}

func hashOf(name string) uint32 {
	h := uint32(2166136261)
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * 16777619
	}
	return h
}

// add reports whether the name of that hash was new; salt keeps equal names of different places apart.
func (s *nameSet) add(h, salt uint32) bool {
	h ^= salt * 0x9e3779b1
	h ^= h >> 16
	if bit := uint64(1) << (h & 63); s.slots[h>>6&1023]&bit == 0 {
		s.slots[h>>6&1023] |= bit
		s.n++
		return true
	}
	return false
}
