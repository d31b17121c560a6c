package policy

import (
	"context"
	"fmt"

	"github.com/airlock-run/airlock/policy/scan"
	"github.com/airlock-run/airlock/policy/threat"
)

// Decide reports whether code may run, and with what powers. It does no I/O, reads no clock and never panics: a check
// that fails denies with its name as the reason. It scans the code itself, however long a parser takes (see
// [scan.Scanner.Scan]), so a service that answers several callers uses DecideWith instead.
func (s *Set) Decide(r Request) Decision {
	d, _ := s.decide(context.Background(), r, false, s.scanner.Scan) // this scan never fails
	return d
}

// DecideWith decides like Decide, with the caller's own scan. The error is that of the scan.
func (s *Set) DecideWith(ctx context.Context, r Request, scanner scan.Func) (Decision, error) {
	return s.decide(ctx, r, false, scanner)
}

// Analyze decides about code that is not going to run. The decision equals that of Decide. It also holds a syntax error
// that the scan did not notice, or one in another file of the request. It costs a second parse.
func (s *Set) Analyze(r Request) Decision {
	d, _ := s.decide(context.Background(), r, true, s.scanner.Scan) // this scan never fails
	return d
}

// AnalyzeWith analyzes like Analyze, with the caller's own scan. The error is that of the scan.
func (s *Set) AnalyzeWith(ctx context.Context, r Request, scanner scan.Func) (Decision, error) {
	return s.decide(ctx, r, true, scanner)
}

// Validate returns the first reason that finds the request itself at fault, as [Decision.BadField] of a decision does.
// It does not scan the code, so it is cheap and decides nothing.
func (s *Set) Validate(r Request) (Reason, bool) {
	return s.evaluateUnscanned(&r).decision.BadField()
}

// evaluateUnscanned runs the checks that come before the scan of the code.
func (s *Set) evaluateUnscanned(r *Request) *evaluation {
	e := &evaluation{ctx: context.Background(), set: s, rules: &s.rules, request: r, decision: new(Decision)}
	for _, c := range s.checks {
		if c.name == scanCheck {
			break
		}
		e.run(c)
	}
	return e
}

// scanCheck is the name of the check that scans the code.
const scanCheck = "scan"

// standardChecks returns the checks in their order. Each may rely on those before it.
func standardChecks() []check {
	return []check{
		{"request", checkRequest},
		{"tier", chooseTier},
		{"limits", intersectLimits},
		{"network", intersectNetwork},
		{"secrets", intersectSecrets},
		{"tools", intersectTools},
		{"modules", chooseModules},
		{"packages", choosePackages},
		{"code-size", checkSize},
		{"engine", chooseEngine},
		{"waits", grantWaits},
		{scanCheck, scanCode},
		{forbiddenPattern, checkPatterns},
		{forbiddenCategory, checkCategories},
		{threatLevel, checkLevel},
	}
}

// decide runs every check. The code may run only if no check denied and a tier was found.
func (s *Set) decide(ctx context.Context, r Request, syntax bool, scanner scan.Func) (Decision, error) {
	d := Decision{Analysis: threat.Analysis{Level: threat.Safe}}
	e := evaluation{ctx: ctx, set: s, rules: &s.rules, request: &r, decision: &d, syntax: syntax, scan: scanner}
	for _, c := range s.checks {
		e.run(c)
	}
	if len(s.checks) == 0 {
		e.deny(Reason{Rule: "rules", Source: builtIn, Message: "no rule allows this"})
	}
	if len(d.Violations) == 0 && e.tier != nil {
		d.Effect = Allow
		d.Grants = e.grants
		d.Reasons = append(d.Reasons, Reason{Effect: Allow, Rule: "tier", Source: e.tier.Source,
			Message: "tier " + e.tier.Name + " allows code of level " + d.Analysis.Level})
	}
	d.Violations = listed(d.Violations)
	d.Analysis.Findings = listed(d.Analysis.Findings)
	d.Telemetry.AccessedIdentifiers = listed(d.Telemetry.AccessedIdentifiers)
	return d, e.scanError
}

// A check looks at the evaluation so far and denies, narrows the grants or stays silent. An error denies.
type check struct {
	name string
	run  func(*evaluation) error
}

// evaluation is one request on its way through the checks.
type evaluation struct {
	ctx      context.Context
	set      *Set
	rules    *Rules
	request  *Request
	tier     *SourcedTier
	layers   []Layer
	grants   Grants
	decision *Decision
	// syntax asks for every syntax error.
	syntax bool
	scan   scan.Func
	// matches are the places where the scan found forbidden patterns.
	matches []scan.Match
	// scanError is the reason why the code could not be scanned. The decision then means nothing.
	scanError error
}

// run runs one check. The reason of a check that failed does not quote its error, which may be about the platform.
func (e *evaluation) run(c check) {
	failed := true
	defer func() {
		if recover() != nil || failed {
			e.deny(Reason{Rule: c.name, Source: builtIn,
				Message: "the rule " + c.name + " failed; what cannot be decided is denied"})
		}
	}()
	failed = c.run(e) != nil
}

func (e *evaluation) deny(r Reason) {
	r.Effect = Deny
	e.decision.Reasons = append(e.decision.Reasons, r)
	e.decision.Violations = append(e.decision.Violations, r.Message)
}

// note records a restriction that took effect.
func (e *evaluation) note(l Layer, format string, args ...any) {
	e.decision.Reasons = append(e.decision.Reasons,
		Reason{Effect: Allow, Rule: l.Rule, Source: l.Source, Message: fmt.Sprintf(format, args...)})
}
