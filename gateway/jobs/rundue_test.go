package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/jobs"
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
