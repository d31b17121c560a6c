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
	w := newScanner(s, b)
	if t != nil {
		w.text, w.buf = t.text, t.buf
		w.walk(t.list)
		w.tele.IsValid = true
	}
	out.hits = w.hits
	out.work = work - b.left
	if t == nil || w.tooDeep || b.exceeded {
		out.unanalysed, out.costly = true, out.costly || b.exceeded
		if s.cheap {
			return out // somebody else reads it
		}
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

func newScanner(s *analysis, b *budget) *scanner {
	w := &scanner{
		cat: s.catalogue, budget: b, files: s.files, vars: map[*js.Var]*variable{}, fns: map[any]*function{}, props: map[string]*value{},
		imports: map[string]*value{}, free: map[string]struct{}{}, tele: &threat.Telemetry{},
	}
	if len(s.globals) > 0 {
		w.globals = make(map[string]bool, len(s.globals))
		for _, g := range s.globals {
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
	inner := newScanner(&analysis{catalogue: w.cat, files: w.files}, w.budget)
	inner.nested = w.nested + 1
	inner.text, inner.buf = t.text, t.buf
	inner.walk(t.list)
	for _, h := range inner.hits {
		w.hit(h.category, h.power, h.module, at, "in a string run as code: ", h.message)
	}
}
