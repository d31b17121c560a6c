package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/waits"
	"github.com/airlock-run/airlock/policy/audit"
)

// RunDue does everything that is due, and nothing continues after it.
func TestRunDue(t *testing.T) { onEach(t, turnOn) }

func turnOn(t *testing.T, open opener) {
	var mu sync.Mutex
	var ran, told []string
	q, c := open(&script{run: func(ctx context.Context, job execution.Job) (execution.Result, time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		if ran = append(ran, job.ID); job.ID == id(3) && job.Attempts == 0 {
			return execution.Result{}, time.Minute // no place for it now
		}
		return done(ctx, job)
	}, send: func(job execution.Job) jobs.Receipt {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, job.ID)
		return jobs.Receipt{Delivered: len(told) > 1, Problem: "503", After: 5 * time.Minute}
	}}, 2)
	for n := range 4 {
		job := execution.Job{ID: id(n), Tenant: "t"}
		if n == 1 {
			job.Callback = &execution.Callback{URL: "http://x", State: execution.CallbackWaiting}
		}
		if err := q.Submit(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
	check := func(wantRan, wantTold string) {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(ran)
		if fmt.Sprint(ran) != wantRan || fmt.Sprint(told) != wantTold {
			t.Errorf("ran %v, told %v, want %s and %s", ran, told, wantRan, wantTold)
		}
		ran, told = nil, nil
	}
	turn := func(ctx context.Context, id string) {
		t.Helper()
		if err := q.RunDue(ctx, id); err != nil {
			t.Error(err)
		}
	}
	// With an ID, it runs that job alone, and once.
	turn(t.Context(), id(1))
	turn(t.Context(), id(1))
	turn(t.Context(), id(99))
	check("["+id(1)+"]", "["+id(1)+"]")
	// Too little time is left to begin anything.
	short, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := q.RunDue(short, ""); err == nil {
		t.Error("a turn of a minute")
	}
	check("[]", "[]")
	turn(t.Context(), "")
	check(fmt.Sprint([]string{id(0), id(2), id(3)}), "[]")
	if job, err := q.Job(t.Context(), id(3)); err != nil || job.Status != execution.Queued {
		t.Errorf("%s %v", job.Status, err)
	}
	c.add(10 * time.Minute)
	turn(t.Context(), "")
	check("["+id(3)+"]", "["+id(1)+"]")
	for n := range 4 {
		if job, err := q.Job(t.Context(), id(n)); err != nil || job.Status != execution.Completed {
			t.Errorf("%d: %s %v", n, job.Status, err)
		}
	}
}

// A job that RunDue runs stops when it is cancelled elsewhere.
func TestCancelDuringRunDue(t *testing.T) { onEach(t, cancelInTurnOn) }

func cancelInTurnOn(t *testing.T, open opener) {
	began := make(chan struct{})
	q, _ := open(&script{run: func(ctx context.Context, job execution.Job) (execution.Result, time.Duration) {
		close(began)
		<-ctx.Done()
		return execution.Result{ID: job.ID, Status: execution.Cancelled}, 0
	}}, 1)
	if err := q.Submit(t.Context(), execution.Job{ID: id(1), Tenant: "t"}); err != nil {
		t.Fatal(err)
	}
	turned := make(chan error, 1)
	go func() { turned <- q.RunDue(t.Context(), "") }()
	<-began
	job, ran, err := q.Cancel(t.Context(), id(1), execution.Result{Status: execution.Cancelled}, recorded,
		execution.Caller{})
	if err := errors.Join(err, <-turned); err != nil || !ran || job.Status != execution.Cancelled {
		t.Errorf("%s %v %v", job.Status, ran, err)
	}
}

// An absentStore fails for a time. It may store what it says it cannot.
type absentStore struct {
	jobs.Store
	away   bool
	stores bool
}

var errAway = &execution.StoreError{Fault: execution.StoreLost, Err: errors.New("away")}

func (s *absentStore) Submit(ctx context.Context, job execution.Job) error {
	if s.away && !s.stores {
		return errAway
	}
	return errors.Join(s.Store.Submit(ctx, job), s.fault())
}

func (s *absentStore) Job(ctx context.Context, id string) (execution.Job, error) {
	job, err := s.Store.Job(ctx, id)
	return job, errors.Join(err, s.fault())
}

func (s *absentStore) JobState(ctx context.Context, id string) (execution.Job, error) {
	job, err := s.Store.JobState(ctx, id)
	return job, errors.Join(err, s.fault())
}

func (s *absentStore) JobStatus(ctx context.Context, id string) (execution.Status, error) {
	status, err := s.Store.JobStatus(ctx, id)
	return status, errors.Join(err, s.fault())
}

func (s *absentStore) fault() error {
	if s.away {
		return errAway
	}
	return nil
}

// An execution whose pause may be stored continues to wait when the store is back, or has ended if the store does not
// have it. It cannot do both.
func TestPauseThatMayBeStored(t *testing.T) {
	t.Parallel()
	for name, open := range stores {
		for _, kept := range []bool{true, false} {
			t.Run(fmt.Sprint(name, " ", kept), func(t *testing.T) {
				t.Parallel()
				c := &clock{}
				store, shut := open(t, c)
				t.Cleanup(func() {
					if err := shut(); err != nil {
						t.Error(err)
					}
				})
				keys, err := waits.ParseKeys(waits.NewKey("k"))
				if err != nil {
					t.Fatal(err)
				}
				absent := &absentStore{store, true, kept}
				var written []string
				q, err := jobs.New(jobs.Config{
					Store: absent, Runner: &script{}, Now: c.now, Random: func() float64 { return 0 },
					Logger: slog.New(slog.DiscardHandler),
					Waits: jobs.Waits{
						Keys: keys, MaxAge: func(string) time.Duration { return time.Hour }, NewID: func() string { return id(9) },
						Record: func(_ context.Context, r audit.Record) error {
							written = append(written, r.Parent+" "+r.Status)
							return nil
						},
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				submission := api.Submission{ID: id(1), Request: execution.Request{Code: "1"}}
				paused := execution.Result{Status: execution.Paused}
				paused.Snapshot, paused.Waiting = []byte("s"), []execution.Waiting{{Seq: 1, Kind: execution.WaitEvent, Name: "e"}}
				if _, err := q.Park(t.Context(), submission, paused); !errors.Is(err, jobs.ErrUnsettled) {
					t.Fatal(err)
				}
				if err := q.RunDue(t.Context(), ""); !errors.Is(err, errAway) || len(written) > 0 {
					t.Errorf("before the store is back: %v, %v", err, written)
				}
				absent.away = false
				for range 2 {
					if err := q.RunDue(t.Context(), ""); err != nil {
						t.Fatal(err)
					}
				}
				job, err := q.Job(t.Context(), id(1))
				if err != nil {
					t.Fatal(err)
				}
				status, records := execution.Failed, []string{id(1) + " error"}
				if kept {
					status, records = execution.Paused, nil
				}
				if job.Status != status {
					t.Errorf("it is %s, want %s", job.Status, status)
				}
				if diff := cmp.Diff(records, written); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// An execution that recorded its first pause, and that no store has, ends once its gateway cannot store it any more.
func TestUnstoredPauseEnds(t *testing.T) {
	t.Parallel()
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &clock{}
			store, shut := open(t, c)
			t.Cleanup(func() {
				if err := shut(); err != nil {
					t.Error(err)
				}
			})
			began := c.now().UTC()
			paused := audit.Record{ID: id(1), Ending: audit.Ending{Status: "paused"}, Time: began,
				Source: audit.Source{CodeSHA256: "sum", CodeBytes: 7}, Policy: "agent",
				Caller: audit.Caller{Tenant: "t", Subject: "ann"}}
			later := audit.Record{ID: id(3),
				Ending: audit.Ending{Status: "paused"}, Time: began, Lineage: audit.Lineage{Parent: id(2), Segment: 2}}
			stored := execution.Job{ID: id(4), Tenant: "t", Status: execution.Paused, Waits: execution.Waits{
				Wait: &execution.Wait{Segment: 1, ExpiresAt: began.Add(1000 * time.Hour), DueAt: began.Add(1000 * time.Hour)}}}
			if err := store.Submit(t.Context(), stored); err != nil {
				t.Fatal(err)
			}
			var written []audit.Record
			q, err := jobs.New(jobs.Config{
				Store: store, Runner: &script{}, Now: c.now, Random: func() float64 { return 0 },
				Logger: slog.New(slog.DiscardHandler),
				Waits: jobs.Waits{
					NewID: func() string { return id(9) },
					Record: func(_ context.Context, r audit.Record) error {
						written = append(written, r)
						return nil
					},
					Paused: func(_ context.Context, since, until time.Time, fn func(audit.Record) error) error {
						if began.Before(since) || !began.Before(until) {
							return nil
						}
						return errors.Join(fn(paused), fn(later), fn(audit.Record{ID: id(4),
							Ending: audit.Ending{Status: "paused"}, Time: began}))
					},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			due := func() (execution.Job, error) {
				t.Helper()
				if err := q.RunDue(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
				return q.Job(t.Context(), id(1))
			}
			if _, err := due(); !errors.Is(err, execution.ErrNotFound) {
				t.Errorf("at once: %v", err) // its gateway may be about to store it
			}
			for _, after := range []time.Duration{time.Hour, time.Minute, 7 * 24 * time.Hour} {
				c.add(after)
				job, err := due()
				if after > time.Hour {
					continue // it is not looked at again, also when the job is deleted
				}
				if err != nil || job.Status != execution.Failed || job.Subject != "ann" {
					t.Errorf("%s of %s, %v", job.Status, job.Subject, err)
				}
				if !strings.Contains(string(job.Result), "died before it stored") {
					t.Errorf("the result is %s", job.Result)
				}
			}
			if len(written) != 1 {
				t.Fatalf("%d records", len(written))
			}
			w := written[0]
			got := audit.Record{ID: w.ID, Ending: audit.Ending{Status: w.Status},
				Source: audit.Source{CodeSHA256: w.CodeSHA256, CodeBytes: w.CodeBytes}, Policy: w.Policy,
				Caller: w.Caller, Lineage: w.Lineage}
			if diff := cmp.Diff(audit.Record{ID: id(9), Ending: audit.Ending{Status: "error"},
				Source: audit.Source{CodeSHA256: "sum", CodeBytes: 7}, Policy: "agent",
				Caller: paused.Caller, Lineage: audit.Lineage{Parent: id(1), Segment: 1}}, got); diff != "" {
				t.Error(diff)
			}
			if job, err := q.Job(t.Context(), id(4)); err == nil && job.Status == execution.Failed {
				t.Error("one that is stored has ended, too")
			}
		})
	}
}
