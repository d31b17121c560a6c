package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// asProgram starts airlock as a separate process and returns it with a scanner of its output.
func asProgram(t *testing.T, environment []string, args ...string) (*exec.Cmd, *bufio.Scanner, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append([]string{"AIRLOCK_TEST_AS_PROGRAM=1",
		"AIRLOCK_CACHE_DIR=" + filepath.Join(os.TempDir(), "airlock-test-cache")}, environment...)
	errs := &bytes.Buffer{}
	cmd.Stderr = errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
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
	return cmd, bufio.NewScanner(out), errs
}

func awaitLine(t *testing.T, lines *bufio.Scanner, want string) {
	t.Helper()
	for lines.Scan() {
		if lines.Text() == want {
			return
		}
	}
	t.Fatalf("%q never came", want)
}

// Ctrl-C stops the guest, here and at a gateway, leaves a record and ends as shells expect.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	gateway := start(t, "RATE_LIMIT_MAX_REQUESTS=1000")
	store := filepath.Join(t.TempDir(), "audit")
	for name, environment := range map[string][]string{"here": {"AUDIT_STORE=" + store},
		"gateway": {"AIRLOCK_SERVER=" + gateway.url}} {
		for signal, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
			cmd, lines, errs := asProgram(t, environment, "run", "-e", "console.log('running'); for (;;);", "--policy", "agent")
			awaitLine(t, lines, "running")
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // the code says it
			if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(errs.String(), "stopped (") {
				t.Errorf("%s: %s ends it with %d: %s", name, signal, got, errs)
			}
		}
	}
	for _, dir := range []string{store, filepath.Join(gateway.dir, "audit")} {
		found := 0
		for found < 2 { // the gateway's are written as the runs end
			_, out, _ := command(t, env(), "audit", "list", "--store", dir, "--status", "cancelled")
			found = strings.Count(out, "exec_")
		}
	}
}

// A file runs again when it changes, also while it runs; a file that is broken for a while does not end the watch.
func TestWatch(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "script.js")
	write := func(code string) {
		t.Helper()
		fresh := file + ".new" // as editors do: the old file is replaced
		if err := os.WriteFile(fresh, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(fresh, file); err != nil {
			t.Fatal(err)
		}
	}
	write("'first'")
	cmd, lines, errs := asProgram(t, nil, "run", file, "--watch")
	awaitLine(t, lines, `"first"`)
	write("throw new Error('broken')\n//" + strings.Repeat("x", 300<<10))
	write("console.log('looping'); for (;;);")
	awaitLine(t, lines, "looping")
	write("'last'")
	awaitLine(t, lines, `"last"`)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // to the end
	}
	_ = cmd.Wait() // the code says it
	if cmd.ProcessState.ExitCode() != 130 || !strings.Contains(errs.String(), "waiting for "+file+" to change") {
		t.Errorf("%d: %s", cmd.ProcessState.ExitCode(), errs)
	}
	for _, args := range [][]string{{"run", "--watch", "-"}, {"run", "--watch", "-e", "1"},
		{"run", "--watch", file + ".no"}} {
		if code, _, _ := command(t, env(), args...); code != exitUsage {
			t.Errorf("%v: %d", args, code)
		}
	}
}

// Without a file, the code is read from a pipe; without a pipe, that is a usage error.
func TestPipedCode(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{"6 * 7": "42\n", "": ""} {
		cmd := exec.Command(os.Args[0], "run")
		cmd.Env = []string{"AIRLOCK_TEST_AS_PROGRAM=1",
			"AIRLOCK_CACHE_DIR=" + filepath.Join(os.TempDir(), "airlock-test-cache")}
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(in, code)
		_ = in.Close()
		_ = cmd.Wait() // the code says it
		wantCode := exitUsage
		if code != "" {
			wantCode = 0
		}
		if cmd.ProcessState.ExitCode() != wantCode || out.String() != want {
			t.Errorf("%q: exit %d, %q", code, cmd.ProcessState.ExitCode(), out.String())
		}
	}
	cmd := exec.Command(os.Args[0], "run") // its standard input is /dev/null
	cmd.Env = []string{"AIRLOCK_TEST_AS_PROGRAM=1"}
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != exitUsage {
		t.Errorf("nothing: %v", err)
	}
}
