package policy

import (
	"github.com/airlock-run/airlock/policy/scan"
	"github.com/airlock-run/airlock/policy/threat"
)

// Effect is the outcome of a decision. The zero value refuses.
type Effect int

// The effects.
const (
	Deny Effect = iota
	Allow
)

// String returns "allow" or "deny".
func (e Effect) String() string {
	if e == Allow {
		return "allow"
	}
	return "deny"
}

// MarshalText writes the effect as its String.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// A Decision is the answer to a [Request]. Only Effect == Allow permits the run, within Grants; a denial grants
// nothing.
type Decision struct {
	Effect Effect `json:"effect"`
	Tier   string `json:"tier"`
	Grants Grants `json:"grants"`
	// Reasons explains every denial and every restriction that took effect, and names what allowed an allowed run.
	Reasons []Reason `json:"reasons"`
	// Violations are the denials in one line each; never nil.
	Violations  []string            `json:"violations"`
	Analysis    threat.Analysis     `json:"dangerAnalysis"`
	Telemetry   threat.Telemetry    `json:"astTelemetry"`
	SyntaxError *threat.SyntaxError `json:"syntaxError"`
	// Scanned is what Analysis is about; nil if nothing was scanned.
	Scanned *scan.Input `json:"-"`
}

// BadField returns the first reason that finds the request itself at fault (an unknown tier, a negative number). Such a
// request is answered with status 400 instead of "blocked".
func (d Decision) BadField() (Reason, bool) {
	for _, r := range d.Reasons {
		if r.Invalid {
			return r, true
		}
	}
	return Reason{}, false
}

// ReasonLines returns the reasons as text, for the audit record.
func (d Decision) ReasonLines() []string {
	lines := make([]string, len(d.Reasons))
	for i, r := range d.Reasons {
		lines[i] = r.String()
	}
	return lines
}

// A Reason is one step of the decision: which rule, from which source, about which field of the request.
type Reason struct {
	Effect Effect `json:"effect"`
	// Rule is a stable name: "tier", "request", "tenant", "token", "deployment", "hosts", "secrets", "tools", "modules",
	// "code-size", "engine", "forbidden-category", "forbidden-pattern", "threat-level", or the rule that failed.
	Rule string `json:"rule"`
	// Source locates the rule: "built-in", "request", "token", or file and line of the deployment's policy.
	Source  string `json:"source"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
	// Invalid marks a request that is itself at fault.
	Invalid bool `json:"invalid,omitempty"`
}

// The rules that weigh what the scan found in the code.
const (
	forbiddenPattern  = "forbidden-pattern"
	forbiddenCategory = "forbidden-category"
	threatLevel       = "threat-level"
)

// OfScan reports whether the rule weighs what the scan found in the code.
func (r Reason) OfScan() bool {
	return r.Rule == forbiddenPattern || r.Rule == forbiddenCategory || r.Rule == threatLevel
}

// String returns the reason as one line.
func (r Reason) String() string {
	return r.Effect.String() + " by " + r.Rule + " (" + r.Source + "): " + r.Message
}
