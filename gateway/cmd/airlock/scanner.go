package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/infra/lockdown"
	"github.com/airlock-run/airlock/infra/scanpool"
	"github.com/airlock-run/airlock/policy/scan"
)

var _ gateway.CodeScanner = (*scanReader)(nil)

// scanReader reads code in worker processes, which are killed when they take too long.
type scanReader struct {
	pool *scanpool.Pool
	// allowed is the processor time that reading a text may take.
	allowed func(scan.Input) time.Duration
}

// What a worker may take to read a text, in processor time: more than ten times what the scan may need by its own count.
const (
	readTime       = time.Second
	readTimePerMiB = time.Second
)

func readTimeOf(t scan.Input) time.Duration {
	return readTime + readTimePerMiB*time.Duration(t.Bytes())>>20
}

// openReader returns a scanReader whose first worker is starting. It must be closed.
func openReader(workers int, log *slog.Logger) (*scanReader, error) {
	pool, err := scanpool.New(scanpool.Config{Workers: workers, Logger: log})
	if err != nil {
		return nil, fmt.Errorf("scan workers: %w", err)
	}
	return &scanReader{pool, readTimeOf}, nil
}

// warm starts a worker in the background, and says so when none can be started: code that is not cheap to read is then refused.
func (r *scanReader) warm(ctx context.Context, log *slog.Logger) {
	go func() {
		if err := r.pool.Warm(ctx); err != nil && ctx.Err() == nil {
			log.Error("code that is not cheap to analyse is refused, because no scan worker can be started", "error", err)
		}
	}()
}

// health reports whether a worker can be had. Workers that are all busy are ready.
func (r *scanReader) health() gateway.Health {
	return gateway.Health{Name: "scan", Optional: true, Ready: func(ctx context.Context) error {
		asking, cancel := context.WithTimeout(ctx, time.Second/2)
		defer cancel()
		if err := r.pool.Warm(asking); !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return nil // they are busy
	}}
}

// Scan implements gateway.CodeScanner. An input that was not scanned in time is scanned again by tokens, in linear time.
func (r *scanReader) Scan(ctx context.Context, t scan.Input) (scan.Result, error) {
	found, err := r.scan(ctx, t)
	if !errors.Is(err, scanpool.ErrKilled) || t.Shallow {
		return found, err
	}
	t.Shallow, t.Syntax = true, false
	found, err = r.scan(ctx, t)
	found.Unfinished = true
	return found, err
}

func (r *scanReader) scan(ctx context.Context, t scan.Input) (found scan.Result, err error) {
	task, err := t.MarshalBinary()
	if err != nil {
		return found, err
	}
	answer, err := r.pool.Do(ctx, task, r.allowed(t))
	if err != nil {
		return found, err
	}
	if err := json.Unmarshal(answer, &found); err != nil {
		return found, fmt.Errorf("the answer of a scan worker: %w", err)
	}
	return found, nil
}

// Close kills the workers.
func (r *scanReader) Close() error { return r.pool.Close() }

// scannerCommand is the worker's side of scanReader.
func scannerCommand(con console) *cobra.Command {
	return &cobra.Command{
		Use:    "scanner",
		Short:  "Read code for a gateway, on standard input and output",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := serveScans(con); err != nil {
				return exit(exitPlatform, err)
			}
			return nil
		},
	}
}

// scanMemory is how much memory a worker uses before it collects garbage at every turn; scanpool.Confine sets the end.
const scanMemory = 256 << 20

func serveScans(con console) error {
	runtime.GOMAXPROCS(1)
	debug.SetMemoryLimit(scanMemory)
	reader := scan.New()
	if err := scanpool.Confine(); err != nil {
		return err
	}
	walls, err := lockdown.Enforce(lockdown.Config{Sealed: true})
	if err != nil {
		return fmt.Errorf("lock the process down: %w", err)
	}
	return scanpool.Serve(con.stdin, exact(con.stdout), said(walls), func(task []byte) []byte {
		var t scan.Input
		if err := t.UnmarshalBinary(task); err != nil {
			panic(err) // which ends this process: the pool says so
		}
		found, err := reader.Scan(context.Background(), t)
		if err != nil {
			panic(err)
		}
		answer, err := json.Marshal(found)
		if err != nil {
			panic(err)
		}
		return answer
	})
}

// said is what a worker says of its walls when it is ready.
func said(w lockdown.Walls) string {
	var line strings.Builder
	for _, wall := range w.Standing {
		fmt.Fprintf(&line, "+%s ", wall)
	}
	for _, wall := range w.Missing {
		fmt.Fprintf(&line, "-%s ", wall)
	}
	return strings.TrimSpace(line.String())
}
