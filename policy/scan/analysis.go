package scan

import (
	"github.com/airlock-run/airlock/policy/internal/quote"
	"github.com/airlock-run/airlock/policy/scripttext"
	"github.com/airlock-run/airlock/policy/threat"
)

// scanned is the outcome of one source, before it is weighed by the granted powers. Offsets are into the source as the
// caller wrote it.
type scanned struct {
	src        *source
	hits       []hit
	tele       threat.Telemetry
	unanalysed bool
	// costly reports that the code is unanalysed because it would take more work than a scan may.
	costly  bool
	dropped bool
	stuckAt int
	// work is the work that the scan took.
	work   int
	syntax *threat.SyntaxError
}

// analysis holds what the analyses of all sources of an input share.
type analysis struct {
	catalogue *catalogue
	globals   []string
	files     map[string]bool // the paths of all files beside the code
	// cheap leaves code unanalysed that needs esbuild. shallow leaves all code unanalysed.
	cheap, shallow bool
}

// source analyses one source within the given work. It never panics on any input.
func (a *analysis) source(code, language string, work int) *scanned {
	out := &scanned{src: newSource(code)}
	start, end := scripttext.Body(code)
	text := code[start:end]
	o := outline{src: text}
	b := noBudget()
	var t *tree
	if !a.shallow {
		o = outlineOf(text)
		b = budgetFor(&o, work)
		t, out.syntax, out.costly = parseSource(&o, language, a.cheap, b)
	}
	if t == nil {
		out.stuckAt = start
	}
	if out.syntax != nil && start > 0 {
		out.syntax = moved(out.syntax, out.src, text, start)
	}
	f := newFlow(a.catalogue, a.globals, a.files, b)
	if t != nil {
		f.walkTree(t)
	}
	out.hits = f.hits()
	out.work = work - b.left
	if t == nil || f.tooDeep() || b.exceeded {
		out.unanalysed, out.costly = true, out.costly || b.exceeded
		if a.cheap {
			return out // a full scan follows
		}
		out.hits = append(out.hits, f.scanTokens(text)...)
		if out.syntax != nil {
			out.stuckAt = out.src.at(out.syntax)
		}
	} else if t.place != nil {
		for i := range out.hits {
			out.hits[i].offset = t.place(out.hits[i].offset)
		}
	}
	for _, e := range o.escapes {
		out.hits = append(out.hits, hitOf(e))
	}
	for i := range out.hits {
		out.hits[i].offset += start
	}
	out.tele, out.dropped = f.telemetry(code, text), f.dropped()
	return out
}

// hitOf returns the finding of an escape that hides plain characters.
func hitOf(e escape) hit {
	h := hit{category: threat.EncodingTricks, offset: e.offset, message: "escapes in a string hide " + quote.Clipped(e.text)}
	if e.ident {
		h.message = "unicode escapes hide the name " + quote.Clipped(e.text)
	}
	return h
}
