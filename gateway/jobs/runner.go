package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/queue"
	"github.com/airlock-run/airlock/policy/audit"
)

// Records reads audit records. The error is audit.ErrNotFound for one that does not exist.
type Records interface {
	Get(ctx context.Context, id string) (audit.Record, error)
}

// ExecutionRunner is the Runner of a gateway: it runs jobs like every other submission.
type ExecutionRunner struct {
	Executor api.Executor
	Records  Records
	// Detail returns the sentence that a problem document would have for an error.
	Detail func(error) string
	Logger *slog.Logger
	// Callback makes one attempt to call a receiver back.
	Callback func(ctx context.Context, job execution.Job) Receipt
}

// Run implements Runner. A job that found no place is tried again; a job that was recorded has ended.
func (r *ExecutionRunner) Run(ctx context.Context, job execution.Job) (execution.Result, time.Duration) {
	result, err := r.Executor.Execute(ctx, SubmissionOf(job))
	if err == nil {
		return result, 0
	}
	var (
		full *queue.Full
		exec *execution.Error
	)
	switch {
	case errors.As(err, &full):
		return result, max(full.RetryAfter, time.Second)
	case errors.As(err, &exec) && exec.Code == execution.Throttled:
		return result, max(exec.RetryAfter, time.Second)
	}
	r.Logger.Warn("a job failed", "execution", job.ID, "error", err)
	line := r.Detail(err)
	result.Status, result.Error = execution.Failed, &line
	return result, 0
}

// Recorded implements Runner for a job whose process died between the record of the execution and the storing of its
// result. The record says how the execution ended. Its value is found by running the job again if the execution
// touched nothing outside, and is returned only if the record has its hash.
func (r *ExecutionRunner) Recorded(ctx context.Context, job execution.Job) (execution.Result, bool, error) {
	record, err := r.Records.Get(ctx, job.ID)
	if errors.Is(err, audit.ErrNotFound) {
		return execution.Result{}, false, nil
	}
	if err != nil {
		return execution.Result{}, false, err
	}
	result := governance.Result(record)
	if result.Status == execution.Completed && record.Usage.APICalls == 0 {
		if found, ok := r.runAgain(ctx, job, record); ok {
			return found, true, nil
		}
	}
	if result.Status == execution.Completed {
		line := "the execution completed, but the service was restarted before its result was stored; " +
			"see its audit record"
		result.Status, result.Error = execution.Failed, &line
	}
	return result, true, nil
}

// runAgain runs a job once more under an id and a record of its own.
func (r *ExecutionRunner) runAgain(
	ctx context.Context, job execution.Job, record audit.Record,
) (execution.Result, bool) {
	s := SubmissionOf(job)
	s.ID, s.Fresh = "", true
	result, err := r.Executor.Execute(ctx, s)
	if err != nil || result.Status != execution.Completed {
		return result, false
	}
	sum := sha256.Sum256(result.Result)
	if record.ResultSHA256 != "" && record.ResultSHA256 != hex.EncodeToString(sum[:]) {
		return result, false
	}
	result.ID = job.ID
	return result, true
}

// Send implements Runner.
func (r *ExecutionRunner) Send(ctx context.Context, job execution.Job) Receipt {
	return r.Callback(ctx, job)
}
