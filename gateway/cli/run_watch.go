package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
)

// settled is how long a file must stay unchanged before it counts as written: editors write in several steps.
const settled = 50 * time.Millisecond

// watchFile runs the file, and again after each change, until ctx ends. A change stops the current run. Errors are
// printed and do not end the watch, unless a preparation cannot be stopped.
func (f *runFlags) watchFile(ctx context.Context, con terminal.Console, args []string, at place) error {
	path, err := filepath.Abs(args[0])
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	if _, err := os.Stat(path); err != nil {
		return exit.With(exit.Usage, err)
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return exit.With(exit.Platform, fmt.Errorf("--watch: %w", err))
	}
	defer func() { _ = watcher.Close() }() // it only watched
	// Watch the folder, because many editors replace the file.
	if err := watcher.Add(filepath.Dir(path)); err != nil {
		return exit.With(exit.Platform, fmt.Errorf("--watch: %w", err))
	}
	for {
		running, cancel := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			f.again(running, con, args, at.run)
		}()
		err := changed(ctx, watcher, path)
		cancel()
		<-ended
		if err != nil {
			return err
		}
		if at.spent() {
			return exit.With(exit.Limit, errors.New("--watch: preparing the code outlived its run and cannot be stopped; "+
				"start again"))
		}
	}
}

// again runs the current file once.
func (f *runFlags) again(ctx context.Context, con terminal.Console, args []string, run execute) {
	request, err := f.request(con, args)
	if err == nil {
		err = f.run(ctx, con, request, run)
	}
	if ctx.Err() != nil {
		return
	}
	note := con.Paint(con.Stderr, terminal.Green, "airlock:") + " completed"
	if err != nil {
		note = con.Paint(con.Stderr, terminal.Red, "airlock:") + " " + strings.Join(terminal.ErrorLines(err), "\n")
	}
	_, _ = fmt.Fprintf(con.Stderr, "%s; waiting for %s to change\n", note, terminal.OneLine(args[0]))
}

// changed waits until the file has changed and settled. It fails if ctx ends or watching fails.
func changed(ctx context.Context, watcher *fsnotify.Watcher, path string) error {
	var quiet <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-quiet:
			return nil
		case err := <-watcher.Errors:
			return exit.With(exit.Platform, fmt.Errorf("--watch: %w", err))
		case event := <-watcher.Events:
			if event.Name == path && !event.Has(fsnotify.Remove) && event.Op != fsnotify.Chmod {
				quiet = time.After(settled)
			}
		}
	}
}
