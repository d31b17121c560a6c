package policy_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/policy"
)

const fib = "const fib = n => n <= 1 ? n : fib(n-1) + fib(n-2); console.log(fib(10));"

func TestFirstExecution(t *testing.T) {
	d := policy.Default().Decide(policy.Request{Code: fib, Tier: "strict"})
	if d.Effect != policy.Allow {
		t.Errorf("the effect is %v", d.Effect)
	}
	if a := d.Analysis; a.Score != 0 || a.Level != "safe" || len(a.Findings) != 0 {
		t.Errorf("the analysis is %+v", a)
	}
	want := policy.Grants{Timeout: 5 * time.Second, CPU: 5 * time.Second, MemoryBytes: 32 << 20, OutputBytes: 1 << 20,
		LogEntries: 100, LogChars: 1000, APICalls: 50, Depth: 512, CodeBytes: 256 << 10, Network: "none", Files: "none",
		Modules: []string{"buffer", "crypto", "url", "util"}}
	if diff := cmp.Diff(want, d.Grants); diff != "" {
		t.Error(diff)
	}
	got, err := json.Marshal(d.Analysis)
	if err != nil || string(got) != `{"score":0,"level":"safe","findings":[]}` {
		t.Errorf("%s %v", got, err)
	}
	if !d.Telemetry.IsValid || !slices.Equal(d.Telemetry.AccessedIdentifiers, []string{"console"}) ||
		d.Telemetry.Metrics.FunctionCount != 1 {
		t.Errorf("telemetry %+v", d.Telemetry)
	}
}

func TestTiersGolden(t *testing.T) {
	got, err := json.MarshalIndent(policy.Builtin(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "tiers.json"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(string(want)), string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestDecide(t *testing.T) {
	set, err := policy.Default().WithHosts("EGRESS_ALLOW", "api.example.com", "*.internal.test:8443")
	if err != nil {
		t.Fatal(err)
	}
	ok := "return 1"
	for name, c := range map[string]struct {
		ask    policy.Request
		effect policy.Effect
		rule   string // of the first denial
		field  string
		bad    bool // the request is at fault
	}{
		"default tier": {ask: policy.Request{Code: ok}, effect: policy.Allow},
		"unknown tier": {ask: policy.Request{Code: ok, Tier: "root"}, rule: "tier", field: "policy", bad: true},
		"unknown language": {ask: policy.Request{Code: ok, Language: "python"}, rule: "request", field: "language",
			bad: true},
		"negative timeout": {ask: policy.Request{Code: ok, Limits: policy.Limits{Timeout: -1}}, rule: "request",
			field: "timeout", bad: true},
		"negative memory": {ask: policy.Request{Code: ok, Limits: policy.Limits{MemoryBytes: -1}}, rule: "request",
			field: "memory", bad: true},
		"code too large": {ask: policy.Request{Code: strings.Repeat(" ", 4<<20+1)}, rule: "code-size", field: "code",
			bad: true},
		"largest code": {ask: policy.Request{Code: strings.Repeat(" ", 4<<20)}, effect: policy.Allow},
		"code too large for strict": {ask: policy.Request{Tier: "strict", Code: strings.Repeat(" ", 256<<10+1)},
			rule: "code-size", field: "code", bad: true},
		"largest strict code": {ask: policy.Request{Tier: "strict", Code: strings.Repeat(" ", 256<<10)},
			effect: policy.Allow},
		"file too large": {ask: policy.Request{Code: ok,
			Files: map[string]string{"a.js": strings.Repeat(" ", 4<<20+1)}}, rule: "code-size", field: "files.a.js",
			bad: true},
		"dangerous file": {ask: policy.Request{Code: ok, Files: map[string]string{"a.js": "eval('1')"}},
			rule: "threat-level", field: "code"},
		"dangerous text file": {ask: policy.Request{Code: ok, Files: map[string]string{"a.txt": "eval('1')"}},
			effect: policy.Allow},
		"listed host": {ask: policy.Request{Code: ok, Hosts: []string{"API.example.com"}}, effect: policy.Allow},
		"host under a wildcard": {ask: policy.Request{Code: ok, Hosts: []string{"db.internal.test:8443"}},
			effect: policy.Allow},
		"wrong port": {ask: policy.Request{Code: ok, Hosts: []string{"db.internal.test:22"}}, rule: "hosts",
			field: "hosts[0]"},
		"unlisted host": {ask: policy.Request{Code: ok, Hosts: []string{"evil.test"}}, rule: "hosts",
			field: "hosts[0]"},
		"host without network": {ask: policy.Request{Code: ok, Tier: "strict", Hosts: []string{"api.example.com"}},
			rule: "hosts", field: "hosts[0]"},
		"any host under agent": {ask: policy.Request{Code: ok, Tier: "agent", Hosts: []string{"evil.test"}},
			effect: policy.Allow},
		"broken host": {ask: policy.Request{Code: ok, Tier: "agent", Hosts: []string{"a..b"}}, rule: "request",
			field: "hosts[0]", bad: true},
		"unknown secret": {ask: policy.Request{Code: ok, Secrets: []string{"KEY"}}, rule: "secrets",
			field: "secrets[0]"},
		"token without tier": {ask: policy.Request{Code: ok, Scopes: []string{"tier:strict"}}, rule: "token",
			field: "policy"},
		"token with tier": {ask: policy.Request{Code: ok, Scopes: []string{"tier:standard", "execute"}},
			effect: policy.Allow},
		"token without tool": {ask: policy.Request{Code: ok, Tools: []string{"mail:send"},
			Scopes: []string{"tool:weather.*"}}, rule: "tools", field: "tools[0]"},
		"token with tool": {ask: policy.Request{Code: ok, Tools: []string{"weather:now"},
			Scopes: []string{"tool:weather.*"}}, effect: policy.Allow},
		"eval under agent":    {ask: policy.Request{Code: "eval('1')", Tier: "agent"}, effect: policy.Allow},
		"eval under standard": {ask: policy.Request{Code: "eval('1')"}, rule: "threat-level", field: "code"},
		"commands under agent": {ask: policy.Request{Code: "require('child_process').exec('id')", Tier: "agent"},
			rule: "threat-level", field: "code"},
		"a module without commands": {ask: policy.Request{Code: "require('child_process')", Tier: "agent"},
			effect: policy.Allow},
		"high under strict": {ask: policy.Request{Code: "require('fs').readFileSync('x')", Tier: "strict"},
			rule: "threat-level", field: "code"},
		"high under standard": {ask: policy.Request{Code: "Object.setPrototypeOf(a, b); process.env.X"},
			effect: policy.Allow},
		"broken code": {ask: policy.Request{Code: "let x = ;"}, effect: policy.Allow},
	} {
		t.Run(name, func(t *testing.T) {
			d := set.Decide(c.ask)
			if d.Effect != c.effect {
				t.Fatalf("%v: %v", d.Effect, d.ReasonLines())
			}
			bad, isBad := d.BadField()
			if isBad != c.bad || isBad && bad.Field != c.field {
				t.Errorf("bad field %v %+v", isBad, bad)
			}
			if got, found := set.Validate(c.ask); found != isBad || got != bad {
				t.Errorf("Validate returns %v %+v, the decision %v %+v", found, got, isBad, bad)
			}
			if d.Effect == policy.Allow {
				return
			}
			i := slices.IndexFunc(d.Reasons, func(r policy.Reason) bool { return r.Effect == policy.Deny })
			if r := d.Reasons[i]; r.Rule != c.rule || r.Field != c.field {
				t.Errorf("the rule is %s of %s", r.Rule, r.Field)
			}
			ofScan := slices.Contains([]string{"forbidden-pattern", "forbidden-category", "threat-level"}, c.rule)
			if d.Reasons[i].OfScan() != ofScan {
				t.Errorf("%s is a rule about what the scan found: %t, want %t", c.rule, !ofScan, ofScan)
			}
			if r := d.Reasons[i]; r.Source == "" || r.Message == "" {
				t.Errorf("the reason names no source or has no text: %+v", r)
			}
			if len(d.Violations) == 0 || d.Grants.Timeout != 0 || d.Grants.Modules != nil {
				t.Errorf("a denial with grants or without violations: %+v", d)
			}
		})
	}
}

func TestGrantedPowersAreNoted(t *testing.T) {
	code := "const r = await fetch('https://example.com'); eval('1'); const fs = require('fs'); fs.writeFileSync('a', 'b')"
	d := policy.Default().Decide(policy.Request{Code: code, Tier: "agent"})
	if d.Analysis.Score != 0 || len(d.Analysis.Findings) != 4 {
		t.Errorf("got %+v", d.Analysis)
	}
}

func TestLimitsOnlyLower(t *testing.T) {
	set := policy.Default()
	d := set.Decide(policy.Request{Code: "1", Modules: []string{"url", "fs"},
		Limits: policy.Limits{Timeout: time.Hour, MemoryBytes: 1 << 40, LogEntries: 7, CPU: time.Millisecond}})
	g := d.Grants
	if g.Timeout != 15*time.Second || g.CPU != time.Millisecond {
		t.Errorf("the limits of time are %v and %v", g.Timeout, g.CPU)
	}
	if g.MemoryBytes != 64<<20 || g.LogEntries != 7 {
		t.Errorf("%d bytes of memory and %d logs are granted", g.MemoryBytes, g.LogEntries)
	}
	if !slices.Equal(g.Modules, []string{"url"}) {
		t.Errorf("the modules are %q", g.Modules)
	}
	if d := set.Decide(policy.Request{Code: "1",
		Limits: policy.Limits{Timeout: time.Nanosecond}}); d.Grants.Timeout <= 0 || d.Grants.CPU <= 0 {
		t.Errorf("a tiny limit became none: %+v", d.Grants)
	}
}

func TestFailingRuleDenies(t *testing.T) {
	for name, check := range map[string]func() error{
		"error": func() error { return errors.New("internal detail") },
		"panic": func() error { panic("internal detail") },
	} {
		d := policy.Default().WithCheck("extra", check).Decide(policy.Request{Code: "1"})
		last := d.Reasons[len(d.Reasons)-1]
		if d.Effect != policy.Deny || last.Rule != "extra" || strings.Contains(last.Message, "internal detail") {
			t.Errorf("%s: %+v", name, d)
		}
	}
	var none policy.Set
	if d := none.Decide(policy.Request{Code: "1"}); d.Effect != policy.Deny {
		t.Error("the zero Set allows")
	}
}

func TestUnknownTierNamesTheAccepted(t *testing.T) {
	d := policy.Default().Decide(policy.Request{Code: "1", Tier: "ultra"})
	if want := `unknown policy "ultra"; accepted are strict, standard, extended, agent`; d.Violations[0] != want {
		t.Errorf("got %q", d.Violations[0])
	}
}

func TestConcurrentDecisions(t *testing.T) {
	set := policy.Default()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if d := set.Decide(policy.Request{Code: "globalThis['ev'+'al'](x)", Tier: "strict"}); d.Analysis.Score != 10 {
					t.Errorf("score %d", d.Analysis.Score)
				}
			}
		})
	}
	group.Wait()
}

// A refusal of code from strings names the tiers that run it, unless something else is as bad.
func TestRefusalNamesTheTiersWithEval(t *testing.T) {
	t.Parallel()
	const way = "; code from strings (eval, Function) runs only under policy extended or agent"
	for code, want := range map[string]bool{
		"eval(input.code)": true,
		"eval(input.code); require('child_process').exec('id')": false,
		"require('child_process').exec('id')":                   false,
	} {
		d := policy.Default().Decide(policy.Request{Code: code, Tier: "standard"})
		if d.Effect == policy.Allow || len(d.Reasons) != 1 || strings.HasSuffix(d.Reasons[0].Message, way) != want {
			t.Errorf("%s: names the way out %t: %v %+v", code, !want, d.Effect, d.Reasons)
		}
	}
}
