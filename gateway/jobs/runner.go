package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/queue"
	"github.com/airlock-run/airlock/gateway/waits"
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
	Now    func() time.Time
	// Callback makes one attempt to call a receiver back.
	Callback func(ctx context.Context, job execution.Job) Receipt
	// Append writes a record. It does not fail if the record exists.
	Append func(ctx context.Context, record audit.Record) error
	// Keys decrypt snapshots. Without them, no execution may pause.
	Keys *waits.Keys
	// StartBefore, which may be nil, returns the latest start of a job that is claimed, by its owner; zero sets no limit.
	StartBefore func(owner string) time.Time

	complaints complaints
}

// run runs a job, or its next segment if it has paused.
func (r *ExecutionRunner) run(ctx context.Context, job execution.Job) (execution.Result, error) {
	s := SubmissionOf(job)
	s.Waits = r.Keys != nil
	if r.StartBefore != nil {
		s.StartBefore = func() time.Time { return r.StartBefore(job.Owner) }
	}
	if job.Wait != nil { // the record of a segment has the time at which the segment was queued
		s.ReceivedAt = job.Wait.Changed
	}
	var snapshot []byte
	if waits.Continues(job) {
		err := errNoKeys
		if r.Keys != nil {
			snapshot, err = r.Keys.Open(job, job.Snapshot)
		}
		switch waitsForKey := errors.Is(err, errNoKeys) || errors.Is(err, waits.ErrNoKey); {
		case waitsForKey && r.Now().Before(job.Wait.ExpiresAt):
			return execution.Result{}, err
		case waitsForKey:
			return r.end(ctx, job, execution.Expired,
				"the execution expired while it waited for a gateway with the key of its snapshot")
		case err != nil:
			return r.end(ctx, job, execution.Failed, err.Error())
		}
	}
	var err error
	if s.Resume, err = waits.Resume(job, snapshot); err != nil {
		return r.end(ctx, job, execution.Failed, err.Error())
	}
	return r.Executor.Execute(ctx, s)
}

// errNoKeys is why a paused execution does not continue on this gateway. It waits for one that has keys.
var errNoKeys = errors.New("a paused execution waits for a gateway with SNAPSHOT_KEYS")

// noKeysPause is the time between two attempts to continue an execution without its key.
const noKeysPause = 10 * time.Second

// complaints are errors that are logged once a minute. They are safe for concurrent use.
type complaints struct {
	mu   sync.Mutex
	said map[string]time.Time // by the text of the error, such as one that names a key
}

// about logs what an error of an execution means, unless it has been logged in the last minute.
func (c *complaints) about(to *slog.Logger, what string, err error, id string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last, ok := c.said[err.Error()]; ok && now.Before(last.Add(time.Minute)) {
		return
	}
	if c.said == nil || len(c.said) == maxComplaints {
		c.said = map[string]time.Time{}
	}
	c.said[err.Error()] = now
	to.Error(what, "error", err, "execution", id)
}

// maxComplaints bounds the errors that are remembered.
const maxComplaints = 100

// end ends an execution whose next segment cannot run.
func (r *ExecutionRunner) end(
	ctx context.Context, job execution.Job, status execution.Status, line string,
) (execution.Result, error) {
	job.Wait.Ending = &execution.Ending{Status: status, Reason: line, By: callerOf(job), At: job.Wait.Changed,
		Record: job.Wait.Run}
	if err := r.Append(ctx, waits.EndRecord(job)); err != nil {
		return execution.Result{}, err
	}
	return endResult(job), nil
}

// Record implements Runner.
func (r *ExecutionRunner) Record(ctx context.Context, record audit.Record) error {
	return r.Append(ctx, record)
}

// Run implements Runner. A job that found no place, or no key for its snapshot, is tried again; a job that was recorded
// has ended. A segment that continues from a snapshot runs again if its process died, or if no function was available.
func (r *ExecutionRunner) Run(ctx context.Context, job execution.Job) (execution.Result, time.Duration) {
	result, err := r.run(ctx, job)
	if err == nil && (result.Status != execution.Failed || !waits.Continues(job)) {
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
		if exec.Message == execution.TooLate {
			r.complaints.about(r.Logger, "functions refuse jobs as too late: compare their clocks with this one", err, job.ID,
				r.Now())
		}
		return result, max(exec.RetryAfter, time.Second)
	case errors.Is(err, errNoKeys), errors.Is(err, waits.ErrNoKey):
		r.complaints.about(r.Logger, "paused executions wait for their key", err, job.ID, r.Now())
		return result, noKeysPause
	}
	if err != nil {
		r.Logger.Warn("a job failed", "execution", job.ID, "error", err)
	}
	unavailable := exec != nil && exec.Code == execution.Unavailable && waits.Continues(job)
	record, missing := r.Records.Get(ctx, job.RunID())
	switch {
	case missing == nil && (waits.Repeats(job, record) || unavailable && record.EngineBuild == ""):
		return repeated(record), 0
	case err == nil:
		return result, 0
	}
	line := r.Detail(err)
	result.Status, result.Error = execution.Failed, &line
	return result, 0
}

// repeated returns the result of a segment that must run again.
func repeated(record audit.Record) execution.Result {
	result := governance.Result(record)
	result.Status = execution.Queued
	return result
}

// HasRecord reports whether a job, or the segment of it that runs, has its audit record.
func (r *ExecutionRunner) HasRecord(ctx context.Context, job execution.Job) (bool, error) {
	_, err := r.Records.Get(ctx, job.RunID())
	if errors.Is(err, audit.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Recorded implements Runner for a job whose process died between the record of the execution and the storing of its
// result. The record says how the execution ended. Its value is found by running the job again if the execution
// touched nothing outside, and is returned only if the record has its hash. A segment of an execution that has paused
// runs again in any case: tools recognize the repeated calls. An attempt that left no record gets one here.
func (r *ExecutionRunner) Recorded(ctx context.Context, job execution.Job) (execution.Result, bool, error) {
	record, err := r.Records.Get(ctx, job.RunID())
	if errors.Is(err, audit.ErrNotFound) {
		record = waits.LostRecord(job, r.Now())
		err = r.Append(ctx, record)
		if job.Wait == nil {
			return execution.Result{}, false, err
		}
	}
	if err != nil || job.Wait != nil && job.Wait.Session != nil {
		return execution.Result{}, err == nil, err
	}
	if waits.Repeats(job, record) {
		return repeated(record), true, nil
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
