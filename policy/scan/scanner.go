package scan

import (
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/threat"
)

const (
	maxFindings = 100
	maxHits     = 400
	maxDepth    = 2500
	maxRounds   = 3
	maxEdges    = 2048
	// maxPatterns bounds the regular expressions that are run, and maxParsed the bytes of JSON that are read, in one walk.
	maxPatterns = 20
	maxParsed   = 32 << 10
)

// scanner walks one syntax tree and follows values through it. It walks again, at most maxRounds times, while values turn
// up that were needed before they were known.
type scanner struct {
	cat     *catalogue
	budget  *budget
	globals map[string]bool
	files   map[string]bool
	text    string // what was parsed
	buf     []byte // the same, as the parser holds it: names are slices of it

	cursor      int // offset behind the last name or literal passed, in source order
	searched    int // the furthest offset that locate has looked at in this walk
	at          int // best position of the expression just walked
	depth       int
	branch      int // nesting of branches, loops and functions
	loops       int // nesting of loops in the current function
	endless     int
	quiet       bool   // the value is only compared or tested
	this, with  *value // with is what with statements around are about
	frame       *function
	nested      int // depth of code inside code strings
	nestedScans int
	patterns    int
	parsedBytes int

	vars    map[*js.Var]*variable
	imports map[string]*value
	props   map[string]*value // by name: powerful values assigned to members of unknown objects
	fns     map[any]*function
	timers  timers

	round      int
	again      bool
	dynamicKey bool
	tasks      bool // queueMicrotask or its like was called
	tooDeep    bool
	dropped    bool // there were more findings than are kept

	hits  []hit
	seen  map[hitKey]struct{}
	count map[hitClass]int
	tele  *threat.Telemetry
	free  map[string]struct{}
}

// variable is what one binding may hold.
type variable struct {
	now, all *value
	home     *function
	branch   int
	// free is the name of one that the code does not declare, stands what the host's global object has by that name.
	free   string
	stands *value
	listed bool // among the names that the code does not declare
	// early marks a variable that was read before its values were known.
	early bool
}

// hit is a finding before it is scored.
type hit struct {
	category string
	power    power
	module   string
	offset   int
	message  string
}

// hitClass is what grants tell apart.
type hitClass struct {
	category string
	power    power
	module   string
}

type hitKey struct {
	category string
	offset   int
}

// walk analyses the tree until nothing new turns up. A walk that was not finished adds to what the one before it found.
func (w *scanner) walk(list []js.IStmt) {
	var before []hit
	var metrics threat.Metrics
	for w.round = range maxRounds {
		left := w.budget.left
		w.start()
		w.block(list)
		w.timers.report(w)
		if w.round > 0 && w.budget.exceeded {
			w.hits, w.tele.Metrics = append(before, w.hits...), metrics
		}
		if !w.again || w.tooDeep || w.budget.exceeded {
			return
		}
		if taken := left - w.budget.left; taken > w.budget.left {
			w.budget.exceeded = w.round == 0 // a third walk seldom finds what the second did not
			return
		}
		before, metrics = slices.Clone(w.hits), w.tele.Metrics
	}
}

// start makes ready for another walk over the same tree. What is known of variables and functions stays.
func (w *scanner) start() {
	w.again = false
	w.cursor, w.searched, w.at, w.depth, w.branch, w.loops, w.endless, w.quiet = 0, 0, 0, 0, 0, 0, 0, false
	w.this, w.with = &value{kind: kindGlobal}, nil
	w.hits, w.seen, w.count, w.nestedScans, w.dropped = w.hits[:0], nil, nil, 0, false
	w.patterns, w.parsedBytes = 0, 0
	w.timers.reset()
	w.tele.Metrics = threat.Metrics{Cyclomatic: 1}
}

// hit records a finding once per category and place.
func (w *scanner) hit(category string, p power, module string, offset int, message ...string) {
	if w.full(category, p, module) {
		return
	}
	key := hitKey{category, offset}
	if _, ok := w.seen[key]; ok {
		return
	}
	if w.seen == nil {
		w.seen, w.count = map[hitKey]struct{}{}, map[hitClass]int{}
	}
	w.seen[key] = struct{}{}
	w.count[hitClass{category, p, module}]++
	w.hits = append(w.hits, hit{category: category, power: p, module: module, offset: offset, message: strings.Join(message, "")})
}

// full reports that another finding of a class would only be counted. Two of each class are enough for every tier's score;
// only modules have names without end, and those count alike.
func (w *scanner) full(category string, p power, module string) bool {
	if len(w.hits) < maxFindings {
		return false
	}
	full := p == modulePower && len(w.hits) >= maxHits
	if !full {
		w.budget.take(2 * valueWork)
		full = w.count[hitClass{category, p, module}] >= 2
	}
	w.dropped = w.dropped || full
	return full
}

// found records the finding of a symbol.
func (w *scanner) found(s *symbol, offset int) {
	if s.category != "" && !w.full(s.category, s.power, s.module) {
		w.hit(s.category, s.power, s.module, offset, explain(s))
	}
}

func explain(s *symbol) string {
	name := s.name
	switch s.category {
	case threat.CommandExecution:
		return name + " runs commands or native code on the host"
	case threat.CodeInjection:
		return name + " runs code that is built at run time"
	case threat.FilesystemAccess:
		if s.power == readPower {
			return name + " reads files"
		}
		return name + " changes files"
	case threat.NetworkRequest:
		return name + " talks to the network"
	case threat.PrototypePollution:
		return name + " replaces an object's prototype"
	case threat.ModuleLoading:
		return name + " reaches the module system"
	case threat.EnvironmentAccess:
		return name + " reaches the host process or its environment"
	case threat.BufferManipulation:
		return name + " allocates raw memory"
	case threat.WebAssembly:
		return name + " compiles or runs WebAssembly"
	default:
		return name + " is a known threat"
	}
}

// offsetOf gives the place of a slice of the parsed text. The parser keeps no positions, but names and literals are slices of
// its buffer: the distance between two addresses is the place. Nothing is read through them.
func (w *scanner) offsetOf(b []byte) (int, bool) {
	if len(b) == 0 || len(w.buf) == 0 {
		return 0, false
	}
	off := uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(w.buf)))
	if off >= uintptr(len(w.buf)) {
		return 0, false
	}
	return int(off), true
}

// source gives the text of a slice of what was parsed, without a copy.
func (w *scanner) source(b []byte) string {
	if off, ok := w.offsetOf(b); ok && off+len(b) <= len(w.text) && w.text[off:off+len(b)] == string(b) {
		return w.text[off : off+len(b)]
	}
	return string(b)
}

// pass moves the cursor behind a name or literal and gives its place.
func (w *scanner) pass(b []byte) int {
	if off, ok := w.offsetOf(b); ok {
		w.cursor = off + len(b)
		return off
	}
	return w.locate(b)
}

// locate returns the offset of the next mention of a name and moves the cursor behind it. The tree gives every mention of a
// variable the bytes of the first one, but the walk follows the source, so only punctuation, keywords and comments stand
// between the cursor and the mention. Text that locate looks at a second time is charged to the budget.
func (w *scanner) locate(name []byte) int {
	if len(name) > 1 && name[0] == '#' {
		name = name[1:]
	}
	from := w.cursor
	at, cursor, seen := mentionOf(name, w.text, from)
	w.cursor = cursor
	if again := min(seen, w.searched) - from; again > 0 {
		w.budget.take(again / textBytes)
	}
	w.searched = max(w.searched, seen)
	return at
}

// mentionOf searches s for name, from an offset on. It returns the offset of the mention, the offset to go on from, and how
// far it has looked. Where something else stands in the way it returns the offset of that.
func mentionOf(name []byte, s string, from int) (at, next, seen int) {
	for i := from; i < len(s); {
		switch c := s[i]; {
		case isWordByte(c):
			j := wordEnd(s, i)
			if j-i >= len(name) && s[i:i+len(name)] == string(name) && (j-i == len(name) || s[i+len(name)] >= utf8.RuneSelf) {
				return i, i + len(name), j
			}
			if !passable(s[i:j]) {
				return i, i, j
			}
			i = j
		case c == '"' || c == '\'':
			return i, i, i
		case c != '/' || i+1 == len(s):
			i++
		case s[i+1] == '/':
			n := strings.IndexByte(s[i:], '\n')
			if n < 0 {
				return i, len(s), len(s)
			}
			i += n
		case s[i+1] == '*':
			n := strings.Index(s[i+2:], "*/")
			if n < 0 {
				return i, len(s), len(s)
			}
			i += n + 4
		default:
			i++
		}
	}
	return len(s), len(s), len(s)
}

// wordEnd returns the end of the word, or of the white space outside ASCII, that begins at an offset.
func wordEnd(s string, i int) int {
	if n := spaceAt(s[i:]); n > 0 {
		return i + n
	}
	for i++; i < len(s) && isWordByte(s[i]) && spaceAt(s[i:]) == 0; i++ {
	}
	return i
}

// spaceAt returns the length of the line separator or space outside ASCII that s begins with, or 0.
func spaceAt(s string) int {
	if s[0] < utf8.RuneSelf {
		return 0
	}
	switch r, n := utf8.DecodeRuneInString(s); r {
	case '\u2028', '\u2029', '\u00a0', '\ufeff':
		return n
	}
	return 0
}

// passable reports the words that have no node of their own and may stand between the cursor and a name.
func passable(word string) bool {
	switch word {
	case "\u2028", "\u2029", "\u00a0", "\ufeff":
		return true
	case "var", "let", "const", "function", "class", "extends", "new", "return", "typeof", "void", "delete", "await", "yield",
		"throw", "in", "of", "instanceof", "if", "else", "for", "while", "do", "switch", "case", "default", "try", "catch",
		"finally", "with", "async", "static", "get", "set", "export", "import", "as", "from", "break", "continue", "debugger",
		"meta", "target", "super", "this", "null", "true", "false":
		return true
	}
	return false
}

// visit counts a node and guards depth and work; leave must follow when it reports true.
func (w *scanner) visit() bool {
	if !w.budget.take(nodeWork) {
		return false
	}
	w.depth++
	w.tele.Metrics.ASTNodeCount++
	if w.depth > w.tele.Metrics.MaxDepth {
		w.tele.Metrics.MaxDepth = w.depth
	}
	if w.depth > maxDepth {
		w.tooDeep = true
		w.depth--
		return false
	}
	return true
}

func (w *scanner) leave() { w.depth-- }
