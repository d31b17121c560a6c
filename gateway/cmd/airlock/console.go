package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// console is what a command sees of the outside.
type console struct {
	getenv func(string) string
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
}

// The colours, as ECMA-48 numbers them.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	faint  = "2"
)

// wipe clears the line of a terminal.
const wipe = "\r\x1b[K"

// newConsole returns the console of a run. Its outputs escape what they are given; see [textWriter].
func newConsole(getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) (con console, flush func()) {
	out, errs := newTextWriter(stdout), newTextWriter(stderr)
	return console{getenv, stdin, out, errs}, func() { out.flush(); errs.flush() }
}

// paint colours text that goes to a terminal, unless NO_COLOR (no-color.org) or a dumb terminal forbids it. Only to knows
// the colour again, so the text must be written there.
func (con console) paint(to io.Writer, colour, text string) string {
	t, ok := to.(*textWriter)
	if !ok || !terminal(to) || con.getenv("NO_COLOR") != "" || con.getenv("TERM") == "dumb" {
		return text
	}
	return t.colour + colour + "m" + text + t.colour + "0m"
}

// piped reports whether somebody has something to read on standard input: a pipe or a file, and not a terminal.
func piped(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeNamedPipe != 0)
}

// ofGuests returns the writer for what guests print: exact into a pipe or a file, escaped on a terminal.
func ofGuests(to io.Writer) io.Writer {
	if terminal(to) {
		return to
	}
	return exact(to)
}

// patient is how long something may take before its progress is shown.
const patient = 400 * time.Millisecond

// progress says on a terminal's standard error that something still goes on, once it takes a while. The function it gives
// wipes the line; it must be called before anything else is printed, and may be called again.
func (con console) progress(what string) (done func()) {
	if !terminal(con.stderr) || con.getenv("TERM") == "dumb" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		began, shown := time.Now(), false
		tick := time.NewTicker(patient)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				if shown {
					_, _ = io.WriteString(exact(con.stderr), wipe)
				}
				return
			case <-tick.C:
				shown = true
				line := fmt.Sprintf("%s … %.0f s", what, time.Since(began).Seconds())
				_, _ = io.WriteString(exact(con.stderr), wipe)
				_, _ = io.WriteString(con.stderr, con.paint(con.stderr, faint, line))
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// signalGrace is how long a command may take to end after a signal before the process exits without it.
const signalGrace = 3 * time.Second

// interruptible ends with the first SIGINT or SIGTERM; its cause then has the exit code. A second one ends the program, and
// so does the first when the returned function is not called within signalGrace: not everything can be interrupted.
func interruptible(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ended := make(chan struct{})
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		defer signal.Stop(signals)
		select {
		case s := <-signals:
			signal.Stop(signals) // the next one ends the program
			code := exitSignal
			if number, ok := s.(syscall.Signal); ok {
				code += int(number)
			}
			cancel(exit(code, errors.New("stopped ("+s.String()+")")))
			select {
			case <-ended:
			case <-time.After(signalGrace):
				os.Exit(code)
			}
		case <-ctx.Done():
		}
	}()
	return ctx, sync.OnceFunc(func() {
		close(ended)
		cancel(context.Canceled)
	})
}
