package deployment_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/txtar"

	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/deployment"
)

// TestDeploymentCorpus checks every file of the corpus with both readers: Parse and the JSON Schema. The comment of a
// bad file is the error of Parse. One that starts with "only here" is a fault that a schema cannot express.
func TestDeploymentCorpus(t *testing.T) {
	schema := compiledSchema(t)
	archives, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			t.Run(f.Name, func(t *testing.T) {
				_, err := deployment.Parse("policy.yaml", f.Data)
				valid := validate(t, schema, f.Data)
				first, _, _ := strings.Cut(string(f.Data), "\n")
				if good := strings.HasPrefix(f.Name, "good/"); good {
					if err != nil || valid != nil {
						t.Errorf("reader: %v\nschema: %v", err, valid)
					}
					return
				}
				want, onlyHere := strings.CutPrefix(strings.TrimPrefix(first, "# "), "only here: ")
				if err == nil || err.Error() != want {
					t.Errorf("got  %v\nwant %v", err, want)
				}
				var fault *deployment.Error
				if !errors.As(err, &fault) || fault.Line < 1 || fault.File != "policy.yaml" {
					t.Errorf("fault %+v", fault)
				}
				if (valid == nil) != onlyHere {
					t.Errorf("the schema says %v", valid)
				}
			})
		}
	}
}

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(deployment.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("deployment.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("deployment.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validate(t *testing.T, schema *jsonschema.Schema, text []byte) error {
	t.Helper()
	var doc any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return err
	}
	b, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(value)
}

const fullDeployment = "testdata/full.yaml"

func TestDeploymentDecides(t *testing.T) {
	text, err := os.ReadFile(fullDeployment)
	if err != nil {
		t.Fatal(err)
	}
	set, err := deployment.Parse("policy.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if valid := validate(t, compiledSchema(t), text); valid != nil {
		t.Error(valid)
	}
	tiers := set.Tiers()
	if len(tiers) != 5 {
		t.Fatalf("%d tiers", len(tiers))
	}
	if batch := tiers[4]; batch.Name != "batch" || batch.Base != "extended" {
		t.Errorf("the last tier is %s from %s", batch.Name, batch.Base)
	}
	if tiers[0].Timeout.Seconds() != 2 || tiers[0].CPU.Seconds() != 2 {
		t.Errorf("%s has %v and %v of a processor", tiers[0].Name, tiers[0].Timeout, tiers[0].CPU)
	}
	if q := set.Quota("acme"); q.PerMinute != 600 || q.Concurrent != 8 {
		t.Errorf("acme has the quota %+v", q)
	}
	for _, tenant := range []string{"other", ""} {
		if n := set.Quota(tenant).Concurrent; n != 2 {
			t.Errorf("tenant %q may run %d at once", tenant, n)
		}
	}
	want := policy.Storage{
		Functions: 200 << 20, Jobs: 32 << 20, Results: 64 << 20, Deliveries: 16 << 20, Keys: 8 << 20, Schedules: 50,
		KeepResults: 72 * time.Hour, KeepEvents: 24 * time.Hour, KeepKeys: time.Hour,
	}
	if got := set.Quota("acme").Storage; got != want {
		t.Errorf("storage %+v", got)
	}
	for name, c := range map[string]struct {
		ask    policy.Request
		reason string // of the last denial; empty for allow
	}{
		"own tier": {policy.Request{Code: "eval('1')", Tier: "batch", Tenant: "acme"}, ""},
		"tenant's tiers": {policy.Request{Code: "1", Tier: "agent", Tenant: "acme"},
			`deny by tenant (policy.yaml:28): the tenant does not permit policy "agent", only standard, batch`},
		"other tenants": {policy.Request{Code: "1", Tier: "batch", Tenant: "other"},
			`deny by tenant (policy.yaml:40): the tenant does not permit policy "batch", only strict, standard`},
		"tenant's host": {policy.Request{Code: "1", Tenant: "acme", Hosts: []string{"api.acme.test"}}, ""},
		"another's host": {policy.Request{Code: "1", Tenant: "acme", Hosts: []string{"db.internal.test"}},
			`deny by hosts (policy.yaml:28): host "db.internal.test" is not available under policy "standard": it is not ` +
				`among the hosts opened to this caller`},
		"nobody's host": {policy.Request{Code: "1", Hosts: []string{"x.test"}},
			`deny by hosts (policy.yaml:14): host "x.test" is not available under policy "standard": it is not among the ` +
				`hosts opened to this caller`},
		"token's host": {policy.Request{Code: "1", Hosts: []string{"db.internal.test"},
			Scopes: []string{"host:api.acme.test"}},
			`deny by hosts (token): host "db.internal.test" is not available under policy "standard": it is not among the ` +
				`hosts opened to this caller`},
		"no network": {policy.Request{Code: "1", Tier: "strict", Hosts: []string{"api.acme.test"}},
			`deny by hosts (policy.yaml:4): host "api.acme.test" is not available under policy "strict": it has no network`},
		"tenant's secret": {policy.Request{Code: "1", Tenant: "acme", Secrets: []string{"ACME_KEY"}}, ""},
		"another's secret": {policy.Request{Code: "1", Tenant: "acme", Secrets: []string{"ROOT_KEY"}},
			`deny by secrets (policy.yaml:28): secret "ROOT_KEY" is not available to this caller`},
		"tenant's tool": {policy.Request{Code: "1", Tenant: "acme", Tools: []string{"mail:send"}},
			`deny by tools (policy.yaml:28): tool "mail:send" is not available to this caller`},
		"category": {policy.Request{Code: "let a;\nWebAssembly.compile(a)", Tenant: "acme"},
			`deny by forbidden-category (policy.yaml:46): webassembly is forbidden here: WebAssembly.compile compiles or ` +
				`runs WebAssembly (line 2, column 1)`},
		"pattern": {policy.Request{Code: "// TODO\n// hack", Tenant: "acme"},
			`deny by forbidden-pattern (policy.yaml:49): forbidden pattern no-hacks at line 2, column 4: // hack`},
		"legacy list": {policy.Request{Code: "'child_process'", Tenant: "acme"},
			`deny by forbidden-pattern (policy.yaml:47): forbidden pattern child_process at line 1, column 2: 'child_process'`},
	} {
		t.Run(name, func(t *testing.T) {
			ask := c.ask
			if name == "own tier" {
				ask.Code = "return 1"
			}
			d := set.Decide(ask)
			got := ""
			for _, r := range d.Reasons {
				if r.Effect == policy.Deny {
					got = r.String()
				}
			}
			if got != c.reason || (c.reason == "") != (d.Effect == policy.Allow) {
				t.Errorf("got  %s\nwant %s", got, c.reason)
			}
		})
	}
	d := set.Decide(policy.Request{Code: "1", Tenant: "acme", Secrets: []string{"ACME_KEY"}})
	if hosts := d.Grants.SecretHosts["ACME_KEY"]; len(hosts) != 1 || hosts[0] != "api.acme.test" {
		t.Errorf("secret hosts %v", hosts)
	}
	// A reason names each restriction that took effect, and its place.
	narrowed := strings.Join(d.ReasonLines(), "\n")
	for _, want := range []string{
		"allow by deployment (policy.yaml:21): lowers output, logEntries", "allow by tenant (policy.yaml:28): lowers timeout",
		"allow by tenant (policy.yaml:28): restricts hosts to api.acme.test", "tier standard allows",
	} {
		if !strings.Contains(narrowed, want) {
			t.Errorf("%q is not told in\n%s", want, narrowed)
		}
	}
	if got := strings.Join(d.Grants.OpenedHosts, " "); got != "api.acme.test" {
		t.Errorf("opened hosts %q", got)
	}
}

func FuzzParseDeployment(f *testing.F) {
	archives, _ := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			f.Add(file.Data)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		set, err := deployment.Parse("policy.yaml", text)
		if (set == nil) == (err == nil) {
			t.Fatalf("set %v, error %v", set, err)
		}
		if err != nil {
			var fault *deployment.Error
			if !errors.As(err, &fault) || fault.Line < 1 {
				t.Fatalf("an error without a place: %v", err)
			}
			return
		}
		// No file grants more than the built-in tiers under their own names.
		for i, built := range policy.Builtin() {
			got := set.Tiers()[i]
			if got.Name != built.Name || got.Eval && !built.Eval {
				t.Fatalf("%s: %s may make code of strings: %t", built.Name, got.Name, got.Eval)
			}
			if got.Timeout > built.Timeout || got.MemoryBytes > built.MemoryBytes {
				t.Fatalf("%s is loosened: %v and %d bytes", got.Name, got.Timeout, got.MemoryBytes)
			}
		}
	})
}
