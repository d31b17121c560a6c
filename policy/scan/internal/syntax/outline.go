package syntax

import (
	"math/bits"
	"strings"

	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/scan/internal/lexer"
)

// Outline is what one rough pass over the code tells before any parser sees it: whether it is a module, how deep it nests,
// how hard it would be to parse, and which escapes hide plain characters.
type Outline struct {
	Src    string
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
	Escapes               []Escape
}

// Escape is a place where an escape hides what could have been written plainly.
type Escape struct {
	Offset int
	Ident  bool
	Text   string
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
	case n+min(outer.distinct(), names) <= cost.IndexedNames:
		return n * cost.FewHoistWork
	case f.many() || outer.many():
		return n * cost.HoistWork
	}
	return n*cost.ValueWork + bits.OnesCount64(f.seen&^outer.seen)*cost.HoistWork
}

// distinct returns roughly how many different names the frame has had; where there are too many to tell, all of them.
func (f *frame) distinct() int {
	if f.many() {
		return int(f.words)
	}
	n := bits.OnesCount64(f.seen)
	return min(int(f.words), n+n*n/64)
}

func (f *frame) many() bool { return bits.OnesCount64(f.seen) >= 48 }

func OutlineOf(src string) Outline {
	o := Outline{Src: src}
	l := lexer.New(src)
	frames := make([]frame, 1, 33)
	work := cost.WorkFor(len(src))
	var names, declared nameSet
	chains, fns, serial := 0, 0, uint32(0)
	var before lexer.Token
	for {
		depth := l.Depth()
		t := l.Next()
		if t.Kind == lexer.End || o.tokens*cost.LeastWork > work || depth > maxBrackets {
			o.whole = t.Kind == lexer.End
			return o
		}
		o.tokens++
		closes := l.Depth() < depth || t.Kind == lexer.Template && src[t.Start] == '}'
		opens := l.Depth() > depth || closes && l.Depth() == depth
		if closes {
			f := &frames[len(frames)-1]
			chains -= int(f.chain)
			fns -= int(f.fns)
			outer := &frames[len(frames)-2]
			if l.Closed.Open() == '{' || l.Closed.Open() == '(' {
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
			group := src[t.Start] == '(' && !l.Operand(before)
			if group || outer.group && src[t.Start] != '(' {
				o.groups++
			}
			listed := !group && (src[t.Start] == '(' || src[t.Start] == '[' && !l.Operand(before))
			frames = append(frames, frame{serial: serial, group: group, listed: listed})
			o.brackets = max(o.brackets, l.Depth())
		}
		top := &frames[len(frames)-1]
		text := l.Text(t)
		if endsChain(l, before, t, text) {
			chains -= int(top.chain)
			fns -= int(top.fns)
			top.chain, top.fns, top.suffixes = 0, 0, 0
			if text[0] != ',' || top.listed {
				top.links = 0
			}
		}
		o.countLinks(top, t, text)
		if t.Kind == lexer.Template || t.Kind == lexer.Punct && text[len(text)-1] == '.' {
			top.suffixes++
		}
		o.suffixes = max(o.suffixes, int(top.suffixes))
		added := nestsRight(l, before, t, text)
		top.chain += int32(added)
		chains += added
		o.nesting = max(o.nesting, l.Depth()+chains)
		if text == "=>" || text == "function" {
			top.fns++
			fns++
			o.functions++
			o.functionWork += fns * fns
			if text == "=>" {
				o.arrowWork += min(top.distinct(), names.n)
			}
		}
		switch t.Kind {
		case lexer.Word:
			h := hashOf(text)
			if (before.Kind != lexer.Punct || src[before.End-1] != '.') && !lexer.IsKeyword(text) {
				top.words++
				top.seen |= 1 << (h >> 26)
			}
			names.add(h, 0)
			o.names = names.n
			if binds(l, before) && !declared.add(h, top.serial) {
				o.redeclared++
			}
			if l.Depth() == 0 && (text == "import" || text == "export") && l.Src[max(before.End-1, 0)] != '.' {
				o.module = o.module || startsModule(*l, text)
			}
			o.escaped(t.Start, text, true)
		case lexer.String, lexer.Template:
			if t.Kind == lexer.Template && before.Kind == lexer.Word && l.Text(before) == "raw" {
				break // String.raw: these are no escapes
			}
			o.escaped(t.Start, text, false)
		}
		before = t
	}
}

// countLinks counts what a token adds to a chain of operators or to the private names of a class.
func (o *Outline) countLinks(top *frame, t lexer.Token, text string) {
	switch {
	case t.Kind == lexer.Punct && strings.IndexByte(",+-*/%&|^?<>=:", text[0]) >= 0:
		top.links++
		o.linkWork += int(top.links)
	case t.Kind == lexer.Word && text[0] == '#':
		top.privates++
		o.privateWork += int(top.privates)
	}
}

// startsModule looks past "import" or "export" at the program's top level, on a copy of the lexer.
func startsModule(l lexer.Lexer, word string) bool {
	next := l.Next()
	switch text := l.Text(next); {
	case word == "import":
		return next.Kind == lexer.String || next.Kind == lexer.Word || text == "{" || text == "*"
	default:
		return next.Kind == lexer.Word || text == "{" || text == "*"
	}
}

// endsChain reports whether what nested to the right in this frame is over: at a separator, or where one statement ends
// and another begins without one.
func endsChain(l *lexer.Lexer, before, t lexer.Token, text string) bool {
	if t.Kind != lexer.Word || before.Kind == lexer.End {
		return t.Kind == lexer.Punct && (text[0] == ',' || text[0] == ';')
	}
	switch text {
	case "else", "catch", "finally", "while", "in", "instanceof", "of", "as", "extends":
		return false
	}
	switch last := l.Src[before.End-1]; {
	case before.Kind == lexer.Punct && last == '}':
		return true
	case !t.Newline:
		return false
	case before.Kind == lexer.Punct:
		return last == ']' || last == ')' && l.Closed.Operand()
	default:
		return before.Kind != lexer.Word || !lexer.IsKeyword(l.Text(before))
	}
}

// nestsRight returns how many levels a token may add to what a parser has on its stack.
func nestsRight(l *lexer.Lexer, before, t lexer.Token, text string) int {
	switch t.Kind {
	case lexer.Punct:
		switch c := text[0]; c {
		case '=', '!', '~', ':', '<', '&', '|':
			return 1
		case '?', '*':
			if text != "?." && text != "*" {
				return 1
			}
		case '+', '-':
			if len(text) == 2 || before.Kind == lexer.Punct && l.Src[before.End-1] != ')' && l.Src[before.End-1] != ']' || before.Kind == lexer.End {
				return 1
			}
		}
	case lexer.Word:
		if before.Kind == lexer.Word && !t.Newline || lexer.IsKeyword(text) {
			return 1
		}
	}
	return 0
}

// binds reports whether a name after this token may be one that is being declared.
func binds(l *lexer.Lexer, before lexer.Token) bool {
	switch before.Kind {
	case lexer.Punct:
		if before.End-before.Start != 1 {
			return false
		}
		switch l.Src[before.Start] {
		case '(', '[', '{', ',', ':', '*':
			return true
		case '.': // a rest
			return before.Start > 0 && l.Src[before.Start-1] == '.'
		}
	case lexer.Word:
		switch l.Text(before) {
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
