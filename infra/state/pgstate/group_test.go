package pgstate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Operations that arrive while earlier batches are in progress share the next one.
func TestGroupSharesABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var sizes []int
		g := &group[int, int]{timeout: time.Minute, size: func(int) int { return 1 },
			carryOut: func(_ context.Context, batch []*operation[int, int]) error {
				mu.Lock()
				sizes = append(sizes, len(batch))
				mu.Unlock()
				time.Sleep(time.Second) // of the bubble
				for _, op := range batch {
					op.out = 2 * op.in
				}
				return nil
			}}
		var all sync.WaitGroup
		start := func(n int) {
			all.Go(func() {
				if out, err := g.do(t.Context(), n); out != 2*n || err != nil {
					t.Errorf("%d: %d %v", n, out, err)
				}
			})
			synctest.Wait()
		}
		for n := range 2 + mostOfBatch + 1 {
			start(n)
		}
		all.Wait()
		if slices.Sort(sizes); !slices.Equal(sizes, []int{1, 1, 1, mostOfBatch}) {
			t.Errorf("batches of %v", sizes)
		}
	})
}

// The operation of a caller that leaves is dropped, unless it is in progress.
func TestGroupForgetsACallerThatLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var carried []int
		g := &group[int, int]{timeout: time.Minute, size: func(int) int { return 1 },
			carryOut: func(_ context.Context, batch []*operation[int, int]) error {
				carried = append(carried, batch[0].in)
				time.Sleep(time.Second) // of the bubble
				return nil
			}}
		ctx, cancel := context.WithCancel(t.Context())
		for n := range batchesAtOnce + 1 {
			go func() { _, _ = g.do(ctx, n) }() // its error is the cancellation
			synctest.Wait()
		}
		cancel()
		time.Sleep(time.Minute) // of the bubble
		if len(carried) != batchesAtOnce {
			t.Errorf("carried out: %v", carried)
		}
	})
}

// A faulty operation fails alone. A fault of the database fails the whole batch.
func TestGroupIsolatesAFault(t *testing.T) {
	own, whole := errors.New("a defect"), fmt.Errorf("the database: %w", errMoved)
	for _, c := range []struct {
		fault       error
		otherFails  bool
		carriedOuts int
	}{{own, false, 4}, {whole, true, 2}} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			g := &group[string, bool]{timeout: time.Minute, size: func(string) int { return 1 }}
			g.carryOut = func(_ context.Context, batch []*operation[string, bool]) error {
				calls++
				time.Sleep(time.Second) // of the bubble
				for _, op := range batch {
					if op.in == "bad" {
						return c.fault
					}
				}
				return nil
			}
			g.flying = batchesAtOnce - 1 // so that one batch at a time is in progress
			var all sync.WaitGroup
			for _, in := range []string{"first", "bad", "good"} {
				all.Go(func() {
					_, err := g.do(t.Context(), in)
					if fails := in == "bad" || in == "good" && c.otherFails; fails != (err != nil) {
						t.Errorf("%s: %v", in, err)
					}
				})
				synctest.Wait()
			}
			all.Wait()
			if calls != c.carriedOuts {
				t.Errorf("%d statements", calls)
			}
		})
	}
}
