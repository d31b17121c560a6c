package policy

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Set is the built-in tiers and what one deployment made of them. It never changes after it was made and is safe for
// concurrent use. The zero Set knows no tier and so denies everything.
type Set struct {
	tiers []namedTier
	// hosts are what the deployment opened; hostsFrom is where it says so.
	hosts     []string
	hostsFrom string
	secrets   map[string]secretRule
	// deployment restricts everybody, tenants one tenant each; the tenant "*" stands for all that have no entry.
	deployment layer
	tenants    map[string]layer
	forbidden  []forbiddenCategory
	patterns   []pattern
	rules      []rule
	reader     *LocalReader
	memo       *memo
}

type namedTier struct {
	Tier
	source string
}

type secretRule struct {
	hosts  []string
	source string
}

type forbiddenCategory struct{ name, source string }

type pattern struct {
	name, source string
	expr         *regexp.Regexp
}

const builtIn = "built-in"

// Default gives the built-in tiers with nothing opened, added or forbidden.
func Default() *Set {
	s := &Set{rules: standardRules(), reader: NewLocalReader(), memo: &memo{}}
	for _, t := range Builtin() {
		s.tiers = append(s.tiers, namedTier{t, builtIn})
	}
	return s
}

// Tiers gives all tiers, the built-ins first. The caller owns them.
func (s *Set) Tiers() []Tier {
	out := make([]Tier, len(s.tiers))
	for i, t := range s.tiers {
		out[i] = t.Tier.clone()
	}
	return out
}

// Tier gives one tier by its name.
func (s *Set) Tier(name string) (Tier, bool) {
	if t := s.find(name); t != nil {
		return t.Tier.clone(), true
	}
	return Tier{}, false
}

// Hosts gives the hosts that the deployment opened, for the egress rules of the host's own calls. The caller owns it.
func (s *Set) Hosts() []string { return slices.Clone(s.hosts) }

// Secrets gives the names of the secrets that the deployment knows, sorted.
func (s *Set) Secrets() []string { return slices.Sorted(maps.Keys(s.secrets)) }

// WithHosts gives a Set that opens more hosts: exact names or addresses, "*.example.com", each with an optional ":port".
// Source says where they were set and appears in reasons, such as "EGRESS_ALLOW".
func (s *Set) WithHosts(source string, hosts ...string) (*Set, error) {
	out := *s
	out.hosts = slices.Clone(s.hosts)
	for _, h := range hosts {
		p, err := parseHost(h)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
		if !slices.Contains(out.hosts, p) {
			out.hosts = append(out.hosts, p)
		}
	}
	switch {
	case len(hosts) == 0:
	case out.hostsFrom == "":
		out.hostsFrom = source
	default:
		out.hostsFrom += " and " + source
	}
	return &out, nil
}

// Quota is how much of the service one tenant may use. Zero means that the deployment set none.
type Quota struct {
	Concurrent int `json:"concurrent,omitempty"`
	PerMinute  int `json:"perMinute,omitempty"`
	PerDay     int `json:"perDay,omitempty"`
	// Storage is what the tenant may keep.
	Storage Storage `json:"storage,omitzero"`
}

// Storage is what a tenant may keep of saved functions and jobs: bytes, a number of schedules, and ages. Zero means the
// store's default.
type Storage struct {
	Functions  int64 `json:"functions,omitempty"`
	Jobs       int64 `json:"jobs,omitempty"`
	Results    int64 `json:"results,omitempty"`
	Deliveries int64 `json:"deliveries,omitempty"`
	Keys       int64 `json:"keys,omitempty"`
	Schedules  int64 `json:"schedules,omitempty"`

	KeepResults time.Duration `json:"keepResults,omitempty"`
	KeepEvents  time.Duration `json:"keepEvents,omitempty"`
	KeepKeys    time.Duration `json:"keepKeys,omitempty"`
}

// Quota gives a tenant's quota: its own, else that of the tenant "*".
func (s *Set) Quota(tenant string) Quota { return s.tenant(tenant).quota }

func (s *Set) tenant(name string) layer {
	if l, ok := s.tenants[name]; ok && name != "" {
		return l
	}
	return s.tenants["*"]
}

func (s *Set) find(name string) *namedTier {
	for i := range s.tiers {
		if s.tiers[i].Name == name {
			return &s.tiers[i]
		}
	}
	return nil
}

func (s *Set) tierNames() string {
	names := make([]string, len(s.tiers))
	for i, t := range s.tiers {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}
