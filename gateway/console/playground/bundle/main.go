// Command bundle makes the playground's editor from the npm packages that editor/package-lock.json pins: one script
// and the licences of what is in it. It needs only Go; esbuild is linked in. The same lock and source produce the
// same bytes.
//
//	go run ./gateway/console/playground/bundle
//
// make build runs it from the root of the checkout. To change a version, edit editor/package.json and have npm write
// the lock: npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

// patience bounds a whole run, so that a registry that does not respond does not delay a build.
const patience = 30 * time.Second

func main() { os.Exit(run(os.Args[1:], os.Getenv, os.Stdout, os.Stderr)) }

// run returns the exit code: 0, 1 for a failure, 2 for a usage error.
func run(args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		_, _ = fmt.Fprintln(stderr, "bundle: takes no arguments")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := bundle(ctx, "gateway/console/playground", getenv, stdout); err != nil {
		_, _ = fmt.Fprintln(stderr, "bundle:", err)
		return 1
	}
	return 0
}
