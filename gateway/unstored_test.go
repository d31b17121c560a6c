package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/client/go"
	"github.com/airlock-run/airlock/policy/audit"
)

// fault returns the error of a store with a fault.
func fault(f execution.StoreFault) error {
	return &execution.StoreError{Fault: f, Err: errors.New("/secret/path")}
}

// refusals are the errors of a state that stores nothing, and what callers learn of each.
var refusals = map[string]struct {
	err error
	why string
	// unsettled says that a state with this error may have stored what it was given.
	unsettled bool
}{
	"the quota is used up": {
		&execution.QuotaError{Quota: "jobs", Used: 7, Limit: 8, After: 5 * time.Second},
		`: the tenant's storage quota "jobs" is used up: 7 of 8 bytes`, false,
	},
	"too many jobs":     {execution.ErrFull, ": too many jobs are waiting", false},
	"the disk is full":  {fault(execution.StoreFull), ": the disk of the state is full", false},
	"a lock":            {fault(execution.StoreBusy), ": another process holds the lock of the state", true},
	"a read-only state": {fault(execution.StoreReadOnly), ": the state cannot be written to", false},
	"no state":          {fault(execution.StoreLost), ": the state cannot be reached, or its disk is failing", true},
	"no time":           {context.DeadlineExceeded, "", true},
	"another error":     {errors.New("/secret/path"), "", true},
}

// An execution that pauses and cannot be stored has ended. If the state does not tell whether it is stored, it has not
// ended. Either way, its caller learns that it ran, and no client runs it again.
func TestPauseThatCannotBeStored(t *testing.T) {
	t.Parallel()
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records := &ledger{added: make(chan audit.Record, 100)}
			f := &sleeper{records: records, steps: [][]execution.Waiting{{refund(1)}}}
			o := options{records: records, invoke: f.invoke, state: faulty{unworked{opened(t)}, c.err}}
			o.config.SnapshotKeys = snapshotKeys(t)
			caller, err := client.New(client.Config{URL: serve(t, o).url, Retries: 2})
			if err != nil {
				t.Fatal(err)
			}
			_, err = caller.Execute(t.Context(), execution.Request{Code: "1"}, client.IdempotencyKey("k"))
			detail, all := "the execution paused and could not be stored; it has ended", []string{"paused", "error"}
			if c.unsettled {
				detail, all = "the execution paused, and it is not known whether it was stored", []string{"paused"}
			}
			want := &client.Problem{Status: 500, Code: "not_stored", Detail: detail + c.why}
			got := &client.Problem{}
			if errors.As(err, &got) {
				got.RequestID = ""
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			statuses := []string{}
			for _, r := range records.records {
				statuses = append(statuses, r.Status)
			}
			if diff := gocmp.Diff(all, statuses); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// forgetful is a state that cannot store what a step changed in its session.
type forgetful struct {
	unworked
	err error
}

func (s forgetful) ChangeJob(
	ctx context.Context, id string, fn func(*execution.Job) error,
) (execution.Job, error) {
	return s.State.ChangeJob(ctx, id, s.forgets(fn))
}

func (s forgetful) ChangeJobState(
	ctx context.Context, id string, fn func(*execution.Job) error,
) (execution.Job, error) {
	return s.State.ChangeJobState(ctx, id, s.forgets(fn))
}

func (s forgetful) forgets(fn func(*execution.Job) error) func(*execution.Job) error {
	return func(j *execution.Job) error {
		err := fn(j)
		if err == nil && j.Wait.Segment > 0 {
			return fmt.Errorf("change: %w", s.err)
		}
		return err
	}
}

// A step whose session cannot be stored has run. Its caller learns that, with a status that no client repeats.
func TestStepThatCannotBeStored(t *testing.T) {
	t.Parallel()
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records := &ledger{added: make(chan audit.Record, 100)}
			f := &console{records: records}
			o := options{records: records, invoke: f.invoke, state: forgetful{unworked{opened(t)}, c.err}}
			o.config.SnapshotKeys = snapshotKeys(t)
			s := serve(t, o)
			path := s.session(t, `{}`)
			a := s.do(t, "POST", path+"/execute", code("a"))
			detail, kind := a.problem(t, 500)
			if kind != "not_stored" || a.Header.Get("Retry-After") != "" {
				t.Errorf("%s, %v", kind, a.Header)
			}
			says := "the step ran, and what it changed in its session could not be stored"
			if c.unsettled {
				says = "the step ran, and it is not known whether what it changed in its session was stored"
			}
			if says += c.why; detail != says {
				t.Errorf("the detail is %q; want %q", detail, says)
			}
			if strings.Contains(string(a.body), "secret") {
				t.Errorf("%s", a.body)
			}
			if n := f.records.count(); n != 1 {
				t.Errorf("%d records", n)
			}
			want(t, s.do(t, "GET", path, ""), 200, `"steps":0`, `"running":false`)
		})
	}
}
