package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a pseudo-terminal.
func openTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { _ = ours.Close() })
	locked := int32(0)
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, ours.Fd(), unix.TIOCSPTLCK,
		uintptr(unsafe.Pointer(&locked))); errno != 0 {
		t.Fatal(errno)
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}

// screen keeps what a terminal was sent, and says when something comes.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (s *screen) follow(from io.Reader) {
	defer close(s.more)
	b := make([]byte, 4096)
	for {
		n, err := from.Read(b)
		s.mu.Lock()
		s.text.Write(b[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
		s.more <- struct{}{}
	}
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// await waits until the screen shows text.
func (s *screen) await(t *testing.T, text string) {
	t.Helper()
	for !strings.Contains(s.String(), text) {
		if _, ok := <-s.more; !ok {
			t.Fatalf("%q never came:\n%s", text, s)
		}
	}
}

// onTerminal starts airlock as a process whose output is a terminal.
func onTerminal(t *testing.T, environment []string, args ...string) (*exec.Cmd, *screen) {
	t.Helper()
	return onTerminalWith(t, nil, environment, args...)
}

// onTerminalWith is onTerminal with a standard input, which may be nil.
func onTerminalWith(t *testing.T, stdin *os.File, environment []string, args ...string) (*exec.Cmd, *screen) {
	t.Helper()
	ours, theirs := openTerminal(t)
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append([]string{"AIRLOCK_TEST_AS_PROGRAM=1",
		"AIRLOCK_CACHE_DIR=" + filepath.Join(os.TempDir(), "airlock-test-cache")}, environment...)
	cmd.Stdout, cmd.Stderr = theirs, theirs
	if stdin != nil {
		cmd.Stdin = stdin
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	if err := theirs.Close(); err != nil {
		t.Fatal(err)
	}
	s := &screen{more: make(chan struct{}, 1<<16)}
	go s.follow(ours)
	return cmd, s
}

// finish returns the exit code and everything that was shown.
func finish(cmd *exec.Cmd, s *screen) (int, string) {
	for range s.more { // it ends when the other end of the terminal is closed
	}
	_ = cmd.Wait() // the code says it
	return cmd.ProcessState.ExitCode(), s.String()
}

// Colours are for terminals that want them, and what a guest prints never steers one.
func TestColours(t *testing.T) {
	t.Parallel()
	const code = `console.warn('w'); console.log('\u001b]0;owned\u0007\u001b[2J'); throw new Error('\u001b[2J')`
	for _, c := range []struct {
		environment []string
		coloured    bool
	}{{nil, true}, {[]string{"NO_COLOR=1"}, false}, {[]string{"TERM=dumb"}, false}} {
		cmd, s := onTerminal(t, c.environment, "run", "-e", code)
		exit, text := finish(cmd, s)
		if exit != exitGuest {
			t.Errorf("%v: exit %d, want %d: %q", c.environment, exit, exitGuest, text)
		}
		for _, sequence := range []string{"\x1b[2J", "\x1b]0;"} {
			if strings.Contains(text, sequence) {
				t.Errorf("%v: the guest's sequence %q reaches the terminal: %q", c.environment, sequence, text)
			}
		}
		contains(t, fmt.Sprint(c.environment), text, `\u{1b}]0;owned\u{7}`)
		if coloured := strings.Contains(text, "\x1b[33mw") &&
			strings.Contains(text, "\x1b[31mairlock:"); coloured != c.coloured ||
			!c.coloured && strings.Contains(text, "\x1b[3") {
			t.Errorf("%v: %q", c.environment, text)
		}
	}
	if code, out, errs := command(t, env("AIRLOCK_CACHE_DIR="+filepath.Join(os.TempDir(), "airlock-test-cache")), "run",
		"-e", `console.log('\u001b[1m')`); code != 0 || out != "\x1b[1m\n" {
		t.Errorf("a pipe gets %q %q", out, errs)
	}
}

// A long operation shows its progress on a terminal, and clears it at the end.
func TestProgress(t *testing.T) {
	t.Parallel()
	cmd, s := onTerminal(t, nil, "run", "-e", "await new Promise(r => setTimeout(r, 900)); 7")
	s.await(t, "running … ")
	if exit, text := finish(cmd, s); exit != 0 || !strings.HasSuffix(text, "\r\x1b[K7\r\n") {
		t.Errorf("%d %q", exit, text)
	}
}

// A run that waits for its standard input says so.
func TestProgressOfStandardInput(t *testing.T) {
	t.Parallel()
	theirs, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close() // the process has its own
	cmd, s := onTerminalWith(t, theirs, nil, "run", "-e", "require('fs').readFileSync(0, 'utf8')")
	s.await(t, "reading standard input … ")
	if _, err := ours.WriteString("7"); err != nil {
		t.Fatal(err)
	}
	if err := ours.Close(); err != nil {
		t.Fatal(err)
	}
	if exit, text := finish(cmd, s); exit != 0 || !strings.HasSuffix(text, "\r\x1b[K\"7\"\r\n") {
		t.Errorf("%d %q", exit, text)
	}
}
