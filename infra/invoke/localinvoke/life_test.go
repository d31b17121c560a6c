//go:build unix

package localinvoke_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
)

// failInit is a function process that reports why it cannot start, as Lambda's runtimes do.
func failInit() {
	body := strings.NewReader(`{"errorType":"Runtime.NoStore","errorMessage":"the store is away"}`)
	resp, err := http.Post("http://"+os.Getenv("AWS_LAMBDA_RUNTIME_API")+"/2018-06-01/runtime/init/error",
		"application/json", body)
	if err != nil || resp.StatusCode != http.StatusAccepted {
		os.Exit(8)
	}
	os.Exit(1)
}

// beParent is a program with a pool, which prints the ids of its processes and then waits to be killed.
func beParent() {
	self, err := os.Executable()
	if err != nil {
		os.Exit(8)
	}
	p, err := localinvoke.New(context.Background(),
		localinvoke.Config{Command: []string{self}, Env: []string{"FUNCTION=1"}, Processes: 1})
	if err != nil {
		os.Exit(9)
	}
	fmt.Println(p.Stats().Processes[0].PID)
	untilKilled()
}

// untilKilled blocks forever. (The runtime would report an empty select as a deadlock.)
func untilKilled() {
	never := make(chan os.Signal, 1)
	signal.Notify(never, syscall.SIGUSR2)
	<-never
}

func TestNewRefuses(t *testing.T) {
	cases := map[string]struct {
		change func(*localinvoke.Config)
		says   string
	}{
		"a missing program":   {func(c *localinvoke.Config) { c.Command = []string{"/no/such/program"} }, "/no/such/program"},
		"a folder as program": {func(c *localinvoke.Config) { c.Command = []string{t.TempDir()} }, t.TempDir()[:5]},
		"a crash at start": {func(c *localinvoke.Config) { c.Env = []string{"FUNCTION=crash"} },
			"exit status 3): no audit store"},
		"an init error": {func(c *localinvoke.Config) { c.Env = []string{"FUNCTION=init error"} },
			"Runtime.NoStore: the store is away"},
		"silence": {func(c *localinvoke.Config) {
			c.Env, c.StartTimeout = []string{"FUNCTION=mute"}, 50*time.Millisecond
		}, "not ready after 50ms"},
		"an open address":  {func(c *localinvoke.Config) { c.Listen = "0.0.0.0:0" }, "loopback"},
		"a bad address":    {func(c *localinvoke.Config) { c.Listen = "here" }, "loopback"},
		"a missing folder": {func(c *localinvoke.Config) { c.Dir = "/no/such/folder" }, "/no/such/folder"},
		"a negative count": {func(c *localinvoke.Config) { c.Processes = -1 }, "negative: Processes"},
		"a negative grace": {func(c *localinvoke.Config) { c.Grace = -1 }, "negative: Grace"},
		"a negative size":  {func(c *localinvoke.Config) { c.MaxMemory = -1 }, "negative: MaxMemory"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := config(t)
			c.change(&cfg)
			p, err := localinvoke.New(t.Context(), cfg)
			if err == nil {
				p.Close(t.Context())
				t.Fatal("was accepted")
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("%q does not say %q", err, c.says)
			}
		})
	}
}

func TestNewGivesUpWithItsContext(t *testing.T) {
	cfg := config(t)
	cfg.Env = []string{"FUNCTION=mute"}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := localinvoke.New(ctx, cfg); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	p, err := localinvoke.New(t.Context(), config(t))
	if err != nil {
		t.Fatal(err)
	}
	// A running execution is cut short when Close may not wait.
	began, got := make(chan struct{}), make(chan execution.Reply, 1)
	go func() {
		r, err := p.Invoke(context.Background(), invocation("deaf"), func(execution.Log) { close(began) })
		if err != nil {
			t.Error(err)
		}
		got <- r
	}()
	<-began
	var pids []int
	for _, s := range p.Stats().Processes {
		if s.PID != 0 { // it has not been started yet
			pids = append(pids, s.PID)
		}
	}
	if len(pids) == 0 {
		t.Error("no process runs")
	}
	now, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Close(now); !errors.Is(err, context.Canceled) {
		t.Errorf("Close: %v", err)
	}
	if r := <-got; r.Result.Status != execution.Cancelled || r.Recorded {
		t.Errorf("the result is %s", r.Result.Status)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d is still there: %v", pid, err)
		}
	}
	var e *execution.Error
	if _, err := p.Invoke(t.Context(), invocation("echo"), nil); !errors.As(err, &e) || e.Code != execution.Unavailable {
		t.Errorf("after Close: %v", err)
	}
	if err := p.Ready(t.Context()); !errors.As(err, &e) || e.Code != execution.Unavailable {
		t.Errorf("ready after Close: %v", err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}

func TestCloseLetsExecutionsEnd(t *testing.T) {
	p, err := localinvoke.New(t.Context(), config(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	began, got := make(chan struct{}), make(chan execution.Reply, 1)
	go func() {
		r, err := p.Invoke(ctx, invocation("wait"), func(execution.Log) { close(began) })
		if err != nil {
			t.Error(err)
		}
		got <- r
	}()
	<-began
	closed := make(chan error, 1)
	go func() { closed <- p.Close(context.Background()) }()
	cancel()
	if r := <-got; !r.Recorded {
		t.Errorf("was cut short: %+v", r.Result)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// TestDeathOfTheParent kills a program with a pool: its function processes must not outlive it.
func TestDeathOfTheParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(self)
	parent.Env = []string{"FUNCTION=parent"}
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		_, err = fmt.Sscan(line, &pid)
	}
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	child, err := os.FindProcess(pid) // a handle, where the system has them: the id may be used again
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, out)
	parent.Wait()
	for gone := time.After(2 * time.Minute); child.Signal(syscall.Signal(0)) == nil && !zombie(pid); {
		select {
		case <-gone:
			child.Kill()
			t.Fatal("the function process outlived its parent")
		default:
		}
	}
}

// zombie reports whether a process has ended and was not waited for.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestIdleProcessIsReplaced(t *testing.T) {
	cfg := config(t)
	cfg.Processes = 1
	p := newPool(t, cfg)
	for range 3 {
		before := p.Stats().Processes[0]
		if err := syscall.Kill(before.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if r, err := p.Invoke(t.Context(), invocation("echo"), nil); err != nil || r.Result.Status != execution.Completed {
			t.Fatalf("%s, %v", r.Result.Status, err)
		}
	}
	st := p.Stats()
	if st.Processes[0].Restarts == 0 || st.Processes[0].LastExit != "signal: killed" || st.Executions < 1 {
		t.Errorf("%+v", st)
	}
}
