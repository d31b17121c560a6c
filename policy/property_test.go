package policy_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/deployment"
)

// restrictions holds lines that only restrict, by the section of the file that they belong to.
var restrictions = map[string][]string{
	"tiers": {
		"  strict: {timeout: 1s}", "  standard: {network: none}", "  extended: {eval: false}", "  agent: {modules: [crypto]}",
	},
	"allow": {
		"  tiers: [standard, agent]", "  tools: ['weather.*']", "  secrets: []", "  modules: [crypto]", "  hosts: [a.test]",
		"  limits: {timeout: 3s, memory: 8mb, apiCalls: 2}",
	},
	"tenants": {
		"  acme: {tiers: [standard]}", "  '*': {tiers: [strict, agent], limits: {output: 1kb}}",
		"  other: {tools: [], hosts: []}",
	},
	"forbid": {
		"  categories: [network_request, module_loading]", "  lists: [legacy]", "  patterns: [{name: x, pattern: 'return'}]",
	},
}

var sections = []string{"tiers", "allow", "tenants", "forbid"}

// file returns a policy file with the chosen restrictions.
func file(chosen map[string]bool) string {
	var b strings.Builder
	b.WriteString("hosts: [a.test, '*.b.test']\nsecrets: {KEY: [a.test]}\n")
	for _, section := range sections {
		head := section + ":\n"
		for _, line := range restrictions[section] {
			name, _, _ := strings.Cut(line, ":")
			switch {
			case chosen[line]:
				b.WriteString(head + line + "\n")
				head = ""
			case section == "tenants":
				// A tenant's own entry replaces that of "*": only the lines of an entry are restrictions.
				b.WriteString(head + name + ": {}\n")
				head = ""
			}
		}
	}
	return b.String()
}

func randomAsk(r *rand.Rand) policy.Request {
	pick := func(options ...string) string { return options[r.IntN(len(options))] }
	some := func(options ...string) []string {
		if r.IntN(2) == 0 {
			return nil
		}
		return []string{pick(options...)}
	}
	return policy.Request{
		Code: pick(fib, "return 1", "eval('1')", "await fetch('https://a.test')", "require('crypto')",
			"require('fs').readFileSync('x')", "let = ;"),
		Tier:    pick("", "strict", "standard", "extended", "agent"),
		Tenant:  pick("", "acme", "other", "third"),
		Hosts:   some("a.test", "x.b.test", "c.test"),
		Secrets: some("KEY", "NONE"),
		Tools:   some("weather:now", "mail.send"),
		Modules: some("crypto", "fs"),
		Scopes:  some("tier:agent", "host:a.test", "execute", "tool:weather.*"),
		Limits:  policy.Limits{Timeout: time.Duration(r.IntN(3)) * time.Second},
	}
}

// TestRestrictionsNeverAllowMore adds one restriction at a time to random policy files and compares random decisions.
func TestRestrictionsNeverAllowMore(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		chosen := map[string]bool{}
		var left []string
		for _, section := range sections {
			for _, line := range restrictions[section] {
				if r.IntN(3) == 0 {
					chosen[line] = true
				} else {
					left = append(left, line)
				}
			}
		}
		loose := parsed(t, file(chosen))
		added := left[r.IntN(len(left))]
		chosen[added] = true
		tight := parsed(t, file(chosen))
		for range 20 {
			ask := randomAsk(r)
			before, after := loose.Decide(ask), tight.Decide(ask)
			if why := exceeds(after, before); why != "" {
				t.Fatalf("adding %q: %s\nask %+v\nbefore %v\nafter %v", added, why, ask, before.ReasonLines(), after.ReasonLines())
			}
			// A request or a token that asks for less is restricted, too.
			less := ask
			less.Limits.Timeout, less.Limits.LogEntries = time.Millisecond, 1
			less.Modules, less.Scopes = []string{}, append([]string{"secret:NONE"}, ask.Scopes...)
			if why := exceeds(loose.Decide(less), before); why != "" {
				t.Fatalf("asking less: %s\nask %+v", why, ask)
			}
		}
	}
}

func parsed(t *testing.T, text string) *policy.Set {
	t.Helper()
	set, err := deployment.Parse("policy.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return set
}

// exceeds returns what the first decision permits beyond the second, or "".
func exceeds(a, b policy.Decision) string {
	if a.Effect == policy.Deny {
		return ""
	}
	if b.Effect == policy.Deny {
		return "allows what was denied"
	}
	x, y := a.Grants, b.Grants
	rank := map[string]int{"none": 0, "allowlist": 1, "read": 1, "public": 2, "write": 2}
	switch {
	case x.Timeout > y.Timeout, x.CPU > y.CPU, x.MemoryBytes > y.MemoryBytes, x.OutputBytes > y.OutputBytes,
		x.LogEntries > y.LogEntries,
		x.LogChars > y.LogChars, x.APICalls > y.APICalls, x.CodeBytes > y.CodeBytes:
		return fmt.Sprintf("a limit grew: %+v over %+v", x, y)
	case x.Eval && !y.Eval, rank[x.Network] > rank[y.Network], rank[x.Files] > rank[y.Files]:
		return fmt.Sprintf("a power grew: %+v over %+v", x, y)
	case x.Network == "public" && len(x.Hosts) == 0 && len(y.Hosts) > 0:
		return "hosts were opened"
	case !within(x.Modules, y.Modules) || !within(x.Secrets, y.Secrets) || !within(x.Tools, y.Tools) ||
		!within(x.OpenedHosts, y.OpenedHosts):
		return fmt.Sprintf("a list grew: %+v over %+v", x, y)
	case !within(x.Hosts, y.Hosts) && !(y.Network == "public" && len(y.Hosts) == 0):
		return fmt.Sprintf("hosts grew: %v over %v", x.Hosts, y.Hosts)
	}
	return ""
}

func within(small, large []string) bool {
	have := map[string]bool{}
	for _, s := range large {
		have[s] = true
	}
	for _, s := range small {
		if !have[s] && !have["*"] {
			return false
		}
	}
	return true
}
