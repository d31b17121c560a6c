package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/queue"
	"github.com/airlock-run/airlock/policy/audit"
)

// runner runs the jobs of a server.
type runner struct{ s *Server }

// Run takes a job the way of every execution. What found no place is tried again; what has been recorded has ended.
func (n runner) Run(ctx context.Context, job execution.Job) (execution.Result, time.Duration) {
	mine := fromKept(job)
	result, err := n.s.Execute(ctx, mine)
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
	n.s.deps.Logger.Warn("a job failed", "execution", job.ID, "error", err)
	p := problemOf(err)
	_, line := outcome(p.status)
	if p.detail != "" {
		line = p.detail
	}
	return n.s.decided(ctx, mine).completed(execution.Result{Status: execution.Failed, Error: &line}), 0
}

// Recorded answers for a job whose process died after the execution was recorded and before its result was kept. How it
// ended is known; what it returned is found out by running it again where that touches nothing outside, and is given only
// when it is what the record has the hash of.
func (n runner) Recorded(ctx context.Context, job execution.Job) (execution.Result, bool, error) {
	record, err := n.s.deps.Records.Get(ctx, job.ID)
	if errors.Is(err, audit.ErrNotFound) {
		return execution.Result{}, false, nil
	}
	if err != nil {
		return execution.Result{}, false, err
	}
	result := execution.Result{
		Status: execution.Status(record.Status), DurationMs: record.DurationMs, Usage: execution.Usage(record.Usage),
		DangerAnalysis: record.DangerAnalysis, Engine: record.Engine, Policy: record.Policy,
	}
	line := record.Error
	if record.Limit != "" {
		result.Limit = &record.Limit
	}
	if result.Status == execution.Completed && record.Usage.APICalls == 0 {
		if found, ok := n.again(ctx, job, record); ok {
			return found, true, nil
		}
	}
	if result.Status == execution.Completed {
		result.Status, line = execution.Failed, "the execution completed, and the service was restarted before its result was kept; its audit record tells the rest"
	}
	result.Error = &line
	return n.s.decided(ctx, fromKept(job)).completed(result), true, nil
}

// again runs a job once more under an id and a record of its own.
func (n runner) again(ctx context.Context, job execution.Job, record audit.Record) (execution.Result, bool) {
	second := fromKept(job)
	second.ID, second.Fresh = "", true
	result, err := n.s.Execute(ctx, second)
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

// Send tells a receiver.
func (n runner) Send(ctx context.Context, job execution.Job) jobs.Receipt {
	return n.s.state.sender.Send(ctx, job)
}
