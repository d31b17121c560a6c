package conformance

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/airlock-run/airlock/sandbox"
	"github.com/airlock-run/airlock/sandbox/internal/raw"
	"go.yaml.in/yaml/v3"
)

// test262 runs the tests below dir/test whose path contains filter.
type test262 struct {
	dir, filter string
	ours, plain *sandbox.Engine
	progress    *progress
	harness     map[string]string
	mu          sync.Mutex
	report      Report
}

// frontmatter is the header of a test.
type frontmatter struct {
	Flags    []string `yaml:"flags"`
	Includes []string `yaml:"includes"`
	Features []string `yaml:"features"`
	Negative struct {
		Phase string `yaml:"phase"`
		Type  string `yaml:"type"`
	} `yaml:"negative"`
}

// testRun is one way to run one test.
type testRun struct {
	program  raw.Program
	async    bool
	negative string // the name of the error that is expected
}

func (s *test262) run(ctx context.Context) (*Report, error) {
	s.report.Folders = make(map[string]Tally)
	s.harness = make(map[string]string)
	harness := filepath.Join(s.dir, "harness")
	err := filepath.WalkDir(harness, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(harness, path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		s.harness[filepath.ToSlash(name)] = string(b)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("TEST262_DIR: %w", err)
	}
	root := filepath.Join(s.dir, "test")
	var tests []string
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".js") || strings.Contains(path, "_FIXTURE") {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if rel = filepath.ToSlash(rel); err == nil && strings.Contains(rel, s.filter) {
			tests = append(tests, rel)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("TEST262_DIR: %w", err)
	}
	if err := each(tests, s.progress, func(rel string) error { return s.one(ctx, rel) }); err != nil {
		return nil, err
	}
	slices.Sort(s.report.Failures)
	slices.Sort(s.report.Regressions)
	return &s.report, nil
}

// one runs a test in all its ways, in both engines.
func (s *test262) one(ctx context.Context, rel string) error {
	b, err := os.ReadFile(filepath.Join(s.dir, "test", rel))
	if err != nil {
		return err
	}
	runs, hook, err := s.runs(rel, string(b))
	if err != nil {
		return err
	}
	folder := rel
	if parts := strings.SplitN(rel, "/", 3); len(parts) == 3 {
		folder = parts[0] + "/" + parts[1]
	}
	why := ""
	for _, r := range runs {
		if why, err = r.in(ctx, s.ours); err != nil {
			return err
		}
		if why != "" {
			break
		}
	}
	onlyHere := why != ""
	for _, r := range runs {
		if !onlyHere {
			break
		}
		there, err := r.in(ctx, s.plain)
		if err != nil {
			return err
		}
		onlyHere = there == ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case why == "":
		s.report.add(folder, 1, 1)
	case hook != "":
		s.report.add("forbidden hooks: "+hook, 0, 1)
	default:
		s.report.add(folder, 0, 1)
		s.report.Failures = append(s.report.Failures, rel+": "+why)
	}
	if onlyHere && rel != unstable {
		s.report.Regressions = append(s.report.Regressions, rel+": "+why)
	}
	return nil
}

// unstable is a test that quickjs-ng 0.15.1 passes or fails depending on what ran before it. Upstream leaves it out.
const unstable = "language/identifier-resolution/assign-to-global-undefined.js"

// tablesOnly are generated tests of every code point against the engine's tables, which do not know of strict mode: one
// way of running them is enough, and takes minutes.
const tablesOnly = "built-ins/RegExp/property-escapes/generated/"

// runs returns the ways in which a test runs, and the hook that it uses and the sandbox forbids.
func (s *test262) runs(rel, text string) ([]testRun, string, error) {
	var fm frontmatter
	if _, rest, ok := strings.Cut(text, "/*---"); ok {
		header, _, _ := strings.Cut(rest, "---*/")
		if err := yaml.Unmarshal([]byte(strings.ReplaceAll(header, "\r", "\n")), &fm); err != nil {
			return nil, "", fmt.Errorf("frontmatter: %w", err)
		}
	}
	flag := func(name string) bool { return slices.Contains(fm.Flags, name) }
	var before []raw.Source
	async := flag("async")
	if !flag("raw") {
		includes := append([]string{"assert.js", "sta.js"}, fm.Includes...)
		if async {
			includes = append(includes, "doneprintHandle.js")
		}
		before = append(before, raw.Source{Name: "hooks.js", Text: hooks})
		for _, name := range includes {
			source, ok := s.harness[name]
			if !ok {
				return nil, "", fmt.Errorf("no harness file %s", name)
			}
			before = append(before, raw.Source{Name: name, Text: source})
		}
	}
	way := func(source raw.Source) testRun {
		sources := append(slices.Clone(before), source)
		return testRun{raw.Program{Sources: sources}, async && fm.Negative.Type == "", fm.Negative.Type}
	}
	name := filepath.Base(rel)
	var runs []testRun
	switch {
	case flag("module"):
		runs = append(runs, way(raw.Source{Name: name, Text: text, Module: true}))
	case flag("raw") || flag("noStrict"):
		runs = append(runs, way(raw.Source{Name: name, Text: text}))
	default:
		if !flag("onlyStrict") {
			runs = append(runs, way(raw.Source{Name: name, Text: text}))
		}
		if strings.HasPrefix(rel, tablesOnly) {
			break
		}
		runs = append(runs, way(raw.Source{Name: name, Text: "\"use strict\";\n" + text}))
	}
	return runs, forbidden(fm, text), nil
}

// in runs a test and says why it failed, or "".
func (r testRun) in(ctx context.Context, e *sandbox.Engine) (string, error) {
	limits := sandbox.Limits{Wall: 5 * time.Minute, CPU: 10 * time.Second, MemoryBytes: 128 << 20, OutputBytes: 1 << 20,
		LogEntries: 1000}
	result, err := e.RunGlobal(ctx, r.program, 1, sandbox.Grants{Limits: limits, Eval: true})
	if err != nil {
		return "", err
	}
	switch {
	case r.negative != "":
		if result.Exception == nil {
			return "no " + r.negative + " was thrown: " + result.Error, nil
		}
		if got := result.Exception.Name; got != r.negative && !(got == "" && r.negative == "Test262Error") {
			return fmt.Sprintf("%s was thrown, not %s", result.Error, r.negative), nil
		}
	case result.Error != "":
		return result.Error, nil
	case r.async && !strings.Contains(result.Output, "Test262:AsyncTestComplete"):
		return "not completed: " + strings.TrimSpace(result.Output), nil
	}
	return "", nil
}
