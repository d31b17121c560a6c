package conformance

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// engineCrashed is the error of a run that ended in a WebAssembly trap.
const engineCrashed = "the engine crashed on this code"

// knownCrashes are tests that crash a build; upstream fixed the crashes later.
var knownCrashes = map[string][]string{
	"quickjs-ng-0.10.1": {"bug1352.js", "bug1355.js"},
}

var importing = regexp.MustCompile(`(?m)^(import|export)\b`)

// quickjs runs quickjs-ng's own tests, the files in dir/tests, as ordinary scripts. Many of them need the modules of
// its command line, which the sandbox does not have, so a failure is only counted. A crash of the engine is a
// regression.
//
// A test that imports or exports is run as a module, any other as a script, as upstream does.
type quickjs struct {
	dir, filter string
	engine      *sandbox.Engine
	progress    *progress
	mu          sync.Mutex
	report      Report
}

func (s *quickjs) run(ctx context.Context) (*Report, error) {
	s.report.Folders = make(map[string]Tally)
	root := filepath.Join(s.dir, "tests")
	files := make(map[string][]byte)
	var tests []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if files[name], err = os.ReadFile(path); err != nil {
			return err
		}
		if strings.HasSuffix(name, ".js") && strings.Contains(name, s.filter) {
			tests = append(tests, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("QUICKJS_DIR: %w", err)
	}
	for name, text := range quickjsHost {
		files[name] = []byte(text)
	}
	if err := each(tests, s.progress, func(name string) error { return s.one(ctx, name, files) }); err != nil {
		return nil, err
	}
	slices.Sort(s.report.Failures)
	slices.Sort(s.report.Regressions)
	return &s.report, nil
}

func (s *quickjs) one(ctx context.Context, name string, files map[string][]byte) error {
	limits := sandbox.Limits{Wall: 2 * time.Minute, CPU: 10 * time.Second, MemoryBytes: 256 << 20, OutputBytes: 1 << 20,
		LogEntries: 10_000}
	script := sandbox.Script{Code: fmt.Sprintf("import './airlock-host.js'; import './%s';", name), Files: files}
	if text := string(files[name]); !importing.MatchString(text) {
		script = sandbox.Script{Code: quickjsHost["airlock-host.js"] + text, Files: files}
	}
	r, err := s.engine.Run(ctx, script,
		sandbox.Grants{Limits: limits, Eval: true, Modules: []string{"*"}, Files: sandbox.FilesWrite})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Error == "" {
		s.report.add("tests", 1, 1)
		return nil
	}
	s.report.add("tests", 0, 1)
	s.report.Failures = append(s.report.Failures, name+": "+r.Error)
	if r.Error == engineCrashed && !slices.Contains(knownCrashes[s.engine.EngineBuild()], name) {
		s.report.Regressions = append(s.report.Regressions, name+": "+r.Error)
	}
	return nil
}
