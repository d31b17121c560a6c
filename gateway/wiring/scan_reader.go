package wiring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/infra/lockdown"
	"github.com/airlock-run/airlock/infra/scanpool"
	"github.com/airlock-run/airlock/policy/scan"
)

var _ gateway.CodeScanner = (*ScanReader)(nil)

// A ScanReader scans code in worker processes and kills those that take too long.
type ScanReader struct {
	pool *scanpool.Pool
	// allowed returns the processor time that reading a text may take.
	allowed func(scan.Input) time.Duration
}

// The processor time that a worker may spend on a text: more than ten times what the scan allows itself.
const (
	readTime       = time.Second
	readTimePerMiB = time.Second
)

func readTimeOf(t scan.Input) time.Duration {
	return readTime + readTimePerMiB*time.Duration(t.Bytes())>>20
}

// OpenScanReader returns a ScanReader. It must be closed.
func OpenScanReader(workers int, log *slog.Logger) (*ScanReader, error) {
	pool, err := scanpool.New(scanpool.Config{Workers: workers, Logger: log})
	if err != nil {
		return nil, fmt.Errorf("scan workers: %w", err)
	}
	return &ScanReader{pool, readTimeOf}, nil
}

// warm starts a worker in the background and logs a failure: without workers, code that is not cheap to read is
// refused.
func (r *ScanReader) warm(ctx context.Context, log *slog.Logger) {
	go func() {
		if err := r.pool.Warm(ctx); err != nil && ctx.Err() == nil {
			log.Error("no scan worker can be started; code that is not cheap to analyse is refused", "error", err)
		}
	}()
}

// health reports whether a worker can be started. Busy workers count as ready. Nobody waits longer than a second for a
// worker that is starting, and only one is started to find out.
func (r *ScanReader) health() gateway.Health {
	type attempt struct {
		done chan struct{}
		err  error
	}
	var mu sync.Mutex
	var current *attempt
	begin := func() *attempt {
		mu.Lock()
		defer mu.Unlock()
		if current != nil {
			return current
		}
		a := &attempt{done: make(chan struct{})}
		current = a
		go func() {
			asking, cancel := context.WithTimeout(context.Background(), time.Second/2)
			defer cancel()
			if a.err = r.pool.Warm(asking); errors.Is(a.err, context.DeadlineExceeded) {
				a.err = nil // all are busy
			}
			mu.Lock()
			defer mu.Unlock()
			current = nil
			close(a.done)
		}()
		return a
	}
	return gateway.Health{Name: "scan", Optional: true, Ready: func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		a := begin()
		select {
		case <-a.done:
			return a.err
		case <-ctx.Done():
			return errors.New("a scan worker did not start in time")
		}
	}}
}

// Scan implements gateway.CodeScanner. A text that takes too long is read again by tokens alone, in linear time.
func (r *ScanReader) Scan(ctx context.Context, t scan.Input) (scan.Result, error) {
	found, err := r.scan(ctx, t)
	if !errors.Is(err, scanpool.ErrKilled) || t.Shallow {
		return found, err
	}
	t.Shallow, t.Syntax = true, false
	found, err = r.scan(ctx, t)
	found.Unfinished = true
	return found, err
}

func (r *ScanReader) scan(ctx context.Context, t scan.Input) (found scan.Result, err error) {
	task, err := t.Parts()
	if err != nil {
		return found, err
	}
	answer, err := r.pool.Do(ctx, task, r.allowed(t))
	if err != nil {
		return found, err
	}
	if found, err = scan.DecodeResult(answer); err != nil {
		return found, fmt.Errorf("read the answer of a scan worker: %w", err)
	}
	return found, nil
}

// Close kills the workers.
func (r *ScanReader) Close() error { return r.pool.Close() }

// scanMemory is the memory limit of a worker's garbage collector; scanpool.Confine sets the hard limit.
const scanMemory = 256 << 20

// ServeScans serves as a worker of a ScanReader: it confines this process and serves tasks until stdin ends.
func ServeScans(stdin io.Reader, stdout io.Writer) error {
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
	return scanpool.Serve(stdin, stdout, said(walls), func(task []byte) []byte {
		var t scan.Input
		if err := t.UnmarshalBinary(task); err != nil {
			panic(err) // ends this process, which the pool reports
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

// said returns the line with which a worker reports its walls.
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
