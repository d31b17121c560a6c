package policy

import (
	"regexp"
	"slices"
	"strings"
)

// Rules holds everything that a [Set] decides by. [BuiltinRules] returns the rules without a deployment's file; package
// deployment changes them as the file says.
type Rules struct {
	// Tiers holds the built-in tiers first, in their order.
	Tiers []SourcedTier
	// Hosts are the patterns that the deployment opened. HostsFrom is the place of that setting.
	Hosts     []string
	HostsFrom string
	// Secrets maps the names of secrets to the hosts that they may be sent to.
	Secrets map[string]Secret
	// Everybody restricts every caller, Tenants one tenant each. The tenant "*" stands for all that have no entry.
	Everybody Layer
	Tenants   map[string]Layer
	Forbidden []ForbiddenCategory
	Patterns  []Pattern
	// Engines are the engines besides QuickJS.
	Engines Engines
	// Packages are the names of the packages that code can import.
	Packages []string
}

// A SourcedTier is a tier and the place where it is defined: "built-in", or file and line.
type SourcedTier struct {
	Tier
	Source string
}

// A Secret names the hosts that a secret may be sent to. Source is the place of the rule.
type Secret struct {
	Hosts  []string
	Source string
}

// A ForbiddenCategory denies code with a finding of that category, even where the tier grants the power.
type ForbiddenCategory struct{ Name, Source string }

// A Pattern denies text that matches it.
type Pattern struct {
	Name, Source string
	Expr         *regexp.Regexp
}

const builtIn = "built-in"

// BuiltinRules returns the built-in tiers with nothing opened, added or forbidden. The caller owns them.
func BuiltinRules() Rules {
	var r Rules
	for _, t := range Builtin() {
		r.Tiers = append(r.Tiers, SourcedTier{t, builtIn})
	}
	return r
}

// Tier returns one tier by its name, or nil.
func (r *Rules) Tier(name string) *SourcedTier {
	i := slices.IndexFunc(r.Tiers, func(t SourcedTier) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Tiers[i]
}

// IsBuiltin reports whether a tier is a built-in one that no deployment has changed.
func (t *SourcedTier) IsBuiltin() bool { return t.Source == builtIn }

// TierNames returns the names of all tiers for a message.
func (r *Rules) TierNames() string {
	names := make([]string, len(r.Tiers))
	for i, t := range r.Tiers {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}

// tenant returns the layer of a tenant: its own, otherwise that of the tenant "*".
func (r *Rules) tenant(name string) Layer {
	if l, ok := r.Tenants[name]; ok && name != "" {
		return l
	}
	return r.Tenants["*"]
}
