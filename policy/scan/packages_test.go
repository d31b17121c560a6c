package scan_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/airlock-run/airlock/policy"
)

// TestScanPackages scans well-known npm packages as they were published, bundled and minified, and logs which of them a
// tier refuses (make scan-packages). SCAN_PACKAGES names the folder in which npm installed them.
func TestScanPackages(t *testing.T) {
	dir := os.Getenv("SCAN_PACKAGES")
	if dir == "" {
		t.Skip("SCAN_PACKAGES is not set; see make scan-packages")
	}
	set := policy.Default()
	// allowed is how many packages a tier may refuse in any form.
	tiers := []struct {
		name    string
		allowed int
	}{{"standard", 1}, {"extended", 0}, {"agent", 0}}
	var mu sync.Mutex
	refused, large := map[string][]string{}, []string{}
	names, uses := packagesIn(t, dir), usesOfPackages(t)
	t.Run("packages", func(t *testing.T) {
		for _, name := range names {
			t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
				t.Parallel()
				forms := formsOf(t, dir, name, uses[name])
				for _, form := range slices.Sorted(maps.Keys(forms)) {
					r := forms[form]
					if isLarge(r) {
						mu.Lock()
						large = append(large, name+" "+form)
						mu.Unlock()
						continue
					}
					for _, tier := range tiers {
						r.Tier = tier.name
						d := set.Decide(r)
						if d.Effect == policy.Allow {
							continue
						}
						t.Log(explain(d, tier.name, name, form))
						mu.Lock()
						if !slices.Contains(refused[tier.name], name) {
							refused[tier.name] = append(refused[tier.name], name)
						}
						mu.Unlock()
					}
				}
			})
		}
	})
	t.Logf("%d packages in three forms each; larger than a source may be: %s", len(names), strings.Join(large, ", "))
	for _, tier := range tiers {
		t.Logf("%-9s refuses %d: %s", tier.name, len(refused[tier.name]), strings.Join(refused[tier.name], ", "))
		if len(refused[tier.name]) > tier.allowed {
			t.Errorf("%s refuses %d packages; at most %d", tier.name, len(refused[tier.name]), tier.allowed)
		}
	}
}

// explain says why a tier refuses a form of a package.
func explain(d policy.Decision, tier, name, form string) string {
	var why strings.Builder
	fmt.Fprintf(&why, "%-9s %-18s %-9s", tier, name, form)
	for _, v := range d.Violations[:min(len(d.Violations), 6)] {
		fmt.Fprintf(&why, " | %.160s", v)
	}
	for _, f := range d.Analysis.Findings {
		if f.Score >= 5 {
			fmt.Fprintf(&why, "\n            %s:%d %.100s: %.100s", f.File, f.Line, f.Message, f.Excerpt)
		}
	}
	return why.String()
}

// usesOfPackages returns the programs of testdata/packages/uses.txt by package. Code that calls a package shows more of
// it to the scan than code that only exports it.
func usesOfPackages(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/packages/uses.txt")
	if err != nil {
		t.Fatal(err)
	}
	uses := map[string]string{}
	for _, part := range strings.Split(string(text), "\n>>> ")[1:] {
		name, code, _ := strings.Cut(part, "\n")
		uses[name] = code
	}
	return uses
}

// formsOf returns programs that use a package in each of its forms.
func formsOf(t *testing.T, dir, name, use string) map[string]policy.Request {
	t.Helper()
	whole, minified := build(t, dir, name, use, false), build(t, dir, name, use, true)
	return map[string]policy.Request{
		"published": {Code: "1", Files: sourcesOf(t, dir, whole)},
		"bundled":   {Code: string(whole.OutputFiles[0].Contents)},
		"minified":  {Code: string(minified.OutputFiles[0].Contents)},
	}
}

// packagesIn returns the names of the packages that the folder's package.json lists.
func packagesIn(t *testing.T, dir string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var listed struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal(b, &listed); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(listed.Dependencies))
}

// isLarge reports whether a source is larger than any tier accepts.
func isLarge(r policy.Request) bool {
	if len(r.Code) > policy.MaxCodeBytes {
		return true
	}
	for _, text := range r.Files {
		if len(text) > policy.MaxCodeBytes {
			return true
		}
	}
	return false
}

// build bundles a package for Node. What cannot be found, such as modules of Node and optional packages, stays outside.
func build(t *testing.T, dir, name, use string, minify bool) api.BuildResult {
	t.Helper()
	entry := name
	if name == "@modelcontextprotocol/sdk" { // it has no index
		entry += "/server/mcp.js"
	}
	r := api.Build(api.BuildOptions{
		AbsWorkingDir: dir, Bundle: true, Metafile: true, Format: api.FormatESModule, Platform: api.PlatformNeutral,
		MainFields: []string{"module", "main"}, Conditions: []string{"node", "import", "require", "default"},
		MinifySyntax: minify, MinifyWhitespace: minify, MinifyIdentifiers: minify, LogLevel: api.LogLevelSilent,
		Loader:  map[string]api.Loader{".node": api.LoaderEmpty, ".wasm": api.LoaderBinary, ".css": api.LoaderText},
		Plugins: []api.Plugin{{Name: "outside", Setup: leaveOutside}},
		Stdin: &api.StdinOptions{Contents: "import * as m from " + strconv.Quote(entry) + "; globalThis.out = m\n" + use,
			ResolveDir: dir},
	})
	if len(r.Errors) > 0 {
		t.Fatalf("%s: %s", name, r.Errors[0].Text)
	}
	return r
}

func leaveOutside(b api.PluginBuild) {
	type tried struct{}
	b.OnResolve(api.OnResolveOptions{Filter: "^[^./]"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		if _, ok := a.PluginData.(tried); ok || a.Kind == api.ResolveEntryPoint {
			return api.OnResolveResult{}, nil
		}
		found := b.Resolve(a.Path, api.ResolveOptions{Importer: a.Importer, ResolveDir: a.ResolveDir, Kind: a.Kind,
			PluginData: tried{}})
		if len(found.Errors) > 0 && a.Importer != "<stdin>" {
			return api.OnResolveResult{Path: a.Path, External: true}, nil
		}
		return api.OnResolveResult{Path: found.Path, External: found.External, Namespace: found.Namespace,
			SideEffects: sideEffects(found.SideEffects)}, nil
	})
}

func sideEffects(some bool) api.SideEffects {
	if some {
		return api.SideEffectsTrue
	}
	return api.SideEffectsFalse
}

// sourcesOf returns the published files that a program with a package needs.
func sourcesOf(t *testing.T, dir string, r api.BuildResult) map[string]string {
	t.Helper()
	var meta struct {
		Inputs map[string]struct{} `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(r.Metafile), &meta); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for file := range meta.Inputs {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err == nil { // the program itself is no file
			out[file] = string(b)
		}
	}
	return out
}
