package scan

import (
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/internal/quote"
	"github.com/airlock-run/airlock/policy/scripttext"
	"github.com/airlock-run/airlock/policy/threat"
)

// maxNestedScans bounds how many strings of code one walk looks into.
const maxNestedScans = 32

// scanned is what the scan of one source gave, before any tier looks at it. Offsets are into the source as the caller wrote
// it.
type scanned struct {
	src        source
	hits       []hit
	tele       threat.Telemetry
	unanalysed bool
	// costly reports that the code is unanalysed because more work was needed than a scan may take.
	costly  bool
	dropped bool
	stuckAt int
	// work is what the scan took.
	work   int
	syntax *threat.SyntaxError
}

// scan is how one source is analysed.
type analysis struct {
	catalogue *catalogue
	globals   []string
	files     map[string]bool // the paths of all files beside the code
	// cheap leaves code that needs esbuild unanalysed, shallow all code.
	cheap, shallow bool
}

// source analyses one source with so much work. It never panics on any input.
func (s *analysis) source(code, language string, work int) *scanned {
	out := &scanned{src: source{text: code}}
	start, end := scripttext.Body(code)
	text := code[start:end]
	o := outline{src: text}
	b := &budget{exceeded: s.shallow}
	var t *tree
	if !s.shallow {
		o = outlineOf(text)
		b = budgetFor(&o, work)
		t = s.tree(&o, language, b, out)
	}
	if t == nil {
		out.stuckAt = start
	}
	if out.syntax != nil && start > 0 {
		out.syntax = moved(out.syntax, &out.src, text, start)
	}
	w := newWalker(s, b)
	if t != nil {
		w.cursor.text, w.cursor.buf = t.text, t.buf
		w.walk(t.list)
		w.facts.IsValid = true
	}
	out.hits = w.findings.hits
	out.work = work - b.left
	if t == nil || w.guard.tooDeep || b.exceeded {
		out.unanalysed, out.costly = true, out.costly || b.exceeded
		if s.cheap {
			return out // somebody else reads it
		}
		out.hits = append(out.hits, newTokenScan(w).scanTokens(text)...)
		if out.syntax != nil {
			out.stuckAt = out.src.at(out.syntax)
		}
	} else if t.place != nil {
		for i := range out.hits {
			out.hits[i].offset = t.place(out.hits[i].offset)
		}
	}
	for _, e := range o.escapes {
		out.hits = append(out.hits, e.hit())
	}
	for i := range out.hits {
		out.hits[i].offset += start
	}
	w.finish(code, text)
	out.tele = w.facts.Telemetry
	out.dropped = w.findings.dropped
	return out
}

// tree parses one source, by way of esbuild where need be; nil means that it could not.
func (s *analysis) tree(o *outline, language string, b *budget, out *scanned) *tree {
	var t *tree
	if language != scripttext.TypeScript && language != scripttext.TSX {
		// Why the tree parser refused does not matter: esbuild takes the code, or its error is the one to show.
		t, _ = parseTree(o, b)
	}
	if t != nil || s.cheap {
		return t
	}
	if out.costly = !o.transformable() || !b.take(o.transformWork()); !out.costly {
		t, out.syntax = transformTree(o, language, b)
	}
	return t
}

// moved returns a syntax error of the code inside fences with its place in the source around them.
func moved(e *threat.SyntaxError, src *source, text string, start int) *threat.SyntaxError {
	inner := source{text: text}
	at := inner.offset(e.Line, 0)
	line, _ := src.position(start + at)
	return &threat.SyntaxError{Message: e.Message, Line: line, Column: e.Column}
}

func (e escape) hit() hit {
	h := hit{category: threat.EncodingTricks, offset: e.offset, message: "escapes in a string hide " + quote.Clipped(e.text)}
	if e.ident {
		h.message = "unicode escapes hide the name " + quote.Clipped(e.text)
	}
	return h
}

// transformTree parses code by way of esbuild.
func transformTree(o *outline, language string, b *budget) (*tree, *threat.SyntaxError) {
	g, syntax := transform(o.src, language, o.module, true)
	if g == nil {
		return nil, syntax
	}
	made := outlineOf(g.code)
	made.module = o.module
	if !b.take(made.tokens * outlineWork) {
		return nil, nil
	}
	t, err := parseTree(&made, b)
	if err != nil {
		return nil, nil
	}
	inner := t.place
	outer := g.place(o.src)
	t.place = func(offset int) int {
		if inner != nil {
			offset = inner(offset)
		}
		return outer(offset)
	}
	if g.prefix > 1 {
		t.list = unwrapped(t.list)
	}
	return t, nil
}

// unwrapped gives the statements inside the function that wrapping put around the program.
func unwrapped(list []js.IStmt) []js.IStmt {
	if len(list) != 1 {
		return list
	}
	s, ok := list[0].(*js.ExprStmt)
	if !ok {
		return list
	}
	g, ok := s.Value.(*js.GroupExpr)
	if !ok {
		return list
	}
	if f, ok := g.X.(*js.FuncDecl); ok {
		return f.Body.List
	}
	return list
}

// newWalker returns a walker of the tree, with everything that it needs.
func newWalker(s *analysis, b *budget) *walker {
	f := &facts{free: map[string]struct{}{}}
	found := &findings{budget: b}
	at := &cursor{budget: b}
	sc := &scope{}
	vs := &values{budget: b}
	ts := &timers{}
	p := &program{
		scope: sc, values: vs, facts: f,
		vars: map[*js.Var]*variable{}, fns: map[any]*function{}, props: map[string]*value{}, imports: map[string]*value{},
	}
	h := &host{
		budget: b, cat: s.catalogue, findings: found, facts: f, cursor: at, scope: sc, values: vs, program: p, timers: ts,
	}
	if len(s.globals) > 0 {
		h.globals = make(map[string]bool, len(s.globals))
		for _, g := range s.globals {
			h.globals[g] = true
		}
	}
	l := &loader{budget: b, cat: s.catalogue, findings: found, facts: f, values: vs, files: s.files}
	g := &guard{budget: b, facts: f}
	cs := &calls{
		budget: b, cat: s.catalogue, findings: found, facts: f, cursor: at, scope: sc, values: vs, program: p, host: h, loader: l,
		timers: ts,
	}
	ex := &expressions{
		budget: b, cat: s.catalogue, findings: found, facts: f, cursor: at, scope: sc, guard: g, values: vs, program: p, host: h,
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

// scanNested looks into a constant string that is run as code; what it finds counts at the place that runs it.
func (cs *calls) scanNested(code string, at int) {
	if cs.nestedScans >= maxNestedScans || !cs.budget.take(nestedWork+len(code)*2) {
		return
	}
	cs.nestedScans++
	o := outlineOf(code)
	t, err := parseTree(&o, cs.budget)
	if err != nil {
		return // what does not parse does not run
	}
	inner := newWalker(&analysis{catalogue: cs.cat, files: cs.loader.files}, cs.budget)
	inner.calls.nested = cs.nested + 1
	inner.cursor.text, inner.cursor.buf = t.text, t.buf
	inner.walk(t.list)
	for _, h := range inner.findings.hits {
		cs.findings.add(h.category, h.power, h.module, at, "in a string run as code: ", h.message)
	}
}
