package scan_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	refused := map[string][]string{}
	var why strings.Builder
	names := packagesIn(t, dir)
	for _, name := range names {
		forms := map[string]policy.Request{
			"published": {Code: "1", Files: sourcesOf(t, dir, name)},
			"bundled":   {Code: bundled(t, dir, name, false)},
			"minified":  {Code: bundled(t, dir, name, true)},
		}
		for _, tier := range tiers {
			for _, form := range slices.Sorted(maps.Keys(forms)) {
				r := forms[form]
				r.Tier = tier.name
				d := set.Decide(r)
				if d.Effect == policy.Allow {
					continue
				}
				if !slices.Contains(refused[tier.name], name) {
					refused[tier.name] = append(refused[tier.name], name)
				}
				fmt.Fprintf(&why, "%-9s %-18s %-9s", tier.name, name, form)
				for _, v := range d.Violations[:min(len(d.Violations), 6)] {
					fmt.Fprintf(&why, " | %.160s", v)
				}
				for _, f := range d.Analysis.Findings {
					if f.Score >= 5 {
						fmt.Fprintf(&why, "\n            %s:%d %.100s", f.File, f.Line, f.Excerpt)
					}
				}
				why.WriteByte('\n')
			}
		}
	}
	t.Logf("%d packages in three forms each\n%s", len(names), why.String())
	for _, tier := range tiers {
		t.Logf("%-9s refuses %d: %s", tier.name, len(refused[tier.name]), strings.Join(refused[tier.name], ", "))
		if len(refused[tier.name]) > tier.allowed {
			t.Errorf("%s refuses %d packages; at most %d", tier.name, len(refused[tier.name]), tier.allowed)
		}
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

func build(t *testing.T, dir, name string, minify bool) api.BuildResult {
	t.Helper()
	r := api.Build(api.BuildOptions{
		AbsWorkingDir: dir, Bundle: true, Metafile: true, Format: api.FormatESModule, Platform: api.PlatformNeutral,
		MainFields: []string{"module", "main"}, Conditions: []string{"import", "require", "default"},
		MinifySyntax: minify, MinifyWhitespace: minify, MinifyIdentifiers: minify, LogLevel: api.LogLevelSilent,
		External: []string{"node:*", "fs", "path", "url", "util", "stream", "crypto", "http", "https", "zlib", "os",
			"buffer", "events", "assert", "tty", "net", "tls", "child_process", "worker_threads", "module", "vm",
			"querystring", "string_decoder", "punycode", "constants", "async_hooks", "http2", "dns", "perf_hooks",
			"process", "timers", "diagnostics_channel", "util/types", "console", "fsevents", "domain"},
		Stdin: &api.StdinOptions{Contents: "import * as m from " + fmt.Sprintf("%q", name) + "; globalThis.out = m",
			ResolveDir: dir},
	})
	if len(r.Errors) > 0 {
		t.Fatalf("%s: %s", name, r.Errors[0].Text)
	}
	return r
}

func bundled(t *testing.T, dir, name string, minify bool) string {
	t.Helper()
	return string(build(t, dir, name, minify).OutputFiles[0].Contents)
}

// sourcesOf returns the published files that a program with a package needs.
func sourcesOf(t *testing.T, dir, name string) map[string]string {
	t.Helper()
	var meta struct {
		Inputs map[string]struct{} `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(build(t, dir, name, false).Metafile), &meta); err != nil {
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
