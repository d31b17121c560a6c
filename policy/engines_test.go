package policy_test

import (
	"strings"
	"testing"

	"github.com/airlock-run/airlock/policy"
)

// The engine that a request names is granted, replaced by QuickJS, or refused with the setting that would allow it.
func TestEngines(t *testing.T) {
	rules := policy.BuiltinRules()
	for i := range rules.Tiers {
		if rules.Tiers[i].Name == "strict" {
			rules.Tiers[i].Engines = []string{policy.QuickJS}
		}
	}
	set := policy.New(rules)
	off, on := policy.Engines{}, policy.Engines{On: []string{"v8"}}
	falling := policy.Engines{On: []string{"v8"}, Fallback: true}
	for _, c := range []struct {
		name    string
		engines policy.Engines
		request policy.Request
		engine  string
		field   string
		message string
	}{
		{"none named", on, policy.Request{}, "", "", ""},
		{"quickjs", off, policy.Request{Engine: "quickjs"}, "", "", ""},
		{"turned on", on, policy.Request{Engine: "v8"}, "v8", "", ""},
		{"turned off", off, policy.Request{Engine: "v8"}, "", "engine", "ENGINES=quickjs,v8"},
		{"another turned on", on, policy.Request{Engine: "jsc"}, "", "engine", "ENGINES=quickjs,jsc"},
		{"fallback", policy.Engines{Fallback: true}, policy.Request{Engine: "v8"}, "", "", ""},
		{"fallback of another", falling, policy.Request{Engine: "jsc"}, "", "", ""},
		{"turned on, with fallback", falling, policy.Request{Engine: "v8"}, "v8", "", ""},
		{"unknown", falling, policy.Request{Engine: "spidermonkey"}, "", "engine", "accepted are quickjs, v8, jsc"},
		{"tier narrows", on, policy.Request{Engine: "v8", Tier: "strict"}, "", "engine", `"strict" permits only quickjs`},
		{"tier narrows, with fallback", falling, policy.Request{Engine: "v8", Tier: "strict"}, "", "", ""},
		{"needs quickjs", on, policy.Request{Engine: "v8", QuickJSOnly: []string{"seed"}}, "", "seed",
			"needs the engine quickjs"},
		{"needs quickjs, has it", on, policy.Request{QuickJSOnly: []string{"seed"}}, "", "", ""},
	} {
		c.request.Code = "1"
		d := set.WithEngines(c.engines).Decide(c.request)
		bad, invalid := d.BadField()
		if invalid != (c.field != "") || bad.Field != c.field || !strings.Contains(bad.Message, c.message) {
			t.Errorf("%s: field %q, %q", c.name, bad.Field, bad.Message)
		}
		if d.Grants.Engine != c.engine || !invalid && d.Effect != policy.Allow {
			t.Errorf("%s: %v grants engine %q, want %q", c.name, d.Effect, d.Grants.Engine, c.engine)
		}
	}
}
