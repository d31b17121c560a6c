package policy

import (
	"encoding/json"
	"time"
)

// Effect is the outcome. The zero value refuses.
type Effect int

// The effects.
const (
	Deny Effect = iota
	Allow
)

// String gives "allow" or "deny".
func (e Effect) String() string {
	if e == Allow {
		return "allow"
	}
	return "deny"
}

// MarshalText writes the effect as its String.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// Ask is the question. The zero value of every optional field means "what the tier says"; numbers and lists only narrow.
// A negative number is refused.
type Ask struct {
	Code string
	// Language is "javascript" (default) or "typescript".
	Language string
	// Entry is the file name of Code when it came from one; its extension may tell the language.
	Entry string
	// Tier defaults to DefaultTier.
	Tier string
	// Files holds further sources by relative path. Those that can run (.js, .mjs, .cjs, .jsx, .ts, .mts, .cts, .tsx) are scanned too.
	Files map[string]string
	// Saved says that the code is a saved function's: scanned and bundled once and then run again and again, it may be
	// SavedCodeFactor times as long as other code.
	Saved bool
	// Sum, when it is not empty, stands for Code, Language, Entry and Files: whoever gives the same Sum gives the same of
	// these. The scan of such code is remembered.
	Sum string
	// Globals are the names the host defines for this execution (context entries, tool namespaces); they shadow the
	// names the scan would otherwise take for host powers.
	Globals []string

	Timeout     time.Duration
	CPU         time.Duration
	MemoryBytes int64
	OutputBytes int64
	LogEntries  int
	APICalls    int
	// Hosts are exact names or "*.example.com", each with an optional ":port".
	Hosts   []string
	Secrets []string
	// Tools are the names of the request's tools, "namespace:method" or "namespace.method".
	Tools []string
	// Modules narrows the tier's modules.
	Modules []string

	Subject string
	Tenant  string
	// Scopes are the token's. "tier:NAME", "host:PATTERN", "secret:NAME" and "tool:PATTERN" restrict: when a token carries
	// any scope of such a kind, only what those name is available to it. Other scopes do not concern policy.
	Scopes []string
}

// Decision is the answer. Only Effect == Allow permits the run, within Grants; a denied decision grants nothing.
type Decision struct {
	Effect Effect `json:"effect"`
	Tier   string `json:"tier"`
	Grants Grants `json:"grants"`
	// Reasons explains every denial and every restriction that took effect, and says what allowed an allowed run.
	Reasons []Reason `json:"reasons"`
	// Violations are the denials in one line each; never nil.
	Violations  []string       `json:"violations"`
	Analysis    DangerAnalysis `json:"dangerAnalysis"`
	Telemetry   Telemetry      `json:"astTelemetry"`
	SyntaxError *SyntaxError   `json:"syntaxError"`
}

// BadField gives the first reason that says that the request itself is at fault (an unknown tier, a negative number):
// an answer of 400, not of "blocked".
func (d Decision) BadField() (Reason, bool) {
	for _, r := range d.Reasons {
		if r.Invalid {
			return r, true
		}
	}
	return Reason{}, false
}

// ReasonLines gives the reasons as text, for the audit record.
func (d Decision) ReasonLines() []string {
	lines := make([]string, len(d.Reasons))
	for i, r := range d.Reasons {
		lines[i] = r.String()
	}
	return lines
}

// Reason is one step of the decision: which rule, from which source, about which field of the request.
type Reason struct {
	Effect Effect `json:"effect"`
	// Rule is a stable name: "tier", "request", "tenant", "token", "deployment", "hosts", "secrets", "tools", "modules",
	// "code-size", "forbidden-category", "forbidden-pattern", "threat-level", or the rule that failed.
	Rule string `json:"rule"`
	// Source is where the rule stands: "built-in", "request", "token", or file and line of the deployment's policy.
	Source  string `json:"source"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
	// Invalid marks a request that is itself at fault.
	Invalid bool `json:"invalid,omitempty"`
}

// String gives the reason as one line.
func (r Reason) String() string {
	return r.Effect.String() + " by " + r.Rule + " (" + r.Source + "): " + r.Message
}

// Grants are the powers of one execution. The zero value grants nothing.
type Grants struct {
	Timeout     time.Duration
	CPU         time.Duration
	MemoryBytes int64
	OutputBytes int64
	LogEntries  int
	LogChars    int
	APICalls    int
	Depth       int
	CodeBytes   int
	Eval        bool
	// Network is "none", "allowlist" or "public". With "allowlist" only Hosts can be reached; with "public" any public
	// address, or only Hosts when it is not empty. Neither waives the check of the address behind the name.
	Network string
	Hosts   []string
	// OpenedHosts are the names that the deployment itself opened for this caller, for fetch and for tools: these, and no
	// others, may stand for a private or loopback address.
	OpenedHosts []string
	// Secrets are the names that may be substituted at egress, each only into requests to its own SecretHosts.
	Secrets     []string
	SecretHosts map[string][]string
	Tools       []string
	Files       string
	// Modules may hold AnyModule: every module that the sandbox provides.
	Modules []string
}

// MarshalJSON writes the grants in camelCase, durations in milliseconds, lists never null.
func (g Grants) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		TimeoutMs   int64    `json:"timeoutMs"`
		CPUMs       int64    `json:"cpuMs"`
		MemoryBytes int64    `json:"memoryBytes"`
		OutputBytes int64    `json:"outputBytes"`
		LogEntries  int      `json:"logEntries"`
		LogChars    int      `json:"logChars"`
		APICalls    int      `json:"apiCalls"`
		Depth       int      `json:"depth"`
		CodeBytes   int      `json:"codeBytes"`
		Eval        bool     `json:"eval"`
		Network     string   `json:"network"`
		Hosts       []string `json:"hosts"`
		OpenedHosts []string `json:"openedHosts"`
		Secrets     []string `json:"secrets"`
		Tools       []string `json:"tools"`
		Files       string   `json:"files"`
		Modules     []string `json:"modules"`
	}{
		g.Timeout.Milliseconds(), g.CPU.Milliseconds(), g.MemoryBytes, g.OutputBytes, g.LogEntries, g.LogChars, g.APICalls, g.Depth,
		g.CodeBytes, g.Eval, or(g.Network, NetworkNone), listed(g.Hosts), listed(g.OpenedHosts), listed(g.Secrets),
		listed(g.Tools), or(g.Files, FilesNone), listed(g.Modules),
	})
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
