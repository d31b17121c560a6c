package policy

import "path"

// Analyze is AnalyzeAsk for code alone.
func (s *Set) Analyze(code, language, tier string) Decision {
	return s.AnalyzeAsk(Ask{Code: code, Language: language, Tier: tier})
}

// AnalyzeAsk is Decide for code that is not going to run: the same analysis and decision, and the place of a syntax error
// even in code that the scan itself took without noticing. It costs a second parse.
func (s *Set) AnalyzeAsk(a Ask) Decision {
	d := s.Decide(a)
	if d.SyntaxError != nil {
		return d
	}
	if _, bad := d.BadField(); bad {
		return d
	}
	start, end := body(a.Code)
	text := a.Code[start:end]
	o := outlineOf(text)
	if !o.transformable() {
		return d
	}
	if _, syntax := transform(text, a.language(), o.module, false); syntax != nil {
		src := source{text: a.Code}
		d.SyntaxError = syntax.moved(&src, text, start)
		d.Telemetry.IsValid = false
	}
	return d
}

// language gives the language of the code: the entry file's name wins over the field, as it does in the sandbox.
func (a *Ask) language() string {
	if l := languageOf(a.Entry); l == typeScript {
		return l
	}
	return or(a.Language, javaScript)
}

func languageOf(file string) string {
	switch path.Ext(file) {
	case ".ts", ".mts", ".cts", ".tsx":
		return typeScript
	}
	return javaScript
}
