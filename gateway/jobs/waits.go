package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/waits"
	"github.com/airlock-run/airlock/policy/audit"
)

// Waits configures how executions wait.
type Waits struct {
	// Keys encrypt snapshots. Without them, no execution may pause.
	Keys *waits.Keys
	// MaxAge returns how long an execution of a tier may exist after its first pause.
	MaxAge func(tier string) time.Duration
	// Record writes the record of a decision about a paused job, or of its end. It does not fail if the record exists.
	Record func(ctx context.Context, record audit.Record) error
	NewID  func() string
	// Paused passes the records of pauses to fn whose executions began from since to until. It may be nil, if that would
	// take long.
	Paused func(ctx context.Context, since, until time.Time, fn func(audit.Record) error) error
}

// advanceAtOnce is how many paused executions one look may advance.
const advanceAtOnce = 64

// advanceDue advances the paused executions for which something is due.
func (q *Queue) advanceDue(ctx context.Context) error {
	for {
		due, err := q.cfg.Store.DueWaits(ctx, q.cfg.Now(), advanceAtOnce)
		if err != nil {
			return err
		}
		moved := 0
		for _, job := range due {
			after, err := q.advance(ctx, job)
			if err != nil {
				q.complain(ctx, "a paused execution cannot be advanced", err)
			} else if after.Status != execution.Paused {
				moved++
			}
		}
		if len(due) < advanceAtOnce || moved == 0 || ctx.Err() != nil {
			return nil
		}
	}
}

// errUnchanged keeps a job that is as it should be from being stored again: it may have a megabyte of answers.
var errUnchanged = errors.New("the job is as it was")

// advance does what is due about a paused job. It writes the records of decisions before a segment has their answers,
// and the record of an end before the job ends.
func (q *Queue) advance(ctx context.Context, job execution.Job) (execution.Job, error) {
	current := execution.Job{}
	job, err := change(ctx, q, job.ID, func(j *execution.Job) error {
		changed, expired := waits.Elapse(j, q.cfg.Now())
		switch {
		case expired:
			reason := "the execution expired: nobody resumed it in time"
			if j.Wait.Session != nil {
				reason = "the session expired"
			}
			return q.endPaused(j, execution.Expired, reason, execution.Caller{})
		case !changed:
			current = *j
			return errUnchanged
		}
		return nil
	})
	if errors.Is(err, errUnchanged) {
		job, err = current, nil
	}
	if err != nil || job.Status != execution.Paused {
		return job, err
	}
	if job.Wait.Ending != nil {
		return q.finishEnding(ctx, job)
	}
	if !waits.Answered(job) {
		return job, nil
	}
	decided, whole := map[int]bool{}, execution.Job{}
	for _, p := range job.Wait.Pending {
		if p.Answer == nil || p.Sent {
			continue
		}
		decided[p.Seq] = true
		if p.Verdict == nil {
			continue
		}
		if whole.ID == "" {
			if whole, err = withCode(ctx, q, job); err != nil {
				return job, fmt.Errorf("record a decision: %w", err)
			}
		}
		if err := q.cfg.Waits.Record(ctx, waits.DecisionRecord(whole, p)); err != nil {
			return job, fmt.Errorf("record a decision: %w", err)
		}
	}
	run := q.cfg.Waits.NewID()
	job, err = change(ctx, q, job.ID, func(j *execution.Job) error {
		if err := waits.Queue(j, run, decided, q.cfg.Now()); err != nil {
			return err
		}
		callBack(j, q.cfg.Now())
		return nil
	})
	if errors.Is(err, waits.ErrNotAnswered) { // another process was faster
		return q.cfg.Store.JobState(ctx, job.ID)
	}
	q.nudge()
	return job, err
}

// withCode returns a job that was read without its request with what records say of its code.
func withCode(ctx context.Context, q *Queue, job execution.Job) (execution.Job, error) {
	if job.Wait != nil && job.Wait.Code != nil {
		return job, nil
	}
	return withRequest(ctx, q, job)
}

// withRequest returns a job that was read without its request with the request. Sessions have none.
func withRequest(ctx context.Context, q *Queue, job execution.Job) (execution.Job, error) {
	if job.Wait != nil && job.Wait.Session != nil || len(job.Request.Code)+len(job.Request.Files) > 0 {
		return job, nil
	}
	whole, err := q.cfg.Store.Job(ctx, job.ID)
	job.Request = whole.Request
	return job, err
}

// endedByCaller returns the reason of an end that the caller of a paused job wants.
func endedByCaller(j *execution.Job) string {
	if j.Wait.Session != nil {
		return "the session was deleted"
	}
	return "the execution was cancelled while it was paused"
}

// endPaused notes that a paused job ends.
func (q *Queue) endPaused(j *execution.Job, status execution.Status, reason string, by execution.Caller) error {
	now := q.cfg.Now().UTC()
	end := execution.Ending{Status: status, Reason: reason, By: by, At: now, Record: q.cfg.Waits.NewID()}
	return waits.End(j, end, now)
}

// RecordLapsed writes the record of the step of a session whose claim has lapsed, unless the step left one. It does
// nothing about other jobs.
func RecordLapsed(ctx context.Context, q *Queue, job execution.Job) error {
	in := job.Wait.Session
	if in == nil || in.Running == "" || in.Runs(q.cfg.Now()) {
		return nil
	}
	_, _, err := q.cfg.Runner.Recorded(ctx, job)
	return err
}

// finishEnding writes the record of a job's end, and ends the job. The end of a session comes after the record of a
// step that still runs, or of its loss.
func (q *Queue) finishEnding(ctx context.Context, job execution.Job) (execution.Job, error) {
	if in := job.Wait.Session; in != nil && in.Runs(q.cfg.Now()) {
		return job, nil
	}
	if err := RecordLapsed(ctx, q, job); err != nil {
		return job, fmt.Errorf("record the last step of a session: %w", err)
	}
	whole, err := withCode(ctx, q, job)
	if err == nil {
		err = q.cfg.Waits.Record(ctx, waits.EndRecord(whole))
	}
	if err != nil {
		return job, fmt.Errorf("record the end of a paused execution: %w", err)
	}
	job, err = change(ctx, q, job.ID, func(j *execution.Job) error {
		if j.Ended() {
			return errTaken
		}
		return q.end(j, endResult(*j))
	})
	if errors.Is(err, errTaken) {
		err = nil
	}
	return job, err
}

// endResult returns the result of a job that ends without running.
func endResult(job execution.Job) execution.Result {
	e := job.Wait.Ending
	return execution.Result{
		ID: job.ID, Status: e.Status, Failure: execution.Failure{Error: &e.Reason},
		Environment: execution.Environment{
			Engine: "quickjs", EngineBuild: job.Wait.EngineBuild, Policy: job.Wait.Tier,
		},
		Logs: []execution.Log{}, Violations: []string{}, Function: job.Function, DangerAnalysis: noAnalysis(),
	}
}

// noAnalysis returns the analysis of code that was not scanned again.
func noAnalysis() []byte { return []byte(`{"score":0,"level":"safe","findings":[],"unanalysed":true}`) }

func callerOf(job execution.Job) execution.Caller {
	return execution.Caller{Subject: job.Subject, Tenant: job.Tenant, IP: job.IP}
}

// endOrPark ends a job that ran, or pauses it. A result with the status queued has its segment run again. A result that
// cannot be encoded or encrypted never can be, so the job ends as failed.
func (q *Queue) endOrPark(j *execution.Job, result execution.Result) (err error) {
	before, cancelled := *j, j.Cancel
	switch result.Status {
	case execution.Paused:
		err = q.park(j, result)
	case execution.Queued:
		return repeat(q, j, result)
	default:
		err = q.end(j, result)
	}
	switch {
	case errors.Is(err, waits.ErrApart):
		*j = before
		return err
	case err != nil:
		*j = before
		return endUnkept(q, j, result, err)
	case cancelled && result.Status == execution.Paused:
		return q.endPaused(j, execution.Cancelled, "the execution was cancelled", callerOf(*j))
	}
	return nil
}

// endUnkept ends a job whose result cannot be encoded or encrypted. One that paused gets the record of its end before
// it ends.
func endUnkept(q *Queue, j *execution.Job, result execution.Result, why error) error {
	q.cfg.Logger.Error("a result cannot be stored", "job", j.ID, "error", why)
	line := "the execution has ended: its result cannot be stored: " + why.Error()
	if result.Status == execution.Paused {
		waits.Park(j, result, q.cfg.Waits.MaxAge(result.Policy), q.cfg.Now())
		j.Snapshot, j.Cancel = nil, false
		return q.endPaused(j, execution.Failed, line, callerOf(*j))
	}
	return q.end(j, execution.Result{
		Status: execution.Failed, Failure: execution.Failure{Error: &line}, Environment: result.Environment,
		Logs: []execution.Log{}, Violations: []string{}, Function: j.Function, DangerAnalysis: noAnalysis(),
	})
}

// repeat queues the segment of a job once more, after growing pauses, or ends the job if that has happened too often.
func repeat(q *Queue, j *execution.Job, result execution.Result) error {
	if now := q.cfg.Now(); waits.Again(j, q.cfg.Waits.NewID(), now) {
		if again := j.Wait.Attempts - 2; again >= 0 { // the first repetition needs no pause
			j.NotBefore = now.Add(min(q.backoff(again), 30*time.Second)).UTC()
		}
		return nil
	}
	line := "the execution has ended: the processes that ran its last segment died too often"
	result.Status, result.Error = execution.Failed, &line
	return q.end(j, result)
}

// park pauses a job with its encrypted snapshot.
func (q *Queue) park(j *execution.Job, result execution.Result) (err error) {
	snapshot, before := result.Snapshot, j.Snapshot
	result.ID, result.Snapshot = j.ID, nil
	waits.Park(j, result, q.cfg.Waits.MaxAge(result.Policy), q.cfg.Now())
	result.Waiting = shown(j.Wait)
	if j.Result, err = api.Encode(result); err != nil {
		return fmt.Errorf("keep what a paused job has done: %w", err)
	}
	sealed, err := q.cfg.Waits.Keys.Seal(*j, snapshot)
	if err != nil {
		return err
	}
	if err = waits.Carry(j.Wait, before, sealed); err != nil {
		return err
	}
	j.Snapshot = sealed
	j.Owner, j.Cancel = "", false
	callBack(j, q.cfg.Now())
	return nil
}

// shown returns the operations that nobody has answered.
func shown(w *execution.Wait) []execution.Waiting {
	out := []execution.Waiting{}
	for _, p := range w.Pending {
		if p.Answer == nil {
			out = append(out, p.Waiting)
		}
	}
	return out
}

// Park stores an execution that paused while its caller waited. The result is then what the caller gets. The error is
// ErrUnsettled if the execution may be stored.
func (q *Queue) Park(ctx context.Context, s api.Submission, result execution.Result) (execution.Result, error) {
	job := JobOf(s)
	job.StartedAt = q.cfg.Now().UTC()
	if err := q.park(&job, result); err != nil {
		return result, err
	}
	if err := (unstored{q}).submit(ctx, job); err != nil {
		return result, err
	}
	result.ID, result.Waiting, result.Snapshot = job.ID, shown(job.Wait), nil
	return result, nil
}

// Change applies a change to a paused job, and does what is then due. fn gets the job with its snapshot if it returns
// waits.ErrApart without it.
func (q *Queue) Change(ctx context.Context, id string, fn func(*execution.Job) error) (execution.Job, error) {
	job, err := change(ctx, q, id, fn)
	if err != nil || job.Status != execution.Paused {
		return job, err
	}
	after, err := q.advance(ctx, job)
	if err != nil { // it is stored, and is advanced later
		q.complain(ctx, "a paused execution cannot be advanced", err)
		return job, nil
	}
	return after, nil
}
