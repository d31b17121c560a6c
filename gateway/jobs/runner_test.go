package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/policy/audit"
)

// broken is an executor that carries out nothing. It counts what it was asked.
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
		DangerAnalysis: json.RawMessage(`{"score":1}`), Usage: audit.Usage{Ticks: 5, APICalls: 2},
		Function: &audit.FunctionRef{Name: "f", Version: 3},
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
				ID: record.ID, Status: c.want, Error: &c.error, DurationMs: 12, Policy: "strict", Engine: "quickjs",
				EngineBuild: "quickjs-ng-0.15.1", DangerAnalysis: record.DangerAnalysis, Logs: []execution.Log{},
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
	runner := &jobs.ExecutionRunner{Executor: &broken{}, Records: oneRecord(record)}
	if _, found, err := runner.Recorded(t.Context(), execution.Job{ID: "exec_9876543210"}); found || err != nil {
		t.Errorf("a job without a record: %t, %v", found, err)
	}
}

const restarted = "the execution completed, but the service was restarted before its result was stored; " +
	"see its audit record"
