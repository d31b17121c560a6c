package pgstate

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A group carries out operations of concurrent callers together: those that arrive while a statement is on its way
// share the next one, and the flush of its transaction. A lone caller does not wait.
type group[In, Out any] struct {
	// carryOut carries out a batch of distinct operations, in one transaction.
	carryOut func(ctx context.Context, batch []*operation[In, Out]) error
	size     func(In) int // in bytes
	timeout  time.Duration

	mu      sync.Mutex
	waiting []*operation[In, Out]
	flying  int
}

// An operation is one caller's part of a batch.
type operation[In, Out any] struct {
	in   In
	out  Out
	err  error
	done chan struct{}
}

const (
	// batchesAtOnce is the number of batches of a group that are on their way: one is prepared while another is flushed.
	batchesAtOnce = 2
	// mostOfBatch and bytesOfBatch bound a batch. One operation may be larger.
	mostOfBatch  = 128
	bytesOfBatch = 4 << 20
)

// do carries out an operation.
func (g *group[In, Out]) do(ctx context.Context, in In) (out Out, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	op := &operation[In, Out]{in: in, done: make(chan struct{})}
	g.mu.Lock()
	g.waiting = append(g.waiting, op)
	if g.flying < batchesAtOnce {
		g.flying++
		go g.work()
	}
	g.mu.Unlock()
	select {
	case <-op.done:
		return op.out, op.err
	case <-ctx.Done():
		g.mu.Lock()
		defer g.mu.Unlock()
		g.waiting = slices.DeleteFunc(g.waiting, func(o *operation[In, Out]) bool { return o == op })
		return out, ctx.Err()
	}
}

// work carries out batches until nothing waits.
func (g *group[In, Out]) work() {
	for batch := g.next(); batch != nil; batch = g.next() {
		err := g.attempt(batch)
		if err != nil && len(batch) > 1 && faultOf(context.Background(), err) == "" {
			// The database has no fault, so one operation has. The others must not fail with it.
			for _, op := range batch {
				if err := g.attempt([]*operation[In, Out]{op}); err != nil {
					op.err = err
				}
			}
		} else if err != nil {
			for _, op := range batch {
				op.err = err
			}
		}
		for _, op := range batch {
			close(op.done)
		}
	}
}

func (g *group[In, Out]) attempt(batch []*operation[In, Out]) error {
	ctx, cancel := context.WithTimeout(context.Background(), g.timeout)
	defer cancel()
	return g.carryOut(ctx, batch)
}

// next returns the next batch, or nil if nothing waits.
func (g *group[In, Out]) next() []*operation[In, Out] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		g.flying--
		return nil
	}
	n, bytes := 0, 0
	for n < len(g.waiting) && n < mostOfBatch && (n == 0 || bytes+g.size(g.waiting[n].in) <= bytesOfBatch) {
		bytes += g.size(g.waiting[n].in)
		n++
	}
	batch := slices.Clone(g.waiting[:n])
	g.waiting = slices.Delete(g.waiting, 0, n)
	return batch
}
