package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/airlock-run/airlock/sandbox"
	"github.com/airlock-run/airlock/sandbox/internal/raw"
)

// wptFolders are run, and counted by these names. A test belongs to the first that fits.
var wptFolders = []string{
	"url", "urlpattern", "encoding", "compression", "streams", "fetch/api/headers", "fetch/api/body", "fetch/api/request",
	"fetch/api/response",
	"html/webappapis/timers", "html/webappapis/microtask-queuing", "html/webappapis/structured-clone",
	"html/webappapis/atob",
	"WebCryptoAPI", "FileAPI/blob", "FileAPI/file", "xhr/formdata", "dom/abort", "dom/events", "console",
	"webidl/ecmascript-binding/es-exceptions",
}

// wptFloor returns the percentage that a folder must pass in every version of the suite.
func wptFloor(folder string) float64 {
	if folder == "url" || folder == "encoding" {
		return 95
	}
	return 80
}

// wpt runs those of the web platform tests that need no document, server or worker.
type wpt struct {
	dir, filter string
	engine      *sandbox.Engine
	progress    *progress
	harness     string
	mu          sync.Mutex
	report      Report
}

func (s *wpt) run(ctx context.Context) (*Report, error) {
	s.report.Folders = make(map[string]Tally)
	b, err := os.ReadFile(filepath.Join(s.dir, "resources", "testharness.js"))
	if err != nil {
		return nil, fmt.Errorf("WPT_DIR: %w", err)
	}
	s.harness = string(b)
	var tests []string
	for _, folder := range wptFolders {
		err := filepath.WalkDir(filepath.Join(s.dir, folder), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(s.dir, file)
			if rel = filepath.ToSlash(rel); err == nil && strings.Contains(rel, s.filter) && runnable(rel) {
				tests = append(tests, rel)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("WPT_DIR: %w", err)
		}
	}
	err = each(tests, s.progress, func(rel string) error { return s.file(ctx, rel) })
	slices.Sort(s.report.Failures)
	return &s.report, err
}

// folderOf returns the folder that a test counts in.
func folderOf(rel string) string {
	i := slices.IndexFunc(wptFolders, func(folder string) bool { return strings.HasPrefix(rel, folder+"/") })
	return wptFolders[i]
}

// runnable reports whether a test can run in any global scope.
func runnable(rel string) bool {
	if strings.HasPrefix(rel, "fetch/api/request/request-cache-") {
		return false // they test a browser's cache against the suite's own server
	}
	return strings.HasSuffix(rel, ".any.js") || slices.Contains(wptWindowTests, rel)
}

// wptWindowTests are tests that are made for a window and use nothing of it.
var wptWindowTests = []string{"url/IdnaTestV2.window.js", "url/IdnaTestV2-removed.window.js"}

var (
	metaLine = regexp.MustCompile(`(?m)^// META: (\w+)=(.*)$`)
	dataFile = regexp.MustCompile(`["'` + "`" + `]([\w./-]+\.(?:json|idl|txt|text|html|webm))["'` + "`" + `]`)
	idlNames = regexp.MustCompile(`['"]([\w-]+)['"]`)
)

// file runs a test in each of its variants.
func (s *wpt) file(ctx context.Context, rel string) error {
	b, err := os.ReadFile(filepath.Join(s.dir, rel))
	if err != nil {
		return err
	}
	test := string(b)
	variants := []string{}
	sources := []raw.Source{}
	data := map[string][]byte{}
	s.collect(data, rel, test)
	for _, m := range metaLine.FindAllStringSubmatch(test, -1) {
		switch value := strings.TrimSpace(m[2]); m[1] {
		case "variant":
			variants = append(variants, value)
		case "global":
			if !strings.Contains(value, "window") && !strings.Contains(value, "worker") && value != "shadowrealm" {
				return nil
			}
		case "script":
			name := path.Join(path.Dir(rel), value)
			if strings.HasPrefix(value, "/") {
				name = value[1:]
			}
			if name == "resources/WebIDLParser.js" { // an alias that the suite's own server has
				name = "resources/webidl2/lib/webidl2.js"
			}
			text, err := os.ReadFile(filepath.Join(s.dir, name))
			if err != nil {
				return fmt.Errorf("%s: %w", rel, err)
			}
			s.collect(data, rel, string(text))
			sources = append(sources, raw.Source{Name: name, Text: string(text)})
		}
	}
	if len(variants) == 0 {
		variants = []string{""}
	}
	for _, variant := range variants {
		if err := s.variant(ctx, rel, variant, data,
			append(slices.Clone(sources), raw.Source{Name: rel, Text: test})); err != nil {
			return err
		}
	}
	return nil
}

// collect finds the data files that code fetches.
func (s *wpt) collect(data map[string][]byte, rel, code string) {
	add := func(name, file string) {
		if b, err := os.ReadFile(filepath.Join(s.dir, file)); err == nil {
			data[name] = b
		}
	}
	for _, m := range dataFile.FindAllStringSubmatch(code, -1) {
		if strings.HasPrefix(m[1], "/") {
			add(m[1], m[1][1:])
		} else {
			add(m[1], path.Join(path.Dir(rel), m[1]))
		}
	}
	if strings.Contains(code, "idl_test(") {
		for _, m := range idlNames.FindAllStringSubmatch(code, -1) {
			add("/interfaces/"+m[1]+".idl", "interfaces/"+m[1]+".idl")
		}
	}
}

// outcome holds the report of the harness on the tests of one file.
type outcome struct {
	Status  int    `json:"status"`
	Message string `json:"message"`
	Tests   []struct {
		Name    string `json:"name"`
		Status  int    `json:"status"`
		Message string `json:"message"`
	} `json:"tests"`
}

// elsewhere matches tests of interfaces that the sandbox does not have and does not promise.
var elsewhere = regexp.MustCompile(
	`\b(XMLHttpRequest|MessageChannel|MessagePort|WebAssembly|VideoFrame|Worker|FileReader|document|window|onload) ` +
		`is not defined`)

// callsDone matches tests that end themselves.
var callsDone = regexp.MustCompile(`(explicit_done|single_test)\s*:\s*true`)

var statusNames = [...]string{"passed", "failed", "timed out", "did not run", "precondition failed"}

func (s *wpt) variant(ctx context.Context, rel, variant string, data map[string][]byte, sources []raw.Source) error {
	files, err := json.Marshal(data)
	if err != nil {
		return err
	}
	location, err := json.Marshal("https://web-platform.test/" + rel + variant)
	if err != nil {
		return err
	}
	program := raw.Program{Sources: append([]raw.Source{
		{Name: "before.js", Text: fmt.Sprintf(wptBefore, location, files)},
		{Name: "testharness.js", Text: s.harness},
		{Name: "after.js", Text: wptAfter},
	}, sources...)}
	if !callsDone.MatchString(sources[len(sources)-1].Text) {
		program.Sources = append(program.Sources, raw.Source{Name: "done.js", Text: "done();"})
	}
	limits := sandbox.Limits{Wall: 5 * time.Minute, CPU: time.Minute, MemoryBytes: 256 << 20, OutputBytes: 64 << 20,
		LogEntries: 1 << 20}
	result, err := s.engine.RunGlobal(ctx, program, 1, sandbox.Grants{Limits: limits, Eval: true})
	if err != nil {
		return fmt.Errorf("%s: %w", rel, err)
	}
	name, folder, report := rel+variant, folderOf(rel), &s.report
	s.mu.Lock()
	defer s.mu.Unlock()
	var o outcome
	_, told, ok := strings.Cut(result.Output, "\x01")
	if !ok || json.Unmarshal([]byte(strings.TrimSpace(told)), &o) != nil {
		report.add(folder, 0, 1)
		report.Failures = append(report.Failures, fmt.Sprintf("%s: no outcome: %s", name, result.Error))
		return nil
	}
	passed, total := 0, 0
	for _, t := range o.Tests {
		if t.Status == 4 || elsewhere.MatchString(t.Message) { // it does not apply, or is of another API
			continue
		}
		total++
		if t.Status == 0 {
			passed++
			continue
		}
		report.Failures = append(report.Failures,
			fmt.Sprintf("%s: %s: %s: %s", name, t.Name, statusNames[t.Status], t.Message))
	}
	if o.Status == 1 { // the file itself failed
		total++
		report.Failures = append(report.Failures, fmt.Sprintf("%s: %s", name, o.Message))
	}
	report.add(folder, passed, total)
	return nil
}
