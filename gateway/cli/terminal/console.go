package terminal

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

	"github.com/airlock-run/airlock/gateway/cli/exit"
)

// A Console is a command's environment: variables, standard input and the two outputs.
type Console struct {
	Getenv func(string) string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
}

// The colours, as ECMA-48 numbers them.
const (
	Red    = "31"
	Green  = "32"
	Yellow = "33"
	faint  = "2"
)

// wipe clears the line of a terminal.
const wipe = "\r\x1b[K"

// New returns the console of a run. Its outputs escape control characters; see textWriter. flush writes what is left.
func New(getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) (con Console, flush func()) {
	out, errs := newTextWriter(stdout), newTextWriter(stderr)
	return Console{getenv, stdin, out, errs}, func() { out.flush(); errs.flush() }
}

// Paint colours text for a terminal, unless NO_COLOR (no-color.org) or a dumb terminal forbids it. Only the writer to
// recognises the colour.
func (con Console) Paint(to io.Writer, colour, text string) string {
	t, ok := to.(*textWriter)
	if !ok || !IsTerminal(to) || con.Getenv("NO_COLOR") != "" || con.Getenv("TERM") == "dumb" {
		return text
	}
	return t.colour + colour + "m" + text + t.colour + "0m"
}

// Piped reports whether r is a pipe, a socket, as Node.js gives its child processes, or a file, and not a terminal.
func Piped(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0)
}

// OfGuests returns the writer for what guests print: unchanged in a pipe or a file, escaped on a terminal.
func OfGuests(to io.Writer) io.Writer {
	if IsTerminal(to) {
		return to
	}
	return Exact(to)
}

// progressAfter is how long something may take before its progress is shown.
const progressAfter = 400 * time.Millisecond

// Progress shows on a terminal's standard error that something is still going on once it takes a while. done wipes
// the line; it must be called before anything else is printed and may be called again.
func (con Console) Progress(what string) (done func()) {
	if !IsTerminal(con.Stderr) || con.Getenv("TERM") == "dumb" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		began, shown := time.Now(), false
		tick := time.NewTicker(progressAfter)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				if shown {
					_, _ = io.WriteString(Exact(con.Stderr), wipe)
				}
				return
			case <-tick.C:
				shown = true
				line := fmt.Sprintf("%s … %.0f s", what, time.Since(began).Seconds())
				_, _ = io.WriteString(Exact(con.Stderr), wipe)
				_, _ = io.WriteString(con.Stderr, con.Paint(con.Stderr, faint, line))
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

// Interruptible returns a context that the first SIGINT or SIGTERM cancels, with the exit code as its cause. A second
// signal ends the program, and so does the first if the returned function is not called within signalGrace.
func Interruptible(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ended := make(chan struct{})
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		defer signal.Stop(signals)
		select {
		case s := <-signals:
			signal.Stop(signals) // the next one ends the program
			code := exit.Signal
			if number, ok := s.(syscall.Signal); ok {
				code += int(number)
			}
			cancel(exit.With(code, errors.New("stopped ("+s.String()+")")))
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
