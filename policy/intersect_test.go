package policy_test

import (
	"slices"
	"testing"

	"github.com/airlock-run/airlock/policy"
)

// A caller has only what deployment, tenant, token and tier all permit, in any combination and spelling.
func TestMeet(t *testing.T) {
	const base = "hosts: [a.test, '*.b.test']\nsecrets: {KEY: [a.test], OTHER: [a.test]}\n"
	allowed := func(policy.Decision) bool { return true }
	for name, c := range map[string]struct {
		file  string
		ask   policy.Request
		allow bool
		holds func(policy.Decision) bool
	}{
		"no tier is left":               {"allow: {tiers: []}", policy.Request{}, false, nil},
		"no tier is left to the tenant": {"tenants: {acme: {tiers: []}}", policy.Request{Tenant: "acme"}, false, nil},
		"any module is no more than have": {"allow: {modules: ['*']}", policy.Request{Tier: "strict"}, true,
			func(d policy.Decision) bool { return slices.Equal(d.Grants.Modules, policy.Builtin()[0].Modules) }},
		"of any module, one": {"allow: {modules: [fs]}", policy.Request{Tier: "agent"}, true,
			func(d policy.Decision) bool { return slices.Equal(d.Grants.Modules, []string{"fs"}) }},
		"a tool by its name": {"allow: {tools: [mail.send]}", policy.Request{Tools: []string{"mail:send"}},
			true, allowed},
		"another tool": {"allow: {tools: [mail.send]}", policy.Request{Tools: []string{"mail:sender"}},
			false, nil},
		"another tool than the token's": {"", policy.Request{Tools: []string{"mail:sender"},
			Scopes: []string{"tool:mail.send"}}, false, nil},
		"the token's secret": {"", policy.Request{Secrets: []string{"KEY"}, Scopes: []string{"secret:KEY"}},
			true, allowed},
		"another secret than the token's": {"", policy.Request{Secrets: []string{"OTHER"}, Scopes: []string{"secret:KEY"}},
			false, nil},
		"another tier than the token's": {"", policy.Request{Tier: "agent", Scopes: []string{"tier:strict"}}, false, nil},
		"a public host, within both lists": {"allow: {hosts: ['*.b.test']}\ntenants: {acme: {hosts: [x.b.test]}}",
			policy.Request{Tier: "agent", Tenant: "acme", Hosts: []string{"x.b.test"}}, true, allowed},
		"a public host of the tenant alone": {"allow: {hosts: [a.test]}\ntenants: {acme: {hosts: [x.b.test]}}",
			policy.Request{Tier: "agent", Tenant: "acme", Hosts: []string{"x.b.test"}}, false, nil},
		"no public host is in both lists": {"allow: {hosts: [a.test]}\ntenants: {acme: {hosts: [x.b.test]}}",
			policy.Request{Tier: "agent", Tenant: "acme"}, true,
			func(d policy.Decision) bool { return d.Grants.Network == policy.NetworkNone }},
		"a public host beside the list": {"allow: {hosts: [a.test]}",
			policy.Request{Tier: "agent", Hosts: []string{"c.test"}}, false, nil},
		"a public host beside the token": {"", policy.Request{Tier: "agent", Hosts: []string{"c.test"},
			Scopes: []string{"host:a.test"}}, false, nil},
		"a public host, unrestricted": {"", policy.Request{Tier: "agent", Hosts: []string{"c.test"}}, true, allowed},
		"a host on another port": {"allow: {hosts: ['a.test:8443']}",
			policy.Request{Tier: "agent", Hosts: []string{"a.test:443"}}, false, nil},
		"a tenant without an entry": {"tenants: {'*': {tiers: [strict]}, acme: {}}", policy.Request{Tenant: "other"},
			false, nil},
		"a caller without a tenant": {"tenants: {'*': {tiers: [strict]}, acme: {}}", policy.Request{}, false, nil},
		"the tenant without a name": {"tenants: {'*': {tiers: [strict]}, '': {}}", policy.Request{}, false, nil},
		"a tenant with an entry": {"tenants: {'*': {tiers: [strict]}, acme: {}}", policy.Request{Tenant: "acme"},
			true, allowed},
		"a pattern in another file": {"forbid: {patterns: [{name: x, pattern: needle}]}",
			policy.Request{Files: map[string]string{"a.js": "1", "b.mjs": "// needle"}}, false, nil},
		"a pattern in a text": {"forbid: {patterns: [{name: x, pattern: needle}]}",
			policy.Request{Files: map[string]string{"a.txt": "needle"}}, true, allowed},
	} {
		t.Run(name, func(t *testing.T) {
			c.ask.Code = "1"
			d := parsed(t, base+c.file+"\n").Decide(c.ask)
			if (d.Effect == policy.Allow) != c.allow || c.allow && !c.holds(d) {
				t.Errorf("%v, %+v\n%v", d.Effect, d.Grants, d.ReasonLines())
			}
			if !c.allow && len(d.Violations) == 0 {
				t.Error("denied without a word")
			}
		})
	}
}
