package conformance

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/airlock-run/airlock/sandbox"
	"github.com/airlock-run/airlock/sandbox/internal/raw"
)

// Config says what to run. A suite without a path is left out.
type Config struct {
	Test262Dir, WPTDir, QuickJSDir string
	// EngineBuild is the engine build to run them on (see sandbox.Config).
	EngineBuild string
	// Filter keeps the tests whose path contains it; the expectations are left out then.
	Filter string
	// CacheDir is the engines' (see sandbox.Config).
	CacheDir string
	// Record writes what was found as the new expectation to this folder instead of comparing.
	Record string
	// Failures prints every failure.
	Failures bool
}

// expectations holds a file for each suite and engine build: expected/SUITE-BUILD.txt.
//
//go:embed expected
var expectations embed.FS

// otherBuild is the build whose expectations stand in for those that a build does not have.
const otherBuild = "quickjs-ng-0.10.1"

// errFailed reports that a suite did worse than expected. The output says where.
var errFailed = errors.New("a conformance suite did worse than expected")

// errNoSuite says how to name a suite.
var errNoSuite = errors.New(`no suite is given. Check out what you want to run and name it:
  git clone --depth 1 https://github.com/tc39/test262
  git clone --depth 1 https://github.com/web-platform-tests/wpt
  git clone --depth 1 https://github.com/quickjs-ng/quickjs
  make conformance TEST262_DIR=$PWD/test262 WPT_DIR=$PWD/wpt QUICKJS_DIR=$PWD/quickjs`)

// Run runs the suites and prints their reports to w.
func Run(ctx context.Context, cfg Config, w io.Writer) (err error) {
	if cfg.Test262Dir == "" && cfg.WPTDir == "" && cfg.QuickJSDir == "" {
		return errNoSuite
	}
	ours, err := sandbox.New(ctx, sandbox.Config{CacheDir: cfg.CacheDir, EngineBuild: cfg.EngineBuild})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ours.Close(ctx)) }()
	cfg.EngineBuild = ours.EngineBuild()
	good := true
	if cfg.Test262Dir != "" {
		plain, err := sandbox.NewPlain(ctx, sandbox.Config{CacheDir: cfg.CacheDir, EngineBuild: cfg.EngineBuild}, raw.Plain{})
		if err != nil {
			return err
		}
		defer func() { _ = plain.Close(ctx) }() // everything relevant has been reported
		suite := &test262{dir: cfg.Test262Dir, filter: cfg.Filter, ours: ours, plain: plain,
			progress: cfg.progress(w, "test262")}
		report, err := suite.run(ctx)
		if err != nil {
			return err
		}
		ok, err := cfg.conclude(w, "test262", report, func(string) float64 { return 0 })
		if err != nil {
			return err
		}
		good = good && ok
	}
	if cfg.WPTDir != "" {
		suite := &wpt{dir: cfg.WPTDir, filter: cfg.Filter, engine: ours, progress: cfg.progress(w, "wpt")}
		report, err := suite.run(ctx)
		if err != nil {
			return err
		}
		ok, err := cfg.conclude(w, "wpt", report, wptFloor)
		if err != nil {
			return err
		}
		good = good && ok
	}
	if cfg.QuickJSDir != "" {
		suite := &quickjs{dir: cfg.QuickJSDir, filter: cfg.Filter, engine: ours, progress: cfg.progress(w, "quickjs")}
		report, err := suite.run(ctx)
		if err != nil {
			return err
		}
		ok, err := cfg.conclude(w, "quickjs", report, func(string) float64 { return 0 })
		if err != nil {
			return err
		}
		good = good && ok
	}
	if !good {
		return errFailed
	}
	return nil
}

func (cfg Config) progress(w io.Writer, suite string) *progress {
	return &progress{w: w, suite: suite, every: 10 * time.Second}
}

func (cfg Config) conclude(w io.Writer, suite string, report *Report, floor func(string) float64) (bool, error) {
	file := suite + "-" + cfg.EngineBuild + ".txt"
	fmt.Fprintf(w, "\n%s on %s\n", suite, cfg.EngineBuild)
	if cfg.Failures {
		for _, line := range report.Failures {
			fmt.Fprintln(w, "failed:", strings.ReplaceAll(line, "\n", " | "))
		}
	}
	var want map[string]expectation
	if cfg.Filter == "" && cfg.Record == "" {
		expected, err := expectations.ReadFile("expected/" + file)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(w, "compared with what %s passes: nothing is recorded of %s\n", otherBuild, cfg.EngineBuild)
			expected, err = expectations.ReadFile("expected/" + suite + "-" + otherBuild + ".txt")
		}
		if err != nil {
			return false, err
		}
		if want, err = readExpected(string(expected)); err != nil {
			return false, fmt.Errorf("%s: %w", file, err)
		}
	}
	good := report.judge(w, want)
	if cfg.Record == "" {
		return good, nil
	}
	header := "# folder passed/total, and the least percentage for a suite of another version. Written by make " +
		"conformance with RECORD.\n"
	return good, os.WriteFile(filepath.Join(cfg.Record, file), []byte(header+report.lines(floor)), 0o644)
}
