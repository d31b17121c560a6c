package contract_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/infra/deploy/contract"
	"github.com/airlock-run/airlock/policy"
	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/txtar"
)

const (
	root    = "../../../template.yaml"
	fargate = "../fargate.yaml"
)

// tiers are the tiers of the policy; a tier that grows must grow here too.
func tiers() []contract.Tier {
	var out []contract.Tier
	for _, t := range policy.Builtin() {
		out = append(out, contract.Tier{Name: t.Name, Timeout: t.Timeout, MemoryBytes: t.MemoryBytes})
	}
	return out
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTemplatesKeepTheContract(t *testing.T) {
	for path, tiers := range map[string][]contract.Tier{root: tiers(), fargate: nil} {
		violations, err := contract.Check(read(t, path), tiers)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range violations {
			t.Errorf("%s: %s", path, v)
		}
	}
}

// TestRefused lays each patch of testdata/refused.txtar over the good template: the result must be exactly the
// violation that the patch is named after.
func TestRefused(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/refused.txtar")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, patch := range archive.Files {
		t.Run(patch.Name, func(t *testing.T) {
			rule, name, _ := strings.Cut(patch.Name, " ")
			name, _, _ = strings.Cut(name, " ")
			seen[rule] = true
			base, tiers := root, tiers()
			if strings.HasSuffix(patch.Name, " fargate") {
				base, tiers = fargate, nil
			}
			violations, err := contract.Check(patched(t, read(t, base), patch.Data), tiers)
			if err != nil {
				t.Fatal(err)
			}
			if len(violations) == 0 {
				t.Error("was accepted")
			}
			for _, v := range violations {
				if v.Rule != rule || v.Resource != name {
					t.Errorf("got %s", v)
				}
			}
		})
	}
	for _, source := range []string{"access.go", "stores.go", "functions.go", "jobs.go"} {
		for _, line := range strings.Split(string(read(t, source)), "\n") {
			if _, after, ok := strings.Cut(line, `r.add("`); ok {
				if rule, _, _ := strings.Cut(after, `"`); !seen[rule] {
					t.Errorf("no patch proves that rule %s catches anything", rule)
				}
			}
		}
	}
}

// patched applies a patch to a template: it merges objects, removes members whose patch is null, and replaces
// everything else.
func patched(t *testing.T, template, patch []byte) []byte {
	t.Helper()
	var under, over yaml.Node
	if err := yaml.Unmarshal(template, &under); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(patch, &over); err != nil {
		t.Fatal(err)
	}
	lay(under.Content[0], over.Content[0])
	out, err := yaml.Marshal(&under)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func lay(under, over *yaml.Node) {
	for i := 0; i < len(over.Content); i += 2 {
		key, value := over.Content[i], over.Content[i+1]
		at := -1
		for j := 0; j < len(under.Content); j += 2 {
			if under.Content[j].Value == key.Value {
				at = j
			}
		}
		switch {
		case at < 0:
			under.Content = append(under.Content, key, value)
		case value.Tag == "!!null":
			under.Content = append(under.Content[:at], under.Content[at+2:]...)
		case value.Kind == yaml.MappingNode && under.Content[at+1].Kind == yaml.MappingNode:
			lay(under.Content[at+1], value)
		default:
			under.Content[at+1] = value
		}
	}
}

func TestUnreadable(t *testing.T) {
	for name, doc := range map[string]string{
		"empty":     "",
		"no YAML":   "a: [",
		"nothing":   "Parameters: {}",
		"twice":     "Resources:\n  A: {Type: x}\n  A: {Type: y}\n",
		"alias":     "Resources:\n  A: &a {Type: x}\n  B: *a\n",
		"bad value": "Resources: {A: {Type: !!int x}}",
	} {
		if _, err := contract.Check([]byte(doc), nil); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, path := range []string{root, fargate} {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		first, err := contract.Check(doc, tiers())
		second, again := contract.Check(doc, tiers())
		if (err == nil) != (again == nil) || len(first) != len(second) {
			t.Fatalf("%v, %v, then %v, %v", first, err, second, again)
		}
	})
}

// TestPackagesParameter checks that the parameter Packages accepts only the place of the packages: it becomes part of a
// resource in a policy statement, where a wildcard would grant more.
func TestPackagesParameter(t *testing.T) {
	var template struct {
		Parameters map[string]struct {
			AllowedPattern string `yaml:"AllowedPattern"`
		} `yaml:"Parameters"`
	}
	if err := yaml.Unmarshal(read(t, root), &template); err != nil {
		t.Fatal(err)
	}
	pattern, err := regexp.Compile(template.Parameters["Packages"].AllowedPattern)
	if err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string]bool{
		"": true, "bucket": true, "my.bucket-1/a": true, "bucket/a/b_c.d=e": true,
		"bucket/*": false, "buck?t/a": false, "*": false, "s3://bucket/a": false, "bucket/": false, "bucket//a": false,
		"bucket/${AWS::StackName}": false, "bucket/a\nb": false, "b/a": false,
	} {
		if got := pattern.MatchString(place); got != want {
			t.Errorf("%q is accepted: %v, want %v", place, got, want)
		}
	}
}
