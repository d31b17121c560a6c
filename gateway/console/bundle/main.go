// Command bundle makes what pages load of npm packages: the playground's editor, and the viewer of the API's
// description. Each is a script, perhaps a style sheet, and the licences of what is in them, made from the packages
// that a package-lock.json pins. It needs only Go; esbuild is linked in. The same lock and source produce the same
// bytes.
//
//	go run ./gateway/console/bundle
//
// make build runs it from the root of the checkout. To change a version, edit package.json in editor or viewer and let
// npm write the lock: npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved
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
	for _, p := range products() {
		if err := p.make(ctx, getenv, stdout); err != nil {
			_, _ = fmt.Fprintln(stderr, "bundle:", err)
			return 1
		}
	}
	return 0
}
