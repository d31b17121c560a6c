package wiring

import (
	"bufio"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/infra/scanpool"
)

// ready asks a part whether it is ready, as GET /readyz does, which waits two seconds at most. A busy machine may delay
// an answer; a part that waits too long delays all of them.
func ready(t *testing.T, part gateway.Health) (err error) {
	t.Helper()
	var took time.Duration
	for range 30 { // a busy machine may delay any of them
		began := time.Now()
		err = part.Ready(t.Context())
		if took = time.Since(began); took <= 2*time.Second {
			return err
		}
	}
	t.Errorf("%s took %v to answer", part.Name, took)
	return err
}

// A stopped Redis keeps its connections and answers nothing: it is not ready until it continues.
func TestStoppedRedisIsNotReady(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("redis-server is not installed: apt-get install -y redis-server")
	}
	socket := filepath.Join(t.TempDir(), "redis.sock")
	cmd := exec.Command(program, "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir",
		filepath.Dir(socket))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(strings.ToLower(lines.Text()), "ready to accept connections") {
	}
	deps := gateway.Deps{Now: time.Now, Logger: slog.New(slog.DiscardHandler)}
	rate := settings.Rate{Window: time.Minute, Max: 10, Redis: "unix://" + socket}
	set := settings.Settings{Hooks: settings.Hooks{PerMinute: 1}, Rate: rate}
	if err := limits(set, nil, &deps); err != nil || len(deps.Health) != 1 {
		t.Fatalf("%v, %d parts", err, len(deps.Health))
	}
	redis := deps.Health[0]
	if err := ready(t, redis); err != nil {
		t.Fatalf("before: %v", err)
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := ready(t, redis); err == nil {
		t.Error("a stopped Redis is ready")
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := ready(t, redis); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if err := ready(t, redis); err == nil {
		t.Error("a Redis that is gone is ready")
	}
}

// A pool that can start no worker is not ready, whatever the reason.
func TestDeadScanPoolIsNotReady(t *testing.T) {
	t.Parallel()
	for name, command := range map[string][]string{
		"no program": {"/nonexistent/scanner"}, "a program that ends": {"/bin/true"},
		"a program that says nothing": {"/bin/cat"},
		"a program that fails":        {"/bin/false"},
	} {
		pool, err := scanpool.New(scanpool.Config{
			Workers: 2, Command: command, StartTimeout: 3 * time.Second, Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		r := &ScanReader{pool, readTimeOf}
		err = ready(t, r.health())
		if err == nil {
			t.Errorf("%s: ready", name)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err := ready(t, r.health()); err == nil {
			t.Errorf("%s: a closed pool is ready", name)
		}
	}
	r := testReader(t)
	if err := r.pool.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := ready(t, r.health())
	for tries := 0; err != nil && tries < 30; tries++ { // a busy machine may not answer within the second
		err = ready(t, r.health())
	}
	if err != nil {
		t.Errorf("a pool whose workers start: %v", err)
	}
}
