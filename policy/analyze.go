package policy

import (
	"context"
	"path"

	"github.com/airlock-run/airlock/policy/scripttext"
)

// Analyze is AnalyzeAsk for code alone.
func (s *Set) Analyze(code, language, tier string) Decision {
	return s.AnalyzeAsk(Ask{Code: code, Language: language, Tier: tier})
}

// AnalyzeAsk is Decide for code that is not going to run: the same analysis and decision, and the place of a syntax error
// even in code that the scan itself took without noticing, or in a file beside it. It costs a second parse.
func (s *Set) AnalyzeAsk(a Ask) Decision {
	d, _ := s.decide(a, true, s.readHere) // readHere never fails
	return d
}

// AnalyzeWith is AnalyzeAsk with a Reader of the code. The error is the Reader's.
func (s *Set) AnalyzeWith(ctx context.Context, a Ask, read Reader) (Decision, error) {
	return s.decide(a, true, func(t Text) (Reading, error) { return read(ctx, t) })
}

// syntaxIn finds the syntax error of one source, unless that takes more work than is left.
func syntaxIn(code, language string, b *budget) *SyntaxError {
	start, end := scripttext.Body(code)
	text := code[start:end]
	o := outlineOf(text)
	if !o.transformable() || !b.take(o.transformWork()) {
		return nil
	}
	_, syntax := transform(text, language, o.module, false)
	if syntax == nil {
		return nil
	}
	src := source{text: code}
	return syntax.moved(&src, text, start)
}

// language gives the language of the code: the entry file's name wins over the field, as it does in the sandbox.
func (a *Ask) language() string {
	if l := languageOf(a.Entry); l != javaScript {
		return l
	}
	return or(a.Language, javaScript)
}

func languageOf(file string) string {
	switch path.Ext(file) {
	case ".ts", ".mts", ".cts":
		return typeScript
	case ".tsx":
		return typeScriptX
	case ".jsx":
		return javaScriptX
	}
	return javaScript
}
