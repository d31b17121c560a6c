package flow

import (
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/scan/internal/lexer"
	"github.com/airlock-run/airlock/policy/threat"
)

const (
	maxHits   = 400
	maxDepth  = 2500
	maxRounds = 3
	maxEdges  = 2048
	// maxPatterns bounds the regular expressions that are run, and maxParsed the bytes of JSON that are read, in one walk.
	maxPatterns = 20
	maxParsed   = 32 << 10
)

// walker walks the statements of one syntax tree, and calls expressions for what they hold. It walks again, at most
// maxRounds times, while values turn up that were needed before they were known.
type walker struct {
	budget      *cost.Budget
	findings    *findings
	facts       *facts
	cursor      *cursor
	scope       *scope
	guard       *guard
	values      *values
	program     *program
	host        *host
	loader      *loader
	timers      *timers
	calls       *calls
	expressions *expressions
}

// expressions walks expressions and returns what is known of their values.
type expressions struct {
	budget   *cost.Budget
	cat      *catalogue.Catalogue
	findings *findings
	facts    *facts
	cursor   *cursor
	scope    *scope
	guard    *guard
	values   *values
	program  *program
	host     *host
	loader   *loader
	calls    *calls
	walker   *walker
}

// calls follows calls: into functions of the program, and into what built-in functions return.
type calls struct {
	budget   *cost.Budget
	cat      *catalogue.Catalogue
	findings *findings
	facts    *facts
	cursor   *cursor
	scope    *scope
	values   *values
	program  *program
	host     *host
	loader   *loader
	timers   *timers
	walker   *walker // binds the parameters of functions

	nested      int // depth of code inside code strings
	nestedScans int
}

// host resolves names and members to what the host provides by them, and reports the powers among them.
type host struct {
	budget   *cost.Budget
	cat      *catalogue.Catalogue
	findings *findings
	facts    *facts
	cursor   *cursor
	scope    *scope
	values   *values
	program  *program
	timers   *timers
	globals  map[string]bool // names that the caller defines
}

// loader resolves the modules that the code loads, and reports them.
type loader struct {
	budget   *cost.Budget
	cat      *catalogue.Catalogue
	findings *findings
	facts    *facts
	values   *values
	files    map[string]bool
}

// program holds what is known of the code's own variables and functions. It stays from one walk to the next.
type program struct {
	scope  *scope
	values *values
	facts  *facts

	vars    map[*js.Var]*variable
	imports map[string]*value
	props   map[string]*value // by name: powerful values assigned to members of unknown objects
	fns     map[any]*function

	round      int
	again      bool // another walk may find more
	dynamicKey bool
	tasks      bool // queueMicrotask or its like was called
}

// values computes with constant values.
type values struct {
	budget      *cost.Budget
	patterns    int // regular expressions run in this walk
	parsedBytes int // bytes of JSON read in this walk
}

// findings gathers what one walk finds, once per category and place.
type findings struct {
	budget  *cost.Budget
	hits    []Hit
	seen    map[hitKey]struct{}
	count   map[hitClass]int
	dropped bool // there were more findings than are kept
}

// facts gathers the telemetry, and the names that the code does not declare.
type facts struct {
	threat.Telemetry
	free map[string]struct{}
}

// cursor finds the places of names and literals in the source.
type cursor struct {
	budget   *cost.Budget
	text     string // what was parsed
	buf      []byte // the same, as the parser holds it: names are slices of it
	offset   int    // behind the last name or literal passed, in source order
	searched int    // the furthest offset that locate has looked at in this walk
	at       int    // best position of the expression just walked
}

// scope is the place of the walk in the program.
type scope struct {
	this, with *value // with is the value of the with statements around
	frame      *function
	branch     int // nesting of branches, loops and functions
	loops      int // nesting of loops in the current function
	endless    int
	quiet      bool // the value is only compared or tested
}

// guard counts nodes and bounds the depth of the walk.
type guard struct {
	budget  *cost.Budget
	facts   *facts
	depth   int
	tooDeep bool
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
type Hit struct {
	Category string
	Power    catalogue.Power
	Module   string
	Offset   int
	Message  string
}

// hitClass is what grants tell apart.
type hitClass struct {
	category string
	power    catalogue.Power
	module   string
}

type hitKey struct {
	category string
	offset   int
}

// walk analyses the tree until nothing new turns up. A walk that was not finished adds to what the one before it found.
func (w *walker) walk(list []js.IStmt) {
	var before []Hit
	var metrics threat.Metrics
	for w.program.round = range maxRounds {
		left := w.budget.Left
		w.start()
		w.block(list)
		w.timers.report(w.budget, w.findings)
		if w.program.round > 0 && w.budget.Exceeded {
			w.findings.hits, w.facts.Metrics = append(before, w.findings.hits...), metrics
		}
		if !w.program.again || w.guard.tooDeep || w.budget.Exceeded {
			return
		}
		if taken := left - w.budget.Left; taken > w.budget.Left {
			w.budget.Exceeded = w.program.round == 0 // a third walk seldom finds what the second did not
			return
		}
		before, metrics = slices.Clone(w.findings.hits), w.facts.Metrics
	}
}

// start makes ready for another walk over the same tree. What is known of variables and functions stays.
func (w *walker) start() {
	w.program.again = false
	w.cursor.offset, w.cursor.searched, w.cursor.at, w.guard.depth, w.scope.branch, w.scope.loops, w.scope.endless, w.scope.quiet = 0, 0, 0, 0, 0, 0, 0, false
	w.scope.this, w.scope.with = &value{kind: kindGlobal}, nil
	w.findings.hits, w.findings.seen, w.findings.count, w.calls.nestedScans, w.findings.dropped = w.findings.hits[:0], nil, nil, 0, false
	w.values.patterns, w.values.parsedBytes = 0, 0
	w.timers.reset()
	w.facts.Metrics = threat.Metrics{Cyclomatic: 1}
}

// hit records a finding once per category and place.
func (f *findings) add(category string, p catalogue.Power, module string, offset int, message ...string) {
	if f.full(category, p, module) {
		return
	}
	key := hitKey{category, offset}
	if _, ok := f.seen[key]; ok {
		return
	}
	if f.seen == nil {
		f.seen, f.count = map[hitKey]struct{}{}, map[hitClass]int{}
	}
	f.seen[key] = struct{}{}
	f.count[hitClass{category, p, module}]++
	f.hits = append(f.hits, Hit{Category: category, Power: p, Module: module, Offset: offset, Message: strings.Join(message, "")})
}

// full reports that another finding of a class would only be counted. Two of each class are enough for every tier's score;
// only modules have names without end, and those count alike.
func (f *findings) full(category string, p catalogue.Power, module string) bool {
	if len(f.hits) < cost.MaxFindings {
		return false
	}
	full := p == catalogue.ModulePower && len(f.hits) >= maxHits
	if !full {
		f.budget.Take(2 * cost.ValueWork)
		full = f.count[hitClass{category, p, module}] >= 2
	}
	f.dropped = f.dropped || full
	return full
}

// found records the finding of a symbol.
func (f *findings) found(s *catalogue.Symbol, offset int) {
	if s.Category != "" && !f.full(s.Category, s.Power, s.Module) {
		f.add(s.Category, s.Power, s.Module, offset, catalogue.Explain(s))
	}
}

// offsetOf gives the place of a slice of the parsed text. The parser keeps no positions, but names and literals are slices of
// its buffer: the distance between two addresses is the place. Nothing is read through them.
func (c *cursor) offsetOf(b []byte) (int, bool) {
	if len(b) == 0 || len(c.buf) == 0 {
		return 0, false
	}
	off := uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(c.buf)))
	if off >= uintptr(len(c.buf)) {
		return 0, false
	}
	return int(off), true
}

// source gives the text of a slice of what was parsed, without a copy.
func (c *cursor) source(b []byte) string {
	if off, ok := c.offsetOf(b); ok && off+len(b) <= len(c.text) && c.text[off:off+len(b)] == string(b) {
		return c.text[off : off+len(b)]
	}
	return string(b)
}

// pass moves the cursor behind a name or literal and gives its place.
func (c *cursor) pass(b []byte) int {
	if off, ok := c.offsetOf(b); ok {
		c.offset = off + len(b)
		return off
	}
	return c.locate(b)
}

// locate returns the offset of the next mention of a name and moves the cursor behind it. The tree gives every mention of a
// variable the bytes of the first one, but the walk follows the source, so only punctuation, keywords and comments stand
// between the cursor and the mention. Text that locate looks at a second time is charged to the budget.
func (c *cursor) locate(name []byte) int {
	if len(name) > 1 && name[0] == '#' {
		name = name[1:]
	}
	from := c.offset
	at, cursor, seen := mentionOf(name, c.text, from)
	c.offset = cursor
	if again := min(seen, c.searched) - from; again > 0 {
		c.budget.Take(again / cost.TextBytes)
	}
	c.searched = max(c.searched, seen)
	return at
}

// mentionOf searches s for name, from an offset on. It returns the offset of the mention, the offset to go on from, and how
// far it has looked. Where something else stands in the way it returns the offset of that.
func mentionOf(name []byte, s string, from int) (at, next, seen int) {
	for i := from; i < len(s); {
		switch c := s[i]; {
		case lexer.IsWordByte(c):
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
	if n := lexer.SpaceAt(s[i:]); n > 0 {
		return i + n
	}
	for i++; i < len(s) && lexer.IsWordByte(s[i]) && lexer.SpaceAt(s[i:]) == 0; i++ {
	}
	return i
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
func (g *guard) enter() bool {
	if !g.budget.Take(cost.NodeWork) {
		return false
	}
	g.depth++
	g.facts.Metrics.ASTNodeCount++
	if g.depth > g.facts.Metrics.MaxDepth {
		g.facts.Metrics.MaxDepth = g.depth
	}
	if g.depth > maxDepth {
		g.tooDeep = true
		g.depth--
		return false
	}
	return true
}

func (g *guard) leave() { g.depth-- }
