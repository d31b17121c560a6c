package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/queue"
	"github.com/airlock-run/airlock/policy/audit"
)

// An Executor runs the submissions of jobs. It is safe for concurrent use.
type Executor interface {
	api.Executor
	// EndWithoutRun completes a result that no function made, from the decision about its submission. record writes its
	// audit record. Even with an error, which is that of a decision that could not be made, the result is complete.
	EndWithoutRun(ctx context.Context, s api.Submission, result execution.Result) (
		completed execution.Result, record func(context.Context) error, err error)
}

// Records reads audit records. The error is audit.ErrNotFound for one that does not exist.
type Records interface {
	Get(ctx context.Context, id string) (audit.Record, error)
}

// ExecutionRunner is the Runner of a gateway: it runs jobs like every other submission.
type ExecutionRunner struct {
	Executor Executor
	Records  Records
	// Detail returns the sentence that a problem document would have for an error.
	Detail func(error) string
	Logger *slog.Logger
	// Callback makes one attempt to call a receiver back.
	Callback func(ctx context.Context, job execution.Job) Receipt
}

// Run implements Runner. A job that found no place is tried again; a job that was recorded has ended.
func (r *ExecutionRunner) Run(ctx context.Context, job execution.Job) (execution.Result, time.Duration) {
	s := SubmissionOf(job)
	result, err := r.Executor.Execute(ctx, s)
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
	return r.ended(ctx, s, execution.Result{Status: execution.Failed, Error: &line}), 0
}

// ended completes a result. What the policy cannot decide any more is left open.
func (r *ExecutionRunner) ended(ctx context.Context, s api.Submission, result execution.Result) execution.Result {
	completed, _, _ := r.Executor.EndWithoutRun(ctx, s, result)
	return completed
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
	result := execution.Result{
		Status: execution.Status(record.Status), DurationMs: record.DurationMs, Usage: execution.Usage(record.Usage),
		DangerAnalysis: record.DangerAnalysis, Engine: record.Engine, EngineBuild: record.EngineBuild, Policy: record.Policy,
	}
	line := record.Error
	if record.Limit != "" {
		result.Limit = &record.Limit
	}
	if result.Status == execution.Completed && record.Usage.APICalls == 0 {
		if found, ok := r.runAgain(ctx, job, record); ok {
			return found, true, nil
		}
	}
	if result.Status == execution.Completed {
		result.Status = execution.Failed
		line = "the execution completed, and the service was restarted before its result was kept; " +
			"its audit record tells the rest"
	}
	result.Error = &line
	return r.ended(ctx, SubmissionOf(job), result), true, nil
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
