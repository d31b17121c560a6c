package policy

import (
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// maxNestedScans bounds how many strings of code one walk looks into.
const maxNestedScans = 32

// scanned is what the scan of one source gave, before any tier looks at it. Offsets are into the source as the caller wrote
// it.
type scanned struct {
	src        source
	hits       []hit
	tele       Telemetry
	unanalysed bool
	// costly reports that the code is unanalysed because more work was needed than a scan may take.
	costly  bool
	dropped bool
	stuckAt int
	// work is what the scan took.
	work   int
	syntax *SyntaxError
}

// scan analyses one source. It never panics on any input.
func (c *catalogue) scan(code, language string, globals []string, files map[string]string) *scanned {
	out := &scanned{src: source{text: code}}
	start, end := body(code)
	text := code[start:end]
	o := outlineOf(text)
	b := budgetFor(&o)
	var t *tree
	if language != typeScript && language != typeScriptX {
		// Why the tree parser refused does not matter: esbuild takes the code, or its error is the one to show.
		t, _ = parseTree(&o, b)
	}
	if t == nil {
		out.stuckAt = start
		if out.costly = !o.transformable() || !b.take(o.transformWork()); !out.costly {
			t, out.syntax = transformTree(&o, language, b)
		}
	}
	if out.syntax != nil && start > 0 {
		out.syntax = out.syntax.moved(&out.src, text, start)
	}
	w := newScanner(c, globals, files, b)
	if t != nil {
		w.text, w.buf = t.text, t.buf
		w.walk(t.list)
		w.tele.IsValid = true
	}
	out.hits = w.hits
	out.work = workFor(len(text)) - b.left
	if t == nil || w.tooDeep || b.exceeded {
		out.unanalysed, out.costly = true, out.costly || b.exceeded
		w.text = text
		out.hits = append(out.hits, w.scanTokens(text)...)
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
	out.tele = *w.tele
	out.dropped = w.dropped
	return out
}

// moved places a syntax error found in the code inside fences in the source around it.
func (e *SyntaxError) moved(src *source, text string, start int) *SyntaxError {
	inner := source{text: text}
	at := inner.offset(e.Line, 0)
	line, _ := src.position(start + at)
	return &SyntaxError{Message: e.Message, Line: line, Column: e.Column}
}

func (e escape) hit() hit {
	h := hit{category: EncodingTricks, offset: e.offset, message: "escapes in a string hide " + quoted(e.text)}
	if e.ident {
		h.message = "unicode escapes hide the name " + quoted(e.text)
	}
	return h
}

// transformTree parses code by way of esbuild.
func transformTree(o *outline, language string, b *budget) (*tree, *SyntaxError) {
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

func newScanner(c *catalogue, globals []string, files map[string]string, b *budget) *scanner {
	w := &scanner{
		cat: c, budget: b, files: files, vars: map[*js.Var]*variable{}, fns: map[any]*function{}, props: map[string]*value{},
		imports: map[string]*value{}, free: map[string]struct{}{}, tele: &Telemetry{},
	}
	if len(globals) > 0 {
		w.globals = make(map[string]bool, len(globals))
		for _, g := range globals {
			w.globals[g] = true
		}
	}
	return w
}

// finish completes the telemetry.
func (w *scanner) finish(code, text string) {
	t := w.tele
	t.Metrics.Bytes = len(code)
	t.Metrics.Lines = 1 + strings.Count(strings.TrimSuffix(text, "\n"), "\n")
	t.AccessedIdentifiers = make([]string, 0, len(w.free))
	for name := range w.free {
		switch name {
		case "undefined", "NaN", "Infinity", "arguments":
		default:
			t.AccessedIdentifiers = append(t.AccessedIdentifiers, name)
		}
	}
	slices.Sort(t.AccessedIdentifiers)
}

// scanNested looks into a constant string that is run as code; what it finds counts at the place that runs it.
func (w *scanner) scanNested(code string, at int) {
	if w.nestedScans >= maxNestedScans || !w.budget.take(nestedWork+len(code)*2) {
		return
	}
	w.nestedScans++
	o := outlineOf(code)
	t, err := parseTree(&o, w.budget)
	if err != nil {
		return // what does not parse does not run
	}
	inner := newScanner(w.cat, nil, w.files, w.budget)
	inner.nested = w.nested + 1
	inner.text, inner.buf = t.text, t.buf
	inner.walk(t.list)
	for _, h := range inner.hits {
		w.hit(h.category, h.power, h.module, at, "in a string run as code: ", h.message)
	}
}
