package policy

import (
	"fmt"
	"slices"
)

// scanCode analyses the code and every extra source that could run. A source beyond the size limit is not scanned.
func scanCode(q *inquiry) error {
	if q.tier == nil || len(q.decision.Violations) > 0 && q.oversized() {
		return nil
	}
	found := q.set.memo.scanned(q, q.scan)
	q.decision.Analysis, q.decision.Telemetry, q.decision.SyntaxError = found.analysis, found.telemetry, found.syntax
	return nil
}

func (q *inquiry) scan() scanResult {
	a := q.ask
	out := scanResult{analysis: q.decision.Analysis}
	total := scored{analysis: &out.analysis}
	main := q.set.catalogue.scan(a.Code, a.language(), a.Globals, a.Files)
	out.telemetry, out.syntax = main.tele, main.syntax
	total.add("", main, &q.grants)
	for _, name := range q.runnableFiles() {
		total.add(name, q.set.catalogue.scan(a.Files[name], languageOf(name), a.Globals, a.Files), &q.grants)
	}
	total.finish()
	return out
}

func (q *inquiry) oversized() bool {
	return slices.ContainsFunc(q.decision.Reasons, func(r Reason) bool { return r.Rule == "code-size" })
}

// checkPatterns looks for the deployment's forbidden patterns in the text as it is, strings and comments included.
func checkPatterns(q *inquiry) error {
	if len(q.set.patterns) == 0 || q.oversized() {
		return nil
	}
	q.matchPatterns("code", q.ask.Code)
	for _, name := range q.runnableFiles() {
		q.matchPatterns("files."+name, q.ask.Files[name])
	}
	return nil
}

func (q *inquiry) matchPatterns(field, text string) {
	start, end := body(text)
	src := source{text: text}
	for _, p := range q.set.patterns {
		if at := p.expr.FindStringIndex(text[start:end]); at != nil {
			line, column := src.position(start + at[0])
			q.deny(Reason{Rule: "forbidden-pattern", Source: p.source, Field: field,
				Message: fmt.Sprintf("forbidden pattern %s at line %d, column %d: %s", p.name, line, column, clip(src.excerpt(start+at[0]), 120))})
		}
	}
}

// checkCategories denies code with a finding of a forbidden category, even where the tier grants the power.
func checkCategories(q *inquiry) error {
	for _, c := range q.set.forbidden {
		for _, f := range q.decision.Analysis.Findings {
			if f.Category == c.name {
				q.deny(Reason{Rule: "forbidden-category", Source: c.source, Field: "code",
					Message: fmt.Sprintf("%s is forbidden here: %s (line %d, column %d)", c.name, f.Message, f.Line, f.Column)})
				break
			}
		}
	}
	return nil
}

// checkLevel denies code as dangerous as the tier refuses; every finding that counts is a violation.
func checkLevel(q *inquiry) error {
	a := &q.decision.Analysis
	if q.tier == nil || levelRank(a.Level) < levelRank(q.tier.BlockLevel) {
		return nil
	}
	q.deny(Reason{Rule: "threat-level", Source: q.tier.source, Field: "code",
		Message: fmt.Sprintf("level %s (score %d) is blocked under policy %q, which refuses %s and above", a.Level, a.Score, q.tier.Name, q.tier.BlockLevel)})
	for _, f := range a.Findings {
		if f.Score > 0 {
			q.decision.Violations = append(q.decision.Violations, fmt.Sprintf("%s: %s (line %d, column %d)", f.Category, f.Message, f.Line, f.Column))
		}
	}
	return nil
}
