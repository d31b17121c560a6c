package scanpool_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/scanpool"
)

// TestMain makes this test program its own worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "scanner" {
		os.Exit(worker())
	}
	os.Exit(m.Run())
}

// worker carries out the commands in tasks.
func worker() int {
	if err := scanpool.Confine(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var kept [][]byte
	err := scanpool.Serve(os.Stdin, os.Stdout, "ready", func(task []byte) []byte {
		switch string(task) {
		case "spin":
			for n := 0; ; n++ { // it ends with its process
				if n < 0 {
					n = 0
				}
			}
		case "sleep":
			select {}
		case "die":
			os.Exit(3)
		case "fill":
			for {
				kept = append(kept, bytes.Repeat([]byte("x"), 1<<20))
			}
		case "environment":
			return []byte(fmt.Sprint(len(os.Environ())))
		case "long":
			return make([]byte, 2<<20)
		}
		return append([]byte("done "), task...)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func pool(t *testing.T, cfg scanpool.Config) *scanpool.Pool {
	t.Helper()
	if cfg.Command == nil {
		cfg.Command = []string{os.Args[0], "scanner"}
	}
	p, err := scanpool.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

const ample = 10 * time.Second

func TestTasks(t *testing.T) {
	t.Parallel()
	p := pool(t, scanpool.Config{Workers: 3})
	var all sync.WaitGroup
	for n := range 30 {
		all.Go(func() {
			task := strings.Repeat(fmt.Sprint(n), 1+n*10_000)
			parts := []string{task[:n], "", task[n : len(task)/2+1], task[len(task)/2+1:]}
			if got, err := p.Do(t.Context(), parts, ample); err != nil || string(got) != "done "+task {
				t.Errorf("task %d: %d bytes, %v", n, len(got), err)
			}
		})
	}
	all.Wait()
	if s := p.Stats(); s.Workers > 3 || s.Started > 3 || s.Killed > 0 {
		t.Errorf("%+v", s)
	}
	if got, err := p.Do(t.Context(), []string{"environment"}, ample); err != nil || string(got) != "0" {
		t.Errorf("a worker has %s environment variables, %v", got, err)
	}
}

// TestKilled checks that a task without end, in time, memory or answer, is stopped, and that the next is served.
func TestKilled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		task      string
		processor time.Duration
	}{{"spin", 50 * time.Millisecond}, {"sleep", 10 * time.Millisecond}, {"die", ample}, {"fill", ample},
		{"long", ample}} {
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, nil))
		p := pool(t, scanpool.Config{Workers: 1, MaxAnswer: 1 << 20, Logger: logger})
		_, err := p.Do(t.Context(), []string{c.task}, c.processor)
		if !errors.Is(err, scanpool.ErrKilled) {
			t.Errorf("%s: %v", c.task, err)
		}
		if !strings.Contains(log.String(), "scan worker stopped") || log.Len() > 500 { // a stack has 2 KiB
			t.Errorf("%s: the log has %s", c.task, log.String())
		}
		if got, err := p.Do(t.Context(), []string{"x"}, ample); err != nil || string(got) != "done x" {
			t.Errorf("after %s: %s %v", c.task, got, err)
		}
		if s := p.Stats(); s.Killed != 1 || s.Started != 2 || s.Workers != 1 {
			t.Errorf("after %s: %+v", c.task, s)
		}
	}
}

// TestHangUp checks that a task whose caller has gone costs almost nothing more, and that a waiting one never begins.
func TestHangUp(t *testing.T) {
	t.Parallel()
	p := pool(t, scanpool.Config{Workers: 1})
	if err := p.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := p.Do(ctx, []string{"spin"}, time.Hour)
			ended <- err
		}()
	}
	cancel()
	for range 2 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	if s := p.Stats(); s.Killed > 1 {
		t.Errorf("%+v", s)
	}
	if _, err := p.Do(t.Context(), []string{"x"}, ample); err != nil {
		t.Error(err)
	}
}

func TestNoWorker(t *testing.T) {
	t.Parallel()
	for name, command := range map[string][]string{
		"no such program": {"/no/such/program"}, "one that ends": {os.Args[0], "-test.run=^$"},
	} {
		p := pool(t, scanpool.Config{Command: command})
		if _, err := p.Do(t.Context(), []string{"x"}, ample); !errors.Is(err, scanpool.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
		if err := p.Warm(t.Context()); !errors.Is(err, scanpool.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
		if s := p.Stats(); s.Workers != 0 || s.Failed != 2 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	_, err := scanpool.New(scanpool.Config{Workers: -1})
	if err == nil || !strings.HasSuffix(err.Error(), "negative: Workers") {
		t.Errorf("a negative number of workers: %v", err)
	}
}

func TestRenewed(t *testing.T) {
	t.Parallel()
	p := pool(t, scanpool.Config{Workers: 1, RenewAfter: time.Nanosecond})
	for range 3 {
		if _, err := p.Do(t.Context(), []string{"x"}, ample); err != nil {
			t.Fatal(err)
		}
	}
	if s := p.Stats(); s.Started != 3 || s.Killed != 0 || s.Workers != 0 {
		t.Errorf("%+v", s)
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	p := pool(t, scanpool.Config{Workers: 1})
	if _, err := p.Do(t.Context(), []string{"x"}, ample); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Do(t.Context(), []string{"x"}, ample); err == nil || errors.Is(err, scanpool.ErrKilled) {
		t.Errorf("a closed pool serves: %v", err)
	}
}

// TestServeEnds checks that a worker ends with its pool, even during a task, and refuses an endless frame.
func TestServeEnds(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"nothing": "", "half a length": "\x00\x00", "too long a frame": "\xff\xff\xff\xffx",
		"half a frame": "\x00\x00\x00\x09x", "a task that never ends": "\x00\x00\x00\x01x",
	} {
		err := scanpool.Serve(strings.NewReader(in), &bytes.Buffer{}, "ready", func([]byte) []byte { select {} })
		if clean := name == "nothing" || name == "a task that never ends"; clean != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
