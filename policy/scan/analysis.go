package scan

import (
	"github.com/airlock-run/airlock/policy/internal/quote"
	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/scan/internal/flow"
	"github.com/airlock-run/airlock/policy/scan/internal/reach"
	"github.com/airlock-run/airlock/policy/scan/internal/syntax"
	"github.com/airlock-run/airlock/policy/scripttext"
	"github.com/airlock-run/airlock/policy/threat"
)

// scanned is the outcome of one source, before it is weighed by the granted powers. Offsets are into the source as the
// caller wrote it.
type scanned struct {
	file       string
	src        *syntax.Source
	hits       []flow.Hit
	tele       threat.Telemetry
	unanalysed bool
	// costly reports that the code is unanalysed because it would take more work than a scan may.
	costly  bool
	dropped bool
	stuckAt int
	// functions are those of the source; nil if it is not known which of them run.
	functions *reach.Source
	// work is the work that the scan took.
	work   int
	syntax *threat.SyntaxError
	// accepted reports that esbuild found no error in the source.
	accepted bool
}

// analysis holds what the analyses of all sources of an input share.
type analysis struct {
	catalogue *catalogue.Catalogue
	globals   []string
	files     map[string]bool // the paths of all files beside the code
	// cheap leaves code unanalysed that needs esbuild. shallow leaves all code unanalysed.
	cheap, shallow bool
	// reached is the graph of all sources; nil if it does not matter which functions run.
	reached *reach.Graph
}

// source analyses one source within the given work. It never panics on any input.
func (a *analysis) source(code, language, file string, work int) *scanned {
	out := &scanned{src: syntax.NewSource(code)}
	start, end := scripttext.Body(code)
	text := code[start:end]
	o := syntax.Outline{Src: text}
	b := cost.Exhausted()
	var t *syntax.Tree
	if !a.shallow {
		o = syntax.OutlineOf(text)
		b = syntax.BudgetFor(&o, work)
		t, out.syntax, out.costly = syntax.Parse(&o, language, a.cheap, b)
	}
	out.accepted = t != nil && t.Transformed
	if t == nil {
		out.stuckAt = start
	}
	if out.syntax != nil && start > 0 {
		out.syntax = syntax.Moved(out.syntax, out.src, text, start)
	}
	f := flow.New(a.catalogue, a.globals, a.files, b)
	f.In(file)
	if t != nil {
		f.Walk(t)
	}
	out.hits = f.Hits()
	out.work = work - b.Left
	if t == nil || f.TooDeep() || b.Exceeded {
		out.unanalysed, out.costly = true, out.costly || b.Exceeded
		if a.cheap {
			return out // a full scan follows
		}
		out.hits = append(out.hits, f.ScanTokens(text)...)
		if out.syntax != nil {
			out.stuckAt = out.src.At(out.syntax)
		}
	} else if t.Place != nil {
		for i := range out.hits {
			out.hits[i].Offset = t.Place(out.hits[i].Offset)
		}
	}
	if a.reached != nil {
		a.reach(out, t, f, file, work, b)
	}
	for _, e := range o.Escapes {
		out.hits = append(out.hits, hitOf(e))
	}
	for i := range out.hits {
		out.hits[i].Offset += start
	}
	out.tele, out.dropped = f.Telemetry(code, text), f.Dropped()
	return out
}

// graphPart is the part of a scan's work that the graph may take besides what the scan leaves of it.
const graphPart = 6

// reach adds a source to the graph, unless it is the only one and holds no threat.
func (a *analysis) reach(s *scanned, t *syntax.Tree, f *flow.Flow, file string, work int, b *cost.Budget) {
	if len(a.files) == 0 && len(s.hits) == 0 {
		return
	}
	if s.unanalysed || f.Uneven() {
		a.reached.Lose()
		return
	}
	// A graph that is too costly leaves the scan as it is.
	graph := cost.New(b.Left + work/graphPart)
	s.functions = a.reached.Add(t.List, file, graph)
	f.Calls(s.functions.Call)
	s.work = work + work/graphPart - graph.Left
}

// hitOf returns the finding of an escape that hides plain characters.
func hitOf(e syntax.Escape) flow.Hit {
	h := flow.Hit{Category: threat.EncodingTricks, Offset: e.Offset,
		Message: "escapes in a string hide " + quote.Clipped(e.Text)}
	if e.Ident {
		h.Message = "unicode escapes hide the name " + quote.Clipped(e.Text)
	}
	return h
}
