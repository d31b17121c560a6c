package policy

import (
	"fmt"
	"maps"
	"slices"

	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/policy/scan"
)

// A Set decides by the rules of one deployment. The rules never change after New; only the memo of scans does. A Set is
// safe for concurrent use. The zero Set knows no tier and denies everything.
type Set struct {
	rules   Rules
	checks  []check
	scanner *scan.Scanner
	memo    *memo
}

// New returns a Set that decides by the rules. The caller must not change them afterwards.
func New(r Rules) *Set {
	return &Set{rules: r, checks: standardChecks(), scanner: scan.New(), memo: &memo{}}
}

// Default returns a Set of the built-in tiers with nothing opened, added or forbidden.
func Default() *Set { return New(BuiltinRules()) }

// Tiers returns all tiers, the built-ins first. The caller owns them.
func (s *Set) Tiers() []Tier {
	out := make([]Tier, len(s.rules.Tiers))
	for i, t := range s.rules.Tiers {
		out[i] = t.Tier.clone()
		out[i].Packages = s.rules.packagesOf(&t.Tier)
	}
	return out
}

// Tier returns one tier by its name.
func (s *Set) Tier(name string) (Tier, bool) {
	if t := s.rules.Tier(name); t != nil {
		return t.Tier.clone(), true
	}
	return Tier{}, false
}

// Hosts returns the hosts that the deployment opened, for the egress rules of the host's own calls. The caller owns it.
func (s *Set) Hosts() []string { return slices.Clone(s.rules.Hosts) }

// Secrets returns the names of the secrets that the deployment knows, sorted.
func (s *Set) Secrets() []string { return slices.Sorted(maps.Keys(s.rules.Secrets)) }

// Quota returns a tenant's quota: its own, otherwise that of the tenant "*".
func (s *Set) Quota(tenant string) Quota { return s.rules.tenant(tenant).Quota }

// WithHosts returns a Set that opens more hosts: exact names or addresses, "*.example.com", each with an optional
// ":port". Source names the setting in reasons, such as "EGRESS_ALLOW".
func (s *Set) WithHosts(source string, hosts ...string) (*Set, error) {
	out := *s
	r := &out.rules
	r.Hosts = slices.Clone(r.Hosts)
	for _, h := range hosts {
		p, err := address.ParsePattern(h)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
		if !slices.Contains(r.Hosts, p) {
			r.Hosts = append(r.Hosts, p)
		}
	}
	switch {
	case len(hosts) == 0:
	case r.HostsFrom == "":
		r.HostsFrom = source
	default:
		r.HostsFrom += " and " + source
	}
	return &out, nil
}
