package flow

import (
	"slices"

	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/scan/internal/syntax"
	"github.com/airlock-run/airlock/policy/threat"
)

const (
	maxHits = 400 // those of modules
	// maxAllHits bounds all findings of one walk.
	maxAllHits = 4000
	maxDepth   = 2500
	maxRounds  = 3
	maxEdges   = 2048
	// maxPatterns bounds the regular expressions that one walk runs, maxParsed the bytes of JSON that it parses.
	maxPatterns = 20
	maxParsed   = 32 << 10
)

// walker walks the statements of one syntax tree, and has expressions walk what they hold. It repeats the walk, at most
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

// scope holds the position of the walk in the program's structure.
type scope struct {
	this, with *value // with is the value of the with statements around
	super      *value // what the class around extends, if that builds code from strings
	frame      *function
	branch     int // nesting of branches, loops and functions
	loops      int // nesting of loops in the current function
	endless    int
	handler    *js.CallExpr // f(x) of g(x) ? x : f(x), where that is the last condition
	missing    []string     // members of built-in prototypes that the code around found missing
	fallback   int          // nesting in alternatives to what may be missing: a || b, a ? b : c, try
	quiet      bool         // the value is only compared or tested
	// region is the branch of the current function around the walk; nil outside of branches.
	region *syntax.Region
}

// place returns the place of the walk: a branch, a function, or nil for the top level.
func (s *scope) place() any {
	switch {
	case s.region != nil:
		return s.region
	case s.frame != nil:
		return s.frame.node
	}
	return nil
}

// enter enters a branch of a node of the tree.
func (s *scope) enter(of any, isElse bool) {
	r := &syntax.Region{Branch: syntax.Branch{Of: of, Else: isElse}, Outer: s.region}
	if s.frame != nil {
		r.Function = s.frame.node
	}
	s.region = r
}

// within calls walk in a branch of a node of the tree.
func (s *scope) within(of any, isElse bool, walk func()) {
	outer := s.region
	s.enter(of, isElse)
	walk()
	s.region = outer
}

// choice walks an expression in a branch of another.
func (s *scope) choice(of js.IExpr, isElse bool, walk func(js.IExpr) *value, e js.IExpr) *value {
	var v *value
	s.within(of, isElse, func() { v = walk(e) })
	return v
}

// guard counts nodes and bounds the depth of the walk.
type guard struct {
	budget  *cost.Budget
	facts   *facts
	depth   int
	tooDeep bool
}

// walk repeats the walk until nothing new turns up. A walk that runs out of work adds to the findings of the one
// before.
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

// start prepares another walk over the same tree. What is known of variables and functions stays.
func (w *walker) start() {
	w.program.again = false
	w.cursor.offset, w.cursor.searched, w.cursor.at, w.guard.depth, w.scope.branch, w.scope.loops, w.scope.endless,
		w.scope.fallback, w.scope.quiet = 0, 0, 0, 0, 0, 0, 0, 0, false
	w.scope.this, w.scope.with, w.scope.super, w.scope.region = &value{kind: kindGlobal}, nil, nil, nil
	w.scope.missing = w.scope.missing[:0]
	w.findings.hits, w.findings.seen, w.findings.count, w.calls.nestedScans, w.findings.dropped = w.findings.hits[:0], nil,
		nil, 0, false
	w.findings.uneven, w.findings.aimed, w.findings.uses = false, nil, nil
	w.findings.hostile, w.findings.mentioned = nil, nil
	w.values.patterns, w.values.parsedBytes = 0, 0
	w.timers.reset()
	w.facts.Metrics = threat.Metrics{Cyclomatic: 1}
}

// enter counts a node and reports whether depth and work permit walking it. Then leave must follow.
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
