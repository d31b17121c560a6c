package jobs_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
)

// A tenant floods one receiver, which hangs, with callbacks. At most the tenant's share of them is made at once, the
// callbacks of another tenant are made meanwhile, and no callback is tried more often than it is due.
func TestFloodOfCallbacks(t *testing.T) {
	t.Parallel()
	const flood = 200
	store, err := sqlitestate.Open(t.TempDir(), sqlitestate.Config{MaxJobsPerTenant: 1000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	var at, most atomic.Int64
	var tries tries
	release, begun := make(chan struct{}), make(chan struct{}, 100*flood)
	c := &clock{}
	random := func() float64 { return 0.5 }
	q, err := jobs.New(jobs.Config{Store: store, Workers: 8, Now: c.now, Random: random,
		Logger: slog.New(slog.DiscardHandler), Runner: &script{
			run: done, send: func(job execution.Job) jobs.Receipt {
				if job.Tenant != "flood" {
					return jobs.Receipt{Delivered: true}
				}
				n := at.Add(1)
				defer at.Add(-1)
				end := tries.begin(t, job, c)
				defer end()
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				begun <- struct{}{}
				<-release
				return jobs.Receipt{Problem: "the receiver answered 500"}
			},
		}})
	if err != nil {
		t.Fatal(err)
	}
	q.Start(t.Context())
	t.Cleanup(func() {
		stopping, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := q.Stop(stopping); err != nil {
			t.Error(err)
		}
	})
	submit := func(n int, tenant string) {
		t.Helper()
		if err := q.Submit(
			t.Context(),
			execution.Job{
				ID: id(n), Tenant: tenant,
				Callback: &execution.Callback{URL: "http://victim.example/x", State: execution.CallbackWaiting},
			},
		); err != nil {
			t.Fatal(err)
		}
	}
	for n := range flood {
		submit(n, "flood")
	}

	for n := range flood {
		until(t, q, id(n), execution.Job.Ended)
	}
	places := int64(bounds.Of(bounds.Callbacks).Most)
	for late := time.After(5 * time.Minute); at.Load() < places*8/10; {
		select {
		case <-begun:
		case <-late:
			t.Fatalf("only %d of the flood are on their way", at.Load())
		}
	}
	submitted := time.Now()
	for n := range 5 {
		submit(flood+n, "other")
	}
	for n := range 5 {
		until(t, q, id(flood+n), func(j execution.Job) bool { return j.Callback.State == execution.CallbackDelivered })
	}
	if took := time.Since(submitted); took > 50*time.Second { // that is, before a claim expires and they are due again
		t.Errorf("the callbacks of another tenant took %v", took)
	}
	if n := most.Load(); n >= places {
		t.Errorf("%d callbacks of one tenant at once, of %d places", n, places)
	}
	close(release)
	const rounds = 2 // the clock moves past the pause before the next attempt, and no further
	for round := range rounds {
		c.add(2 * time.Hour)
		for n := range flood {
			until(t, q, id(n), func(j execution.Job) bool {
				return j.Callback.State == execution.CallbackFailed || j.Callback.Attempts > round
			})
		}
	}
	c.add(2 * time.Hour)
	submit(flood+5, "other")
	until(t, q, id(flood+5), func(j execution.Job) bool { return j.Callback.State == execution.CallbackDelivered })
}

// tries checks when callbacks are tried.
type tries struct {
	mu   sync.Mutex
	last map[string]try
}

// A try is the latest attempt to deliver a callback, and how many attempts had been stored before it. Of attempts with
// the same number before them, ended is the end of the first.
type try struct {
	stored       int
	began, ended time.Time
}

// begin notes that an attempt begins, and returns a func that notes its end. A callback must not be tried again before
// its pause is over, which doubles from 0.75 seconds. If the outcome of an attempt was not stored, its process must
// have had most of a minute to store it, unless the test moved the clock: then claims expire whose attempts are yet to
// begin.
func (s *tries) begin(t *testing.T, job execution.Job, c *clock) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	began, stored := c.now(), job.Callback.Attempts
	moved := time.Until(began) > time.Minute
	p, again := s.last[job.ID]
	if again {
		if waited := began.Sub(p.began); stored == p.stored && !moved && waited < 20*time.Second {
			t.Errorf("%s: attempt %d was made twice within %v", job.ID, stored, waited)
		}
		if waited := began.Sub(p.ended); stored > p.stored && waited < 750*time.Millisecond<<(stored-1)-time.Millisecond {
			t.Errorf("%s: attempt %d followed after %v", job.ID, stored, waited)
		}
	}
	if s.last == nil {
		s.last = map[string]try{}
	}
	if stored > p.stored {
		p = try{}
	}
	s.last[job.ID] = try{stored: stored, began: began, ended: p.ended}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if p := s.last[job.ID]; p.stored == stored && p.ended.IsZero() {
			p.ended = c.now()
			s.last[job.ID] = p
		}
	}
}
