package policy

import (
	"slices"
	"strings"
)

// A Layer holds the restrictions of one source (deployment, tenant, token). A nil list restricts nothing, an empty one
// leaves nothing.
type Layer struct {
	// Rule is "deployment", "tenant" or "token", Source the place of the rule: see [Reason].
	Rule, Source string

	Tiers   []string
	Hosts   []string
	Secrets []string
	Tools   []string
	Modules []string
	Limits  Limits
	Quota   Quota
}

// tokenLayer reads the scopes that concern policy.
func tokenLayer(scopes []string) Layer {
	l := Layer{Rule: "token", Source: "token"}
	for _, s := range scopes {
		kind, value, ok := strings.Cut(s, ":")
		if !ok || value == "" {
			continue
		}
		switch kind {
		case "tier":
			l.Tiers = append(l.Tiers, value)
		case "host":
			l.Hosts = append(l.Hosts, strings.ToLower(value))
		case "secret":
			l.Secrets = append(l.Secrets, value)
		case "tool":
			l.Tools = append(l.Tools, value)
		}
	}
	return l
}

// dotted returns the name of a tool in the spelling "namespace.method".
func dotted(tool string) string { return strings.Replace(tool, ":", ".", 1) }

// toolAllowed reports whether a tool matches one of the patterns: exact names, "namespace.*" or "*".
func toolAllowed(patterns []string, tool string) bool {
	tool = dotted(tool)
	return slices.ContainsFunc(patterns, func(p string) bool {
		p = dotted(p)
		if prefix, ok := strings.CutSuffix(p, "*"); ok {
			return strings.HasPrefix(tool, prefix)
		}
		return p == tool
	})
}

// intersectModules returns the modules that both lists hold. Either may hold AnyModule.
func intersectModules(have, want []string) []string {
	switch {
	case slices.Contains(want, AnyModule):
		return have
	case slices.Contains(have, AnyModule):
		return want
	}
	out := []string{}
	for _, m := range have {
		if slices.Contains(want, m) {
			out = append(out, m)
		}
	}
	return out
}
