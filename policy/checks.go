package policy

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/policy/internal/quote"
	"github.com/airlock-run/airlock/policy/scripttext"
	"github.com/airlock-run/airlock/policy/threat"
)

// checkRequest denies a request that is itself at fault.
func checkRequest(e *evaluation) error {
	bad := func(field, format string, args ...any) {
		e.deny(Reason{Rule: "request", Source: "request", Field: field, Invalid: true, Message: fmt.Sprintf(format, args...)})
	}
	r, l := e.request, &e.request.Limits
	for _, n := range [...]struct {
		field    string
		negative bool
	}{
		{"timeout", l.Timeout < 0}, {"limits.cpuMs", l.CPU < 0}, {"memory", l.MemoryBytes < 0},
		{"limits.outputBytes", l.OutputBytes < 0}, {"limits.logEntries", l.LogEntries < 0},
		{"limits.apiCalls", l.APICalls < 0},
	} {
		if n.negative {
			bad(n.field, "%s must not be negative", n.field)
		}
	}
	if l := r.Language; l != "" && l != scripttext.JavaScript && l != scripttext.TypeScript {
		bad("language", "unknown language %q; accepted are %s and %s", quote.Clip(l, 40), scripttext.JavaScript,
			scripttext.TypeScript)
	}
	for i, h := range r.Hosts {
		if _, err := address.ParsePattern(h); err != nil {
			bad(fmt.Sprintf("hosts[%d]", i), "%v", err)
		}
	}
	return nil
}

// chooseTier finds the tier and gathers the layers. Without a tier the checks after it stay silent.
func chooseTier(e *evaluation) error {
	name := cmp.Or(e.request.Tier, DefaultTier)
	e.decision.Tier = name
	t := e.rules.Tier(name)
	if t == nil {
		e.deny(Reason{Rule: "tier", Source: builtIn, Field: "policy", Invalid: true,
			Message: fmt.Sprintf("unknown policy %q; accepted are %s", quote.Clip(name, 40), e.rules.TierNames())})
		return nil
	}
	e.tier = t
	e.layers = []Layer{e.rules.Everybody, e.rules.tenant(e.request.Tenant), tokenLayer(e.request.Scopes)}
	for _, l := range e.layers {
		if l.Tiers != nil && !slices.Contains(l.Tiers, name) {
			e.deny(Reason{Rule: l.Rule, Source: l.Source, Field: "policy",
				Message: fmt.Sprintf("the %s does not permit policy %q, only %s", l.Rule, name, orNone(l.Tiers))})
		}
	}
	return nil
}

// checkSize denies a source that is longer than the tier accepts.
func checkSize(e *evaluation) error {
	if e.tier == nil {
		return nil
	}
	check := func(field string, size int) {
		if size > e.grants.CodeBytes {
			e.deny(Reason{Rule: "code-size", Source: e.tier.Source, Field: field, Invalid: true,
				Message: fmt.Sprintf("%s has %d bytes; policy %q accepts at most %d", field, size, e.tier.Name,
					e.grants.CodeBytes)})
		}
	}
	check("code", len(e.request.Code))
	for _, name := range slices.Sorted(maps.Keys(e.request.Files)) {
		if scripttext.Runnable(name) {
			check("files."+name, len(e.request.Files[name]))
		}
	}
	return nil
}

// scanCode scans the code and every extra source that could run, unless a source is too long.
func scanCode(e *evaluation) error {
	oversized := slices.ContainsFunc(e.decision.Reasons, func(r Reason) bool { return r.Rule == "code-size" })
	if e.tier == nil || oversized {
		return nil
	}
	in := e.request.scanInput(&e.grants, e.tier.BlockLevel, e.rules.Patterns, e.syntax)
	found, err := e.set.memo.scan(e.ctx, e.request, in, e.scan)
	if err != nil {
		e.scanError = err
		return err
	}
	e.decision.Analysis, e.decision.Telemetry, e.decision.SyntaxError = found.Analysis, found.Telemetry, found.Syntax
	e.decision.Scanned, e.matches = &in, found.Matches
	return nil
}

// checkPatterns denies text that matches one of the deployment's forbidden patterns.
func checkPatterns(e *evaluation) error {
	for _, m := range e.matches {
		if m.Pattern < 0 || m.Pattern >= len(e.rules.Patterns) {
			return errors.New("the scan matched a pattern that does not exist")
		}
		p := e.rules.Patterns[m.Pattern]
		e.deny(Reason{Rule: forbiddenPattern, Source: p.Source, Field: m.Field,
			Message: fmt.Sprintf("forbidden pattern %s at line %d, column %d: %s", p.Name, m.Line, m.Column, m.Excerpt)})
	}
	return nil
}

// checkCategories denies code with a finding of a forbidden category, even where the tier grants the power.
func checkCategories(e *evaluation) error {
	for _, c := range e.rules.Forbidden {
		for _, f := range e.decision.Analysis.Findings {
			if f.Category == c.Name {
				e.deny(Reason{Rule: forbiddenCategory, Source: c.Source, Field: "code",
					Message: fmt.Sprintf("%s is forbidden here: %s (line %d, column %d)", c.Name, f.Message, f.Line, f.Column)})
				break
			}
		}
	}
	return nil
}

// checkLevel denies code of a level that the tier refuses. Every finding that counts becomes a violation.
func checkLevel(e *evaluation) error {
	a := &e.decision.Analysis
	if e.tier == nil || threat.Rank(a.Level) < threat.Rank(e.tier.BlockLevel) {
		return nil
	}
	e.deny(Reason{Rule: threatLevel, Source: e.tier.Source, Field: "code",
		Message: fmt.Sprintf("level %s (score %d) is blocked under policy %q, which refuses %s and above%s",
			a.Level, a.Score, e.tier.Name, e.tier.BlockLevel, e.wayOut())})
	for _, f := range a.Findings {
		if f.Score > 0 {
			e.decision.Violations = append(e.decision.Violations,
				fmt.Sprintf("%s: %s (line %d, column %d)", f.Category, f.Message, f.Line, f.Column))
		}
	}
	return nil
}

// wayOut returns the end of a refusal that says which tiers run code from strings, if that is what the tier refuses.
func (e *evaluation) wayOut() string {
	if e.grants.Eval {
		return ""
	}
	found := false
	for _, f := range e.decision.Analysis.Findings {
		if f.Score >= threat.Weight(threat.CodeInjection) {
			if f.Category != threat.CodeInjection {
				return ""
			}
			found = true
		}
	}
	var with []string
	for _, t := range e.rules.Tiers {
		if t.Eval {
			with = append(with, t.Name)
		}
	}
	if !found || len(with) == 0 {
		return ""
	}
	return "; code from strings (eval, Function) runs only under policy " + strings.Join(with, " or ")
}

// orNone joins names for a message.
func orNone(names []string) string { return cmp.Or(strings.Join(names, ", "), "none") }
