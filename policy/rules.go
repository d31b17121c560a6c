package policy

import (
	"errors"
	"fmt"
	"slices"
)

// readCode reads the code and every extra source that could run. A source beyond the size limit is not read.
func readCode(q *inquiry) error {
	if q.tier == nil || len(q.decision.Violations) > 0 && q.oversized() {
		return nil
	}
	found, err := q.set.memo.read(q, q.text(), q.read)
	if err != nil {
		q.unread = err
		return err
	}
	q.decision.Analysis, q.decision.Telemetry, q.decision.SyntaxError = found.Analysis, found.Telemetry, found.Syntax
	q.matches = found.Matches
	return nil
}

func (q *inquiry) oversized() bool {
	return slices.ContainsFunc(q.decision.Reasons, func(r Reason) bool { return r.Rule == "code-size" })
}

// checkPatterns denies text that matches one of the deployment's forbidden patterns.
func checkPatterns(q *inquiry) error {
	for _, m := range q.matches {
		if m.Pattern < 0 || m.Pattern >= len(q.set.patterns) {
			return errors.New("a match of no pattern")
		}
		p := q.set.patterns[m.Pattern]
		q.deny(Reason{Rule: "forbidden-pattern", Source: p.source, Field: m.Field,
			Message: fmt.Sprintf("forbidden pattern %s at line %d, column %d: %s", p.name, m.Line, m.Column, m.Excerpt)})
	}
	return nil
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
