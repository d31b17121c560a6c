package policy

import (
	"context"
	"regexp"
	"sync"

	"github.com/airlock-run/airlock/policy/scripttext"
)

// LocalReader reads texts in this process. It is safe for concurrent use.
type LocalReader struct {
	catalogue *catalogue
	patterns  sync.Map // of *regexp.Regexp by string: those of one deployment
}

// NewLocalReader returns a LocalReader.
func NewLocalReader() *LocalReader { return &LocalReader{catalogue: newCatalogue()} }

// Read implements Reader: it reads the whole text, however long a parser takes. The work is bounded as far as it can be
// foretold, and nothing stops a parser that needs more: call it only in a process that may be killed.
func (r *LocalReader) Read(_ context.Context, t Text) (Reading, error) { return r.read(&t, false), nil }

// What ReadCheap reads. Were a parser to need time in proportion to the square of the tokens, at ten nanoseconds each, which
// is more than any known shape costs, cheapTokens would still take no more than 40 ms. Forbidden patterns pass over at most
// cheapBytes together.
const (
	cheapBytes    = 64 << 10
	cheapTokens   = 2_000
	cheapBrackets = 100
	cheapWork     = 500_000
)

// ReadCheap reads a text of which one linear pass proves that it is cheap: plain JavaScript of few tokens. It reports false, after at most a few milliseconds, for any other text.
func (r *LocalReader) ReadCheap(t Text) (Reading, bool) {
	if bytes := t.Bytes(); t.Syntax || t.Shallow || bytes > cheapBytes || bytes*len(t.Patterns) > cheapBytes {
		return Reading{}, false
	}
	tokens := 0
	for _, p := range t.parts() {
		if p.language != javaScript {
			return Reading{}, false
		}
		start, end := scripttext.Body(p.text)
		n, ok := countCheap(p.text[start:end], cheapTokens-tokens)
		if !ok {
			return Reading{}, false
		}
		tokens += n
	}
	found := r.read(&t, true)
	return found, !found.Unfinished
}

// countCheap counts tokens up to a limit.
func countCheap(text string, most int) (tokens int, ok bool) {
	l := lexer{src: text}
	for l.next().kind != tokenEnd {
		if tokens++; tokens > most || len(l.stack) > cheapBrackets {
			return tokens, false
		}
	}
	return tokens, true
}

// read reads all of a text. A cheap reading is left Unfinished where it would need esbuild, or more work than cheapWork.
func (r *LocalReader) read(t *Text, cheap bool) Reading {
	out := Reading{Analysis: DangerAnalysis{Level: Safe}}
	total := scored{analysis: &out.Analysis}
	left := filesFactor * workFor(t.Bytes())
	if cheap {
		left = cheapWork
	}
	known := t.known()
	for i, p := range t.parts() {
		s := scan{catalogue: r.catalogue, globals: t.Globals, files: known, cheap: cheap, shallow: t.Shallow}
		found := s.source(p.text, p.language, min(left, workFor(len(p.text))))
		if cheap && found.unanalysed {
			return Reading{Unfinished: true}
		}
		left -= found.work
		if i == 0 {
			out.Telemetry, out.Syntax = found.tele, found.syntax
		}
		total.add(p.file, found, &t.Powers)
	}
	total.finish()
	if t.Syntax && out.Syntax == nil {
		out.Syntax = t.firstError()
		out.Telemetry.IsValid = out.Telemetry.IsValid && (out.Syntax == nil || out.Syntax.File != "")
	}
	out.Matches = r.matches(t)
	return out
}

// filesFactor is how many times the work of one source of their size all sources together may take: small ones take more.
const filesFactor = 4

// syntaxFactor is how many times the work of a scan looking for a syntax error may take.
const syntaxFactor = 4

// firstError returns the first syntax error of the sources in turn, as far as there is work left to look for it.
func (t *Text) firstError() *SyntaxError {
	b := &budget{left: syntaxFactor * workFor(t.Bytes())}
	for _, p := range t.parts() {
		if e := syntaxIn(p.text, p.language, b); e != nil {
			e.File = p.file
			return e
		}
	}
	return nil
}

// matches looks for the forbidden patterns in the text as it is, strings and comments included.
func (r *LocalReader) matches(t *Text) []Match {
	var out []Match
	for i, expr := range t.Patterns {
		compiled, err := r.pattern(expr)
		if err != nil {
			continue // it was compiled when the deployment's file was read
		}
		for _, p := range t.parts() {
			start, end := scripttext.Body(p.text)
			at := compiled.FindStringIndex(p.text[start:end])
			if at == nil {
				continue
			}
			src := source{text: p.text}
			m := Match{Pattern: i, Field: "code", Excerpt: clip(src.excerpt(start+at[0]), 120)}
			if p.file != "" {
				m.Field = "files." + p.file
			}
			m.Line, m.Column = src.position(start + at[0])
			out = append(out, m)
		}
	}
	return out
}

func (r *LocalReader) pattern(expr string) (*regexp.Regexp, error) {
	if known, ok := r.patterns.Load(expr); ok {
		return known.(*regexp.Regexp), nil
	}
	compiled, err := regexp.Compile(expr)
	if err == nil {
		r.patterns.Store(expr, compiled)
	}
	return compiled, err
}
