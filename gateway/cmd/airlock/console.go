package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/mattn/go-isatty"
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

// paint colours text that goes to a terminal, unless NO_COLOR (no-color.org) or a dumb terminal forbids it.
func (con console) paint(to io.Writer, colour, text string) string {
	if !terminal(to) || con.getenv("NO_COLOR") != "" || con.getenv("TERM") == "dumb" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

func terminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
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

// harmless is text of a guest as it may be shown on to: a terminal gets no control characters, which could steer it.
func harmless(to io.Writer, text string) string {
	if !terminal(to) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "\\u{%x}", r)
	}
	return b.String()
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
					_, _ = io.WriteString(con.stderr, "\r\x1b[K")
				}
				return
			case <-tick.C:
				shown = true
				line := fmt.Sprintf("%s … %.0f s", what, time.Since(began).Seconds())
				_, _ = io.WriteString(con.stderr, "\r\x1b[K"+con.paint(con.stderr, faint, line))
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// interruptible ends with the first SIGINT or SIGTERM; its cause then has the exit code. A second one ends the program.
func interruptible(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		defer signal.Stop(signals)
		select {
		case s := <-signals:
			code := exitSignal
			if number, ok := s.(syscall.Signal); ok {
				code += int(number)
			}
			cancel(exit(code, errors.New("stopped ("+s.String()+")")))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}
