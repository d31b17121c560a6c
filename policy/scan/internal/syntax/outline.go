package syntax

import (
	"math/bits"
	"strings"

	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/scan/internal/lexer"
)

// An Outline is the result of one rough pass over the code before any parser: whether it is a module, how deep it
// nests, how costly it is to parse, and which escapes hide plain characters.
type Outline struct {
	Src    string
	module bool
	// whole reports that the pass reached the end of the code. It stops early if the code is far too costly.
	whole bool
	// brackets is the deepest nesting of brackets. nesting also counts what nests to the right without brackets.
	brackets, nesting int
	// openings and operators are counted over the raw bytes. They bound the depth even if the rough pass errs.
	openings, operators int
	tokens, functions   int
	// groups counts parentheses that are no calls, and the brackets directly inside them.
	groups int
	names  int // distinct, roughly
	// scopeWork is the number of names that scopes pass to surrounding ones, arrowWork that of names before an arrow.
	scopeWork, arrowWork, functionWork int
	// suffixes is the longest chain of members and calls, redeclared the number of names that look declared twice.
	suffixes, redeclared int
	// linkWork and privateWork grow with the square of the longest chains of operators and commas, and of the private
	// names of a class: esbuild visits all previous ones for each.
	linkWork, privateWork int
	Escapes               []Escape
}

// An Escape is a place where an escape hides what could be written plainly.
type Escape struct {
	Offset int
	Ident  bool
	Text   string
}

// frame holds the measures of one open bracket, or of the program.
type frame struct {
	// chain counts what nests to the right without a bracket since the last reset, fns the functions among it. words
	// counts the names in the frame, and seen has a bit for each.
	chain, fns, words int32
	seen              uint64
	// suffixes counts members and calls since the reset. serial distinguishes frames.
	suffixes int32
	serial   uint32
	// links counts operators and commas since the last reset, privates the private names.
	links, privates int32
	// group marks parentheses that are no call, listed marks brackets whose commas separate elements.
	group, listed bool
}

// hoisting predicts the work of passing the frame's names to the surrounding one. The parser compares few names one by
// one, and keeps maps of many.
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

// distinct returns about how many different names the frame has. If there are too many to tell, it returns all.
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
	names, declared := newNameSet(0), newNameSet(len(src))
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

// startsModule reports whether "import" or "export" at the top level begins a module. It reads ahead on a copy.
func startsModule(l lexer.Lexer, word string) bool {
	next := l.Next()
	switch text := l.Text(next); {
	case word == "import":
		return next.Kind == lexer.String || next.Kind == lexer.Word || text == "{" || text == "*"
	default:
		return next.Kind == lexer.Word || text == "{" || text == "*"
	}
}

// endsChain reports whether the nesting to the right in this frame ends: at a separator, or where a statement ends and
// another begins without one.
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

// nestsRight returns how many levels a token may add to the stack of a parser.
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
			if len(text) == 2 || before.Kind == lexer.Punct && l.Src[before.End-1] != ')' && l.Src[before.End-1] != ']' ||
				before.Kind == lexer.End {
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
	slots []uint64
}

// newNameSet returns a set with slots for the names in code of so many bytes.
func newNameSet(bytes int) *nameSet {
	slots := 1 << 10
	for ; bytes > sizeOfSlots; bytes /= 2 {
		slots *= 2
	}
	return &nameSet{slots: make([]uint64, slots)}
}

// sizeOfSlots is the size of code for which the smallest set is large enough.
const sizeOfSlots = 32 << 10

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
	if bit, slot := uint64(1)<<(h&63), h>>6&uint32(len(s.slots)-1); s.slots[slot]&bit == 0 {
		s.slots[slot] |= bit
		s.n++
		return true
	}
	return false
}
