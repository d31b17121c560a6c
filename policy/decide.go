package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// inquiry is one question on its way through the rules.
type inquiry struct {
	set      *Set
	ask      *Ask
	tier     *namedTier
	layers   []layer
	grants   Grants
	decision *Decision
	// syntax asks for every syntax error, read reads the text, matches are what it found of forbidden patterns.
	syntax  bool
	read    func(Text) (Reading, error)
	matches []Match
	// unread is why the text could not be read: there is no decision then.
	unread error
}

// rule looks at the question and denies, narrows or stays silent. An error denies.
type rule struct {
	name  string
	check func(*inquiry) error
}

// standardRules gives the rules in their order: each may rely on those before it.
func standardRules() []rule {
	return []rule{
		{"request", checkRequest},
		{"tier", chooseTier},
		{"limits", meetLimits},
		{"network", meetNetwork},
		{"secrets", meetSecrets},
		{"tools", meetTools},
		{"modules", chooseModules},
		{"code-size", checkSize},
		{"scan", readCode},
		{"forbidden-pattern", checkPatterns},
		{"forbidden-category", checkCategories},
		{"threat-level", checkLevel},
	}
}

// Decide answers whether the code may run and with what powers. It is pure and safe for concurrent use and never panics: a
// rule that fails denies with its name as the reason. It reads the code itself, see [LocalReader.Read]: what serves others
// takes DecideWith.
func (s *Set) Decide(a Ask) Decision {
	d, _ := s.decide(a, false, s.readHere) // readHere never fails
	return d
}

// DecideWith is Decide with a Reader of the code. The error is the Reader's.
func (s *Set) DecideWith(ctx context.Context, a Ask, read Reader) (Decision, error) {
	return s.decide(a, false, func(t Text) (Reading, error) { return read(ctx, t) })
}

func (s *Set) readHere(t Text) (Reading, error) { return s.reader.read(&t, false), nil }

func (s *Set) decide(a Ask, syntax bool, read func(Text) (Reading, error)) (Decision, error) {
	d := Decision{Analysis: DangerAnalysis{Level: Safe}}
	q := inquiry{set: s, ask: &a, decision: &d, syntax: syntax, read: read}
	for _, r := range s.rules {
		q.apply(r)
	}
	if len(s.rules) == 0 {
		q.deny(Reason{Rule: "rules", Source: builtIn, Message: "no rule allows this"})
	}
	if len(d.Violations) == 0 && q.tier != nil {
		d.Effect = Allow
		d.Grants = q.grants
		d.Reasons = append(d.Reasons, Reason{Effect: Allow, Rule: "tier", Source: q.tier.source,
			Message: "tier " + q.tier.Name + " allows code of level " + d.Analysis.Level})
	}
	d.Violations = listed(d.Violations)
	d.Analysis.Findings = listed(d.Analysis.Findings)
	d.Telemetry.AccessedIdentifiers = listed(d.Telemetry.AccessedIdentifiers)
	return d, q.unread
}

// apply runs one rule. What a failed rule knows is not told: it may be about us, not about the caller.
func (q *inquiry) apply(r rule) {
	failed := true
	defer func() {
		if recover() != nil || failed {
			q.deny(Reason{Rule: r.name, Source: builtIn, Message: "the rule " + r.name + " failed; what cannot be decided is denied"})
		}
	}()
	failed = r.check(q) != nil
}

func (q *inquiry) deny(r Reason) {
	r.Effect = Deny
	q.decision.Reasons = append(q.decision.Reasons, r)
	q.decision.Violations = append(q.decision.Violations, r.Message)
}

func (q *inquiry) note(rule, source, format string, args ...any) {
	q.decision.Reasons = append(q.decision.Reasons, Reason{Effect: Allow, Rule: rule, Source: source, Message: fmt.Sprintf(format, args...)})
}

func checkRequest(q *inquiry) error {
	bad := func(field, format string, args ...any) {
		q.deny(Reason{Rule: "request", Source: "request", Field: field, Invalid: true, Message: fmt.Sprintf(format, args...)})
	}
	a := q.ask
	for _, n := range [...]struct {
		field    string
		negative bool
	}{
		{"timeout", a.Timeout < 0}, {"limits.cpuMs", a.CPU < 0}, {"memory", a.MemoryBytes < 0},
		{"limits.outputBytes", a.OutputBytes < 0}, {"limits.logEntries", a.LogEntries < 0}, {"limits.apiCalls", a.APICalls < 0},
	} {
		if n.negative {
			bad(n.field, "%s must not be negative", n.field)
		}
	}
	if l := a.Language; l != "" && l != javaScript && l != typeScript {
		bad("language", "unknown language %q; accepted are %s and %s", clip(l, 40), javaScript, typeScript)
	}
	for i, h := range a.Hosts {
		if _, err := parseHost(h); err != nil {
			bad(fmt.Sprintf("hosts[%d]", i), "%v", err)
		}
	}
	return nil
}

// chooseTier finds the tier and gathers the layers; without a tier the rules after it have nothing to say.
func chooseTier(q *inquiry) error {
	name := or(q.ask.Tier, DefaultTier)
	q.decision.Tier = name
	t := q.set.find(name)
	if t == nil {
		q.deny(Reason{Rule: "tier", Source: builtIn, Field: "policy", Invalid: true,
			Message: fmt.Sprintf("unknown policy %q; accepted are %s", clip(name, 40), q.set.tierNames())})
		return nil
	}
	q.tier = t
	q.layers = []layer{q.set.deployment, q.set.tenant(q.ask.Tenant), tokenLayer(q.ask.Scopes)}
	for _, l := range q.layers {
		if l.tiers != nil && !slices.Contains(l.tiers, name) {
			q.deny(Reason{Rule: l.rule, Source: l.source, Field: "policy",
				Message: fmt.Sprintf("the %s does not permit policy %q, only %s", l.rule, name, or(strings.Join(l.tiers, ", "), "none"))})
		}
	}
	return nil
}

func checkSize(q *inquiry) error {
	if q.tier == nil {
		return nil
	}
	tooBig := func(field string, size int) {
		if size > q.grants.CodeBytes {
			q.deny(Reason{Rule: "code-size", Source: q.tier.source, Field: field, Invalid: true,
				Message: fmt.Sprintf("%s has %d bytes; policy %q accepts at most %d", field, size, q.tier.Name, q.grants.CodeBytes)})
		}
	}
	tooBig("code", len(q.ask.Code))
	for _, name := range q.runnableFiles() {
		tooBig("files."+name, len(q.ask.Files[name]))
	}
	return nil
}

// runnableFiles gives the names of the extra sources that the engine could run, sorted.
func (q *inquiry) runnableFiles() []string {
	var names []string
	for name := range q.ask.Files {
		if runnable(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// clip cuts what a message quotes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
