package flow

import (
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/scan/internal/syntax"
	"github.com/airlock-run/airlock/policy/threat"
)

// A Flow follows the values of one source.
type Flow struct{ walker *walker }

// New returns a Flow. Globals are the names that the caller defines, files the paths of the files beside the code.
func New(c *catalogue.Catalogue, globals []string, files map[string]bool, b *cost.Budget) *Flow {
	return &Flow{newWalker(c, globals, files, b)}
}

// In names the file, among the files beside the code, that the source is.
func (f *Flow) In(file string) { f.walker.loader.file = file }

// Walk follows the values of a parsed source. It is called at most once.
func (f *Flow) Walk(t *syntax.Tree) {
	w := f.walker
	w.cursor.text, w.cursor.buf = t.Text, t.Buf
	w.walk(t.List)
	w.facts.IsValid = true
}

// Hits returns what the walk found.
func (f *Flow) Hits() []Hit { return f.walker.findings.vain() }

// Calls calls each with every call of a function of the source: the functions of the tree, caller first. A nil caller
// is the top level.
func (f *Flow) Calls(each func(caller, callee any)) {
	for c := range f.walker.program.calls {
		each(c.caller, c.callee)
	}
}

// Dropped reports whether there were more findings than are kept.
func (f *Flow) Dropped() bool { return f.walker.findings.dropped }

// Uneven reports whether the findings of some function were dropped because other functions have so many.
func (f *Flow) Uneven() bool { return f.walker.findings.uneven }

// TooDeep reports whether the tree is too deep to be walked to its end.
func (f *Flow) TooDeep() bool { return f.walker.guard.tooDeep }

// ScanTokens scans a text by its tokens and returns what it found.
func (f *Flow) ScanTokens(text string) []Hit { return newTokenScan(f.walker).scanTokens(text) }

// Telemetry returns the telemetry of the source. Text is the part of code inside fences.
func (f *Flow) Telemetry(code, text string) threat.Telemetry {
	f.walker.finish(code, text)
	return f.walker.facts.Telemetry
}

// newWalker returns a walker with everything that it needs.
func newWalker(cat *catalogue.Catalogue, globals []string, files map[string]bool, b *cost.Budget) *walker {
	f := &facts{free: map[string]struct{}{}}
	sc := &scope{}
	found := &findings{budget: b, scope: sc}
	at := &cursor{budget: b}
	vs := &values{budget: b}
	ts := &timers{}
	p := &program{
		scope: sc, values: vs, facts: f,
		vars: map[*js.Var]*variable{}, fns: map[any]*function{}, props: map[string]*value{}, imports: map[string]*value{},
		calls: map[callOf]struct{}{},
	}
	h := &host{
		budget: b, cat: cat, findings: found, facts: f, cursor: at, scope: sc, values: vs, program: p, timers: ts,
	}
	if len(globals) > 0 {
		h.globals = make(map[string]bool, len(globals))
		for _, g := range globals {
			h.globals[g] = true
		}
	}
	l := &loader{budget: b, cat: cat, findings: found, facts: f, values: vs, files: files}
	g := &guard{budget: b, facts: f}
	cs := &calls{
		budget: b, cat: cat, findings: found, facts: f, cursor: at, scope: sc, values: vs, program: p, host: h, loader: l,
		timers: ts,
	}
	ex := &expressions{
		budget: b, cat: cat, findings: found, facts: f, cursor: at, scope: sc, guard: g, values: vs, program: p, host: h,
		loader: l, calls: cs,
	}
	w := &walker{
		budget: b, findings: found, facts: f, cursor: at, scope: sc, guard: g, values: vs, program: p, host: h, loader: l,
		timers: ts, calls: cs, expressions: ex,
	}
	cs.walker, ex.walker = w, w
	return w
}

// finish completes the telemetry.
func (w *walker) finish(code, text string) {
	t := w.facts
	t.Metrics.Bytes = len(code)
	t.Metrics.Lines = 1 + strings.Count(strings.TrimSuffix(text, "\n"), "\n")
	t.AccessedIdentifiers = make([]string, 0, len(w.facts.free))
	for name := range w.facts.free {
		switch name {
		case "undefined", "NaN", "Infinity", "arguments":
		default:
			t.AccessedIdentifiers = append(t.AccessedIdentifiers, name)
		}
	}
	slices.Sort(t.AccessedIdentifiers)
}
