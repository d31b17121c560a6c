// Command cmd runs the conformance suites whose paths are given: TEST262_DIR, WPT_DIR, QUICKJS_DIR. ENGINE_BUILD names
// the engine build to run them on, FILTER keeps the tests whose path contains it, FAILURES=1 prints each failure,
// RECORD is a folder that new expectation files are written to.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/airlock-run/airlock/sandbox/conformance"
)

func main() { os.Exit(run(os.Getenv, os.Stdout, os.Stderr)) }

func run(env func(string) string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := conformance.Run(ctx, conformance.Config{
		Test262Dir: env("TEST262_DIR"), WPTDir: env("WPT_DIR"), QuickJSDir: env("QUICKJS_DIR"),
		EngineBuild: env("ENGINE_BUILD"), Filter: env("FILTER"), Record: env("RECORD"),
		Failures: env("FAILURES") != "", CacheDir: filepath.Join(os.TempDir(), "airlock-test-cache"),
	}, stdout)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}
