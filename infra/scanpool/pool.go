package scanpool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

var (
	// ErrKilled means that the task exceeded its time or ended its worker.
	ErrKilled = errors.New("scan pool: the task was stopped")
	// ErrUnavailable means that no worker can be started.
	ErrUnavailable = errors.New("scan pool: no worker can be started")
	errClosed      = errors.New("scan pool: closed")
)

// A Pool is a bounded number of workers. It is safe for concurrent use.
type Pool struct {
	cfg    Config
	places chan struct{}

	mu     sync.Mutex
	idle   []*worker
	all    map[*worker]struct{}
	closed bool
	stats  Stats
}

// Stats counts what happened to workers.
type Stats struct {
	Workers, Started, Killed, Failed int
}

// New returns a Pool whose workers start when they are needed.
func New(cfg Config) (*Pool, error) {
	cfg, err := cfg.checked()
	if err != nil {
		return nil, err
	}
	return &Pool{cfg: cfg, places: make(chan struct{}, cfg.Workers), all: map[*worker]struct{}{}}, nil
}

// Stats returns a snapshot.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.stats
	out.Workers = len(p.all)
	return out
}

// Warm starts one worker, so that the first task need not wait. It fails if no worker can be started.
func (p *Pool) Warm(ctx context.Context) error {
	select {
	case p.places <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.places }()
	w, err := p.take(ctx)
	if err != nil {
		return err
	}
	p.release(w)
	return nil
}

// Do lets a worker answer a task within a processor time. The worker gets the parts of the task as one. The error is
// ErrKilled if the task exceeded its time or ended its worker, ErrUnavailable if no worker starts, or the context's.
func (p *Pool) Do(ctx context.Context, task []string, processor time.Duration) ([]byte, error) {
	select {
	case p.places <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-p.places }()
	w, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		p.release(w)
		return nil, ctx.Err()
	}
	answer, err := w.do(ctx, task, processor, time.Duration(p.cfg.Patience)*processor)
	if err != nil {
		p.drop(w, err)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: %w", ErrKilled, err)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	p.release(w)
	return answer, err
}

// take returns an idle worker, or a new one.
func (p *Pool) take(ctx context.Context) (*worker, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, errClosed
	}
	for n := len(p.idle); n > 0; n = len(p.idle) {
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		if !w.ended() {
			p.mu.Unlock()
			return w, nil
		}
		delete(p.all, w)
	}
	p.stats.Started++
	p.mu.Unlock()
	// The caller may hang up: the next one gets the worker.
	w, err := start(context.WithoutCancel(ctx), p.cfg)
	if err != nil {
		p.mu.Lock()
		p.stats.Failed++
		p.mu.Unlock()
		p.cfg.Logger.Error("scan worker did not start", "error", err)
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	p.mu.Lock()
	p.all[w] = struct{}{}
	closed := p.closed
	p.mu.Unlock()
	if closed {
		p.drop(w, errClosed)
		return nil, errClosed
	}
	return w, nil
}

// release makes a worker idle, or ends one that has worked long enough.
func (p *Pool) release(w *worker) {
	p.mu.Lock()
	if keep := !p.closed && w.processor() < p.cfg.RenewAfter; keep {
		p.idle = append(p.idle, w)
		p.mu.Unlock()
		return
	}
	delete(p.all, w)
	p.mu.Unlock()
	w.kill()
}

// drop kills a worker.
func (p *Pool) drop(w *worker, why error) {
	p.mu.Lock()
	delete(p.all, w)
	p.stats.Killed++
	p.mu.Unlock()
	w.kill()
	if !errors.Is(why, context.Canceled) {
		said := w.said()
		first, _, _ := strings.Cut(said, "\n")
		p.cfg.Logger.Warn("scan worker stopped", "why", why, "said", first)
		p.cfg.Logger.Debug("a stopped scan worker said", "text", said) // a stack of 2 KiB
	}
}

// Close kills all workers. Tasks that run end with an error.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	all := p.all
	p.all, p.idle = map[*worker]struct{}{}, nil
	p.mu.Unlock()
	for w := range all {
		w.kill()
	}
	return nil
}

var _ io.Closer = (*Pool)(nil)
