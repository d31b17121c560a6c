package scan

import (
	"context"
	"regexp"
	"sync"

	"github.com/airlock-run/airlock/policy/internal/quote"
	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/scan/internal/lexer"
	"github.com/airlock-run/airlock/policy/scan/internal/reach"
	"github.com/airlock-run/airlock/policy/scan/internal/syntax"
	"github.com/airlock-run/airlock/policy/scripttext"
	"github.com/airlock-run/airlock/policy/threat"
)

// A Scanner scans code in this process. It is safe for concurrent use.
type Scanner struct {
	catalogue *catalogue.Catalogue
	patterns  sync.Map // of *regexp.Regexp by string: those of one deployment
}

// New returns a Scanner.
func New() *Scanner { return &Scanner{catalogue: catalogue.New()} }

// Source scans one JavaScript source under the granted powers, like [Scanner.Scan].
func Source(code string, granted Powers) Result {
	return New().scan(&Input{Code: code, Language: scripttext.JavaScript, Powers: granted}, false)
}

// Scan implements [Func]. It scans all sources, however long a parser takes: the work is bounded as far as it can be
// predicted, but nothing stops a parser that needs more. A service calls it only in a process that may be killed. The
// error is always nil.
func (s *Scanner) Scan(_ context.Context, in Input) (Result, error) { return s.scan(&in, false), nil }

// The limits of ScanCheap. If a parser needed time in proportion to the square of the tokens, at ten nanoseconds each,
// which is more than any known shape costs, cheapTokens would still take no more than 40 ms. Patterns search at most
// cheapBytes together.
const (
	cheapBytes    = 64 << 10
	cheapTokens   = 2_000
	cheapBrackets = 100
	cheapWork     = 500_000
)

// ScanCheap scans an input that one linear pass proves cheap: plain JavaScript of few tokens. It reports false, after
// at most a few milliseconds, for any other input.
func (s *Scanner) ScanCheap(in Input) (Result, bool) {
	if bytes := in.Bytes(); in.Syntax || in.Shallow || bytes > cheapBytes || bytes*len(in.Patterns) > cheapBytes {
		return Result{}, false
	}
	tokens := 0
	for _, p := range in.parts() {
		if p.language != scripttext.JavaScript {
			return Result{}, false
		}
		start, end := scripttext.Body(p.text)
		n, ok := countCheap(p.text[start:end], cheapTokens-tokens)
		if !ok {
			return Result{}, false
		}
		tokens += n
	}
	found := s.scan(&in, true)
	return found, !found.Unfinished
}

// countCheap counts tokens up to a limit.
func countCheap(text string, most int) (tokens int, ok bool) {
	l := lexer.New(text)
	for l.Next().Kind != lexer.End {
		if tokens++; tokens > most || l.Depth() > cheapBrackets {
			return tokens, false
		}
	}
	return tokens, true
}

// scan scans all sources. A cheap scan is Unfinished if it would need esbuild, or more work than cheapWork.
func (s *Scanner) scan(in *Input, cheap bool) Result {
	out := Result{Analysis: threat.Analysis{Level: threat.Safe}}
	total := scored{analysis: &out.Analysis}
	left := filesFactor * cost.WorkFor(in.Bytes())
	if cheap {
		left = cheapWork
	}
	a := analysis{catalogue: s.catalogue, globals: in.Globals, files: in.paths(), cheap: cheap, shallow: in.Shallow}
	if in.Powers.Dormant {
		a.reached = reach.New(a.files, in.Globals)
	}
	var sources []*scanned
	for i, p := range in.parts() {
		found := a.source(p.text, p.language, p.file, min(left, cost.WorkFor(len(p.text))))
		if cheap && found.unanalysed {
			return Result{Unfinished: true}
		}
		left -= found.work
		if i == 0 {
			out.Telemetry, out.Syntax = found.tele, found.syntax
		}
		found.file = p.file
		sources = append(sources, found)
	}
	if a.reached != nil {
		a.reached.Solve()
	}
	for _, found := range sources {
		total.add(found, &in.Powers)
	}
	total.finish()
	if in.Syntax && out.Syntax == nil {
		out.Syntax = in.firstError(sources)
		out.Telemetry.IsValid = out.Telemetry.IsValid && (out.Syntax == nil || out.Syntax.File != "")
	}
	out.Matches = s.matches(in)
	return out
}

// filesFactor multiplies the work of one source to the work that all sources of a request together may take.
const filesFactor = 4

// syntaxFactor multiplies the work of a scan to the work that the search for a syntax error may take.
const syntaxFactor = 4

// firstError returns the first syntax error of the sources in turn, unless the work for the search runs out. The scan
// has sent some of them through esbuild already.
func (in *Input) firstError(scanned []*scanned) *threat.SyntaxError {
	b := cost.New(syntaxFactor * cost.WorkFor(in.Bytes()))
	for i, p := range in.parts() {
		e := scanned[i].syntax
		if e == nil && !scanned[i].accepted {
			e = syntax.ErrorIn(p.text, p.language, b)
		}
		if e != nil {
			e.File = p.file
			return e
		}
	}
	return nil
}

// matches searches the sources for the patterns, strings and comments included.
func (s *Scanner) matches(in *Input) []Match {
	var out []Match
	for i, expr := range in.Patterns {
		compiled, err := s.pattern(expr)
		if err != nil {
			continue // every pattern compiled when the policy file was read
		}
		for _, p := range in.parts() {
			start, end := scripttext.Body(p.text)
			at := compiled.FindStringIndex(p.text[start:end])
			if at == nil {
				continue
			}
			src := syntax.NewSource(p.text)
			m := Match{Pattern: i, Field: "code", Excerpt: quote.Clip(src.Excerpt(start+at[0]), 120)}
			if p.file != "" {
				m.Field = "files." + p.file
			}
			m.Line, m.Column = src.Position(start + at[0])
			out = append(out, m)
		}
	}
	return out
}

func (s *Scanner) pattern(expr string) (*regexp.Regexp, error) {
	if known, ok := s.patterns.Load(expr); ok {
		return known.(*regexp.Regexp), nil
	}
	compiled, err := regexp.Compile(expr)
	if err == nil {
		s.patterns.Store(expr, compiled)
	}
	return compiled, err
}
