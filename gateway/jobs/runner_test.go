package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/waits"
	"github.com/airlock-run/airlock/policy/audit"
)

// broken is an executor that runs nothing. It counts the submissions.
type broken struct{ asked int }

func (b *broken) Execute(context.Context, api.Submission) (execution.Result, error) {
	b.asked++
	return execution.Result{}, errors.New("no function")
}

type oneRecord audit.Record

func (r oneRecord) Get(_ context.Context, id string) (audit.Record, error) {
	if id != r.ID {
		return audit.Record{}, audit.ErrNotFound
	}
	return audit.Record(r), nil
}

// The result of a job whose process died after the record was written comes from that record, without a decision.
func TestRecordedJob(t *testing.T) {
	t.Parallel()
	record := audit.Record{
		ID: "exec_0123456789", DurationMs: 12, Policy: "strict", Engine: "quickjs", EngineBuild: "quickjs-ng-0.15.1",
		Assessment: audit.Assessment{DangerAnalysis: json.RawMessage(`{"score":1}`)},
		Ending:     audit.Ending{Usage: audit.Usage{Ticks: 5, APICalls: 2}},
		Function:   &audit.FunctionRef{Name: "f", Version: 3},
	}
	for name, c := range map[string]struct {
		status, limit, line string
		apiCalls            int
		want                execution.Status
		error               string
		asked               int
	}{
		"failed": {
			status: "error", limit: "memory", line: "out of memory", apiCalls: 2, want: "error", error: "out of memory",
		},
		"its value cannot be found by a second run": {status: "completed", apiCalls: 2, want: "error", error: restarted},
		"the second run fails":                      {status: "completed", want: "error", error: restarted, asked: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			record := record
			record.Status, record.Limit, record.Error, record.Usage.APICalls = c.status, c.limit, c.line, c.apiCalls
			executor := &broken{}
			runner := &jobs.ExecutionRunner{Executor: executor, Records: oneRecord(record)}
			got, found, err := runner.Recorded(t.Context(), execution.Job{ID: record.ID})
			if err != nil || !found {
				t.Fatal(found, err)
			}
			want := execution.Result{
				ID: record.ID, Status: c.want, Failure: execution.Failure{Error: &c.error}, DurationMs: 12,
				Environment: execution.Environment{Policy: "strict", Engine: "quickjs",
					EngineBuild: "quickjs-ng-0.15.1"}, DangerAnalysis: record.DangerAnalysis, Logs: []execution.Log{},
				Violations: []string{}, Usage: execution.Usage{Ticks: 5, APICalls: c.apiCalls}, APICallCount: c.apiCalls,
				Function: &execution.FunctionRef{Name: "f", Version: 3},
			}
			if c.limit != "" {
				want.Limit = &c.limit
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if executor.asked != c.asked {
				t.Errorf("%d executions, want %d", executor.asked, c.asked)
			}
		})
	}
}

// A job whose process died before it recorded runs again under its own ID, and the attempt has one record in any case.
func TestLostAttempt(t *testing.T) {
	t.Parallel()
	written := map[string]audit.Record{}
	runner := &jobs.ExecutionRunner{Executor: &broken{}, Records: oneRecord{}, Now: time.Now,
		Append: func(_ context.Context, r audit.Record) error {
			written[r.ID] = r
			return nil
		}}
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	job := execution.Job{ID: "exec_9876543210", Tenant: "t", Subject: "ann", Via: "hook",
		Times:   execution.Times{StartedAt: began},
		Request: execution.Request{Code: "1 + 1"}}
	for _, at := range []time.Duration{0, 0, time.Minute} { // two processes look at the first attempt
		job.StartedAt = began.Add(at)
		if _, found, err := runner.Recorded(t.Context(), job); found || err != nil {
			t.Fatalf("recorded %t, %v", found, err)
		}
	}
	if len(written) != 2 {
		t.Fatalf("two attempts have %d records", len(written))
	}
	for id, r := range written {
		at, filed := audit.IDTime(id)
		if id == job.ID || !filed || !at.Equal(r.Time) {
			t.Errorf("record %s of %v", id, r.Time)
		}
		got := audit.Record{Ending: audit.Ending{Status: r.Status}, Caller: r.Caller, Via: r.Via,
			Source: audit.Source{CodeBytes: r.CodeBytes}, Policy: r.Policy,
			Lineage: r.Lineage}
		want := audit.Record{Ending: audit.Ending{Status: "error"}, Caller: audit.Caller{Tenant: "t", Subject: "ann"},
			Via: "hook", Source: audit.Source{CodeBytes: 5},
			Policy: "standard", Lineage: audit.Lineage{Parent: job.ID, Segment: 1}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	runner.Append = func(context.Context, audit.Record) error { return errors.New("the disk is full") }
	if _, _, err := runner.Recorded(t.Context(), job); err == nil {
		t.Error("an attempt that cannot be recorded is forgotten")
	}
}

// refused is an executor whose functions refuse to begin.
type refused struct{}

func (refused) Execute(context.Context, api.Submission) (execution.Result, error) {
	return execution.Result{}, &execution.Error{Code: execution.Throttled, Message: execution.TooLate}
}

// A job that functions refuse as too late stays queued, and the log says once a minute what to look at.
func TestJobsThatAreTooLate(t *testing.T) {
	t.Parallel()
	began, log := time.Now(), &strings.Builder{}
	now := began
	runner := &jobs.ExecutionRunner{Executor: refused{}, Records: oneRecord{}, Now: func() time.Time { return now },
		Logger: slog.New(slog.NewTextHandler(log, nil))}
	for _, after := range []time.Duration{0, 30 * time.Second, 61 * time.Second} {
		now = began.Add(after)
		if result, again := runner.Run(t.Context(), execution.Job{ID: id(1)}); again <= 0 {
			t.Errorf("after %v it ended: %+v", after, result)
		}
	}
	if n := strings.Count(log.String(), "compare their clocks"); n != 2 {
		t.Errorf("%d lines in 61 seconds:\n%s", n, log)
	}
}

// A paused execution waits for a gateway with its key: one without it ends nothing.
func TestSegmentWithoutKeys(t *testing.T) {
	t.Parallel()
	own, err := waits.ParseKeys(waits.NewKey("own"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := waits.ParseKeys(waits.NewKey("other"))
	if err != nil {
		t.Fatal(err)
	}
	job := execution.Job{ID: "exec_9876543210"}
	job.Wait = &execution.Wait{Segment: 1}
	if job.Snapshot, err = own.Seal(job, []byte("state")); err != nil {
		t.Fatal(err)
	}
	job.Wait = &execution.Wait{Segment: 2, ExpiresAt: time.Now().Add(time.Hour)}
	for name, keys := range map[string]*waits.Keys{"no keys": nil, "another key": other} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			executor := &broken{}
			runner := &jobs.ExecutionRunner{Executor: executor, Records: oneRecord{}, Keys: keys, Now: time.Now,
				Logger: slog.New(slog.DiscardHandler), Append: func(context.Context, audit.Record) error {
					t.Error("it has a record")
					return nil
				}}
			result, again := runner.Run(t.Context(), job)
			if again <= 0 || result.Error != nil {
				t.Errorf("it is tried again after %v, and its result is %+v", again, result)
			}
			if executor.asked != 0 {
				t.Error("it ran")
			}
		})
	}
}

// An execution that waits for a gateway with its key until it expires ends then, with a record. Until then each missing
// key is logged once a minute, however many executions wait.
func TestSegmentExpiresWithoutKeys(t *testing.T) {
	t.Parallel()
	own, err := waits.ParseKeys(waits.NewKey("own"))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(n int) execution.Job {
		job := execution.Job{ID: id(n), Tenant: "t", Subject: "ann"}
		job.Wait = &execution.Wait{Segment: 1, Tier: "agent"}
		if job.Snapshot, err = own.Seal(job, []byte("state")); err != nil {
			t.Fatal(err)
		}
		job.Wait = &execution.Wait{
			Segment: 2, Tier: "agent", Run: id(100 + n), Changed: began, ExpiresAt: began.Add(time.Hour),
		}
		return job
	}
	other, err := waits.ParseKeys(waits.NewKey("other"))
	if err != nil {
		t.Fatal(err)
	}
	for name, keys := range map[string]*waits.Keys{"no keys": nil, "another key": other} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now, log, written := began, &strings.Builder{}, []audit.Record{}
			runner := &jobs.ExecutionRunner{Executor: &broken{}, Records: oneRecord{}, Keys: keys,
				Now: func() time.Time { return now }, Logger: slog.New(slog.NewTextHandler(log, nil)),
				Append: func(_ context.Context, r audit.Record) error {
					written = append(written, r)
					return nil
				}}
			for _, after := range []time.Duration{0, 30 * time.Second, 61 * time.Second} {
				now = began.Add(after)
				for n := range 3 {
					if result, again := runner.Run(t.Context(), at(n)); again <= 0 {
						t.Errorf("after %v it ended: %+v", after, result)
					}
				}
			}
			if lines := strings.Count(log.String(), "\n"); lines != 2 {
				t.Errorf("%d lines in 61 seconds:\n%s", lines, log)
			}
			now = began.Add(time.Hour)
			result, again := runner.Run(t.Context(), at(1))
			if result.Status != execution.Expired || again != 0 {
				t.Errorf("it is %q, and tried again after %v", result.Status, again)
			}
			if len(written) != 1 {
				t.Fatalf("%d records", len(written))
			}
			w := written[0]
			got := audit.Record{ID: w.ID, Ending: audit.Ending{Status: w.Status}, Lineage: w.Lineage}
			want := audit.Record{ID: id(101), Ending: audit.Ending{Status: "expired"},
				Lineage: audit.Lineage{Parent: id(1), Segment: 2}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What a record says about the segment of an execution that has paused before decides whether it runs again.
func TestRecordedSegment(t *testing.T) {
	t.Parallel()
	line, died := "it failed", execution.ProcessLost
	for _, c := range []struct {
		name string
		// status is that of the segment's record; there is none if it is empty.
		status execution.Status
		build  string
		want   execution.Status
		error  *string
	}{
		{"it paused", execution.Paused, "b", execution.Queued, nil},
		{"it completed", execution.Completed, "b", execution.Queued, nil},
		{"it failed", execution.Failed, "b", execution.Failed, &line},
		{"its process died", execution.Failed, "", execution.Queued, &died},
		{"its code says so", execution.Failed, "b", execution.Failed, &died},
		{"it left no record", "", "", execution.Queued, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			record := audit.Record{ID: "exec_segment0002", EngineBuild: c.build,
				Ending: audit.Ending{Status: string(c.status), Usage: audit.Usage{APICalls: 1}}}
			if c.error != nil {
				record.Error = *c.error
			}
			if c.status == "" {
				record.ID = "exec_other00000"
			}
			var written []audit.Record
			runner := &jobs.ExecutionRunner{Executor: &broken{}, Records: oneRecord(record), Now: time.Now,
				Append: func(_ context.Context, r audit.Record) error {
					written = append(written, r)
					return nil
				}}
			job := execution.Job{ID: "exec_0123456789",
				Waits: execution.Waits{Wait: &execution.Wait{Segment: 2, Run: "exec_segment0002"}}}
			got, recorded, err := runner.Recorded(t.Context(), job)
			if err != nil || !recorded || got.Status != c.want {
				t.Fatalf("recorded %t, %s, %v", recorded, got.Status, err)
			}
			if diff := cmp.Diff(c.error, got.Error); c.want == execution.Failed && diff != "" {
				t.Error(diff)
			}
			if lost := c.status == ""; lost != (len(written) == 1) {
				t.Fatalf("%d records were written", len(written))
			}
			if c.status != "" {
				return
			}
			w := written[0]
			if w.ID != "exec_segment0002" || w.Parent != job.ID {
				t.Errorf("the attempt is recorded as %s of %s", w.ID, w.Parent)
			}
			if w.Segment != 2 || w.Status != "error" {
				t.Errorf("the attempt is recorded as segment %d with the status %s", w.Segment, w.Status)
			}
			runner.Records = oneRecord(written[0]) // the next process died, too, before the job was queued again
			if got, _, err = runner.Recorded(t.Context(), job); err != nil || got.Status != execution.Queued {
				t.Errorf("looked at again: %s, %v", got.Status, err)
			}
		})
	}
}

// dying is an executor whose function fails in one way.
type dying struct {
	result execution.Result
	err    error
}

func (d dying) Execute(context.Context, api.Submission) (execution.Result, error) {
	return d.result, d.err
}

// A segment that continues from a snapshot runs again if its process died, or if no function was available. The first
// segment of an execution ends.
func TestSegmentWhoseProcessDies(t *testing.T) {
	t.Parallel()
	keys, err := waits.ParseKeys(waits.NewKey("k"))
	if err != nil {
		t.Fatal(err)
	}
	line := execution.ProcessLost
	failed := dying{result: execution.Result{Status: execution.Failed, Failure: execution.Failure{Error: &line}}}
	away := dying{err: &execution.Error{Code: execution.Unavailable, Message: "away"}}
	for _, c := range []struct {
		name    string
		dies    dying
		record  string
		build   string
		segment int
		want    execution.Status
	}{
		{"it died", failed, line, "", 2, execution.Queued},
		{"it died in the first segment", failed, line, "", 1, execution.Failed},
		{"the code failed", failed, line, "b", 2, execution.Failed},
		{"no function was available", away, "away", "", 2, execution.Queued},
		{"the answer of code that failed was lost", away, "no", "b", 2, execution.Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			job := execution.Job{ID: "exec_9876543210"}
			job.Wait = &execution.Wait{Segment: 1}
			sealed, err := keys.Seal(job, []byte("state"))
			if err != nil {
				t.Fatal(err)
			}
			job.Snapshot, job.Wait = sealed, &execution.Wait{Segment: c.segment, Run: "exec_segment0002"}
			record := audit.Record{ID: "exec_segment0002", EngineBuild: c.build,
				Ending: audit.Ending{Status: "error", Error: c.record}}
			runner := &jobs.ExecutionRunner{Executor: c.dies, Records: oneRecord(record), Keys: keys, Now: time.Now,
				Detail: error.Error, Logger: slog.New(slog.DiscardHandler)}
			got, again := runner.Run(t.Context(), job)
			if got.Status != c.want || again != 0 {
				t.Errorf("it is %s, and tried again after %v; want %s", got.Status, again, c.want)
			}
		})
	}
}

const restarted = "the execution completed, but the service was restarted before its result was stored; " +
	"see its audit record"
