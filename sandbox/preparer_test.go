package sandbox_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// A preparer is a process that runs scripts whose preparation may never end, which a test process could not stop.
type preparer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// preparation is a request to a preparer.
type preparation struct {
	Code       string
	TypeScript bool
	Files      map[string]string
	Wall, CPU  time.Duration
}

// preparedResult is the answer of a preparer. Used is the processor time of the process until Run returned: the wall
// time of a process with one thread of Go code on a machine that does nothing else. Spent reports that it must be
// replaced.
type preparedResult struct {
	Result sandbox.Result
	Err    string
	Used   time.Duration
	Spent  bool
}

// TestPreparer is the program of a preparer, not a test.
func TestPreparer(t *testing.T) {
	if os.Getenv("AIRLOCK_TEST_PREPARER") == "" {
		return
	}
	e, err := sandbox.New(t.Context(),
		sandbox.Config{CacheDir: filepath.Join(os.TempDir(), "airlock-test-cache"), SkipSelfTest: true})
	if err != nil {
		t.Fatal(err)
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var p preparation
		if in.Decode(&p) != nil {
			os.Exit(0)
		}
		files := map[string][]byte{}
		for name, text := range p.Files {
			files[name] = []byte(text)
		}
		before := processorTime(t)
		r, err := e.Run(t.Context(), sandbox.Script{Code: p.Code, TypeScript: p.TypeScript, Files: files},
			sandbox.Grants{Limits: sandbox.Limits{Wall: p.Wall, CPU: p.CPU}})
		answer := preparedResult{Result: r, Used: processorTime(t) - before, Spent: e.Spent()}
		if err != nil {
			answer.Err = err.Error()
		}
		if err := out.Encode(answer); err != nil {
			os.Exit(1)
		}
	}
}

// processorTime returns the processor time of this process.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// run runs p in a preparer, which is started when there is none that can take it.
func (c *preparer) run(t testing.TB, p preparation) preparedResult {
	t.Helper()
	if c.cmd == nil {
		c.start(t)
	}
	var answer preparedResult
	err := json.NewEncoder(c.in).Encode(p)
	line, readErr := c.out.ReadBytes('\n')
	if err != nil || readErr != nil {
		t.Fatalf("the process was lost: %v %v %q", err, readErr, line)
	}
	if err := json.Unmarshal(line, &answer); err != nil || answer.Err != "" {
		t.Fatalf("the process answered %q: %v", line, err)
	}
	if answer.Spent {
		c.stop()
	}
	return answer
}

func (c *preparer) start(t testing.TB) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestPreparer$")
	cmd.Env = append(os.Environ(), "AIRLOCK_TEST_PREPARER=1", "GOMAXPROCS=1") // as a function process
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.cmd, c.in, c.out = cmd, in, bufio.NewReaderSize(out, 1<<20)
}

// stop ends the process; the end of its standard input does so too.
func (c *preparer) stop() {
	if c.cmd != nil {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait() // it was killed
		c.cmd = nil
	}
}

func (p preparation) String() string {
	return fmt.Sprintf("%d bytes, TypeScript %t", len(p.Code), p.TypeScript)
}
