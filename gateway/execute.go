package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/dashboard"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/meter"
	"github.com/airlock-run/airlock/gateway/queue"
	"github.com/airlock-run/airlock/gateway/registry"
	"github.com/airlock-run/airlock/gateway/results"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
)

// executor runs submissions. It is safe for concurrent use.
type executor struct {
	admission *admission
	queue     *queue.Queue
	invoker   Invoker
	records   Records
	redact    func(*audit.Record) // may be nil
	results   *results.Store[results.Finished]
	pure      pureResults
	registry  *registry.Registry // nil without state
	park      parker             // nil where nothing may pause
	activity  *dashboard.Activity
	meter     *meter.Meter
	tracer    trace.Tracer // may be nil

	writing      chan struct{} // holds an element for each execution without a place whose record is not written
	queueWait    time.Duration
	overhead     time.Duration
	writeTimeout time.Duration
	keepCode     bool
	now          clock
	newID        func() string
	logger       *slog.Logger
}

// parker stores an execution that paused as a job. It returns the result for the caller.
type parker func(ctx context.Context, s api.Submission, result execution.Result) (execution.Result, error)

// Execute implements api.Executor.
func (e *executor) Execute(ctx context.Context, s api.Submission) (execution.Result, error) {
	s.Waits = s.Waits && e.park != nil
	s, end := e.startSpan(e.admission.remoteTools.AddTo(ctx, s))
	result, err := e.execute(ctx, s)
	end(result, err)
	return result, err
}

// execute takes a submission along the path of every execution: decide, wait for a place, invoke a function, record.
func (e *executor) execute(ctx context.Context, s api.Submission) (execution.Result, error) {
	if s.Resume == nil { // what continues was accepted before
		if err := e.admission.Recordable(s.Request); err != nil {
			return e.undecided(s).unfinished(), err
		}
	}
	r, err := e.begin(ctx, s)
	if ctx.Err() != nil {
		return e.finish(ctx, r, cancelledResult())
	}
	if err != nil {
		return r.unfinished(), err
	}
	if err := cmp.Or(invalidField(r.decision), e.admission.reachCaller(s)); err != nil {
		return r.unfinished(), err
	}
	if r.decision.Effect != policy.Allow {
		return e.finish(ctx, r, governance.Blocked(&r.decision))
	}
	if result, ok := e.reuse(r); ok {
		return e.finish(ctx, r, result)
	}
	e.activity.Waiting(r.Submission, r.decision.Tier)
	defer e.activity.Ended(r.ID)
	reply, err := e.runInTurn(ctx, r)
	switch {
	case err != nil && ctx.Err() != nil:
		return e.finish(ctx, r, cancelledResult())
	case err != nil:
		return r.unfinished(), e.recordLost(ctx, r, err)
	case !reply.Recorded:
		return e.finish(ctx, r, reply.Result)
	}
	if s.Session != nil {
		return e.keepStep(ctx, r, reply.Result)
	}
	if reply.Result.Status == execution.Paused && !s.Stored {
		return e.keepPaused(ctx, r, reply.Result)
	}
	return e.keep(r, reply.Result), nil
}

// keepStep keeps the snapshot of a step of a session that completed, and then its result.
func (e *executor) keepStep(ctx context.Context, r *run, result execution.Result) (execution.Result, error) {
	if len(result.Snapshot) > 0 && result.Status == execution.Completed {
		err := r.KeepStep(ctx, result)
		if known := (*api.Problem)(nil); err != nil && !errors.As(err, &known) {
			what := "the step ran, and it is not known whether what it changed in its session was stored"
			if jobs.StoresNothing(err) {
				what = "the step ran, and what it changed in its session could not be stored"
			}
			err = notStored(what, err)
		}
		if err != nil {
			return r.unfinished(), err
		}
	}
	result.Snapshot = nil
	return e.keep(r, result), nil
}

// keepPaused stores an execution that paused and was not a job before. If that is impossible, the execution has ended,
// and a second record says so. If the state does not tell whether it has stored the execution, the queue settles that.
func (e *executor) keepPaused(ctx context.Context, r *run, result execution.Result) (execution.Result, error) {
	result = r.complete(result)
	stored := r.Submission
	stored.Request.Tools = slices.DeleteFunc(slices.Clone(stored.Request.Tools), func(t execution.Tool) bool {
		return t.Server != "" // these are added again when it continues
	})
	kept, err := e.park(context.WithoutCancel(ctx), stored, result)
	if err == nil {
		e.meter.Observe(sampleOf(kept))
		e.activity.Changed()
		return kept, nil
	}
	if errors.Is(err, jobs.ErrUnsettled) {
		return r.unfinished(), notStored("the execution paused, and it is not known whether it was stored", err)
	}
	const line = "the execution paused and could not be stored; it has ended"
	reason := line
	record := r.record(execution.Result{Status: execution.Failed, Failure: execution.Failure{Error: &reason},
		Environment: execution.Environment{Policy: result.Policy, Engine: result.Engine}}, e.keepCode)
	record.ID, record.Parent, record.Segment = e.newID(), r.ID, 1
	if unrecorded := e.append(ctx, record); unrecorded != nil {
		return r.unfinished(), errors.Join(unrecorded, err)
	}
	return r.unfinished(), notStored(line, err)
}

// runInTurn waits for a place and invokes a function. If the invocation is throttled, which means that nothing ran, it
// gives the place back and waits in the queue again after a pause, for at most the longest wait in all.
func (e *executor) runInTurn(ctx context.Context, r *run) (execution.Reply, error) {
	waiting, cancel := context.WithTimeout(ctx, e.queueWait)
	defer cancel()
	var throttled error
	for attempt := 0; ; attempt++ {
		place, err := e.waitForPlace(ctx, waiting, r)
		if err != nil {
			return execution.Reply{}, cmp.Or(throttled, err)
		}
		e.activity.Running(r.ID)
		if attempt == 0 {
			r.admit()
		}
		steps := len(r.custody)
		reply, err := e.invoke(ctx, r, place)
		place.Release()
		if failed := (*execution.Error)(nil); !errors.As(err, &failed) || failed.Code != execution.Throttled {
			return reply, err
		}
		throttled, r.custody = err, r.custody[:steps]
		e.activity.Waiting(r.Submission, r.decision.Tier)
		if !e.pause(waiting, r, attempt) {
			return execution.Reply{}, throttled
		}
	}
}

// The pause after an invocation that was throttled: it doubles from the first to the longest, and half of it is random.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = 2 * time.Second
)

// pause waits after a throttled invocation. It reports false, at once, if there is no time left for another.
func (e *executor) pause(waiting context.Context, r *run, attempt int) bool {
	length := min(firstPause<<min(attempt, 10), longestPause)
	length = length/2 + rand.N(length)
	end := time.Now().Add(length)
	if d, ok := waiting.Deadline(); ok && end.After(d) || r.late(end) {
		return false
	}
	t := time.NewTimer(length)
	defer t.Stop()
	select {
	case <-t.C:
		r.queued += length
		return true
	case <-waiting.Done():
		return false
	}
}

// waitForPlace waits in the queue until waiting ends. The error is context.Canceled if ctx ended.
func (e *executor) waitForPlace(ctx, waiting context.Context, r *run) (*queue.Place, error) {
	began := time.Now()
	place, err := e.queue.AcquireFor(waiting, classOf(r.Request.Priority), r.Caller.Tenant, r.Caller.Subject)
	switch {
	case err == nil:
		r.queued += place.Waited
	case ctx.Err() != nil:
		err = context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		err = &queue.Full{RetryAfter: 5 * time.Second, Waited: time.Since(began)}
	}
	return place, err
}

func classOf(priority string) queue.Class {
	switch priority {
	case "low":
		return queue.Low
	case "high":
		return queue.High
	}
	return queue.Normal
}

// maxWriting is the number of executions that may give their places back before their records are written. Further
// ones keep their places meanwhile, so that no more runs than can be recorded.
const maxWriting = 256

// invoke invokes a function, within the time of the tier. The place is free as soon as the function is.
func (e *executor) invoke(ctx context.Context, r *run, place *queue.Place) (execution.Reply, error) {
	if r.late(time.Now()) { // another process may run it by now
		return execution.Reply{}, &execution.Error{Code: execution.Throttled, RetryAfter: time.Second,
			Message: "it is too late to begin the execution"}
	}
	running, cancel := context.WithTimeout(ctx, r.decision.Grants.Timeout+e.overhead)
	defer cancel()
	r.step(audit.Started)
	defer r.step(audit.Finished)
	inv := r.invocation()
	early := false
	inv.Free = func() {
		select {
		case e.writing <- struct{}{}:
			early = true
			place.Release()
		default:
		}
	}
	reply, err := e.invoker.Invoke(running, inv, r.OnLog)
	if early {
		<-e.writing
	}
	if err == nil {
		e.noteStart(ctx, r, reply.Result)
	}
	if err == nil && reply.Result.ID != r.ID && reply.Result.ID != "" {
		err = &execution.Error{Code: execution.Internal, Message: "the function answered for another execution"}
	}
	return reply, err
}

// noteStart notes how a run of a saved function started. The run does not depend on it.
func (e *executor) noteStart(ctx context.Context, r *run, result execution.Result) {
	f := r.Function
	if f == nil || result.Warm == nil || e.registry == nil {
		return
	}
	lasting := context.WithoutCancel(ctx)
	err := e.registry.Learn(lasting, r.Caller.Tenant, f.Name, f.Version, *result.Warm, result.ColdReason)
	if err != nil && !errors.Is(err, execution.ErrNotFound) { // it may have been deleted meanwhile
		e.logger.Warn("the start of a function was not noted", "function", f.Name, "error", err)
	}
}

// finish ends a run that no function recorded: the gateway writes the record, and without a record there is no result.
func (e *executor) finish(ctx context.Context, r *run, result execution.Result) (execution.Result, error) {
	result = r.complete(result)
	if err := e.append(ctx, r.record(result, e.keepCode)); err != nil {
		return r.unfinished(), err
	}
	return e.keep(r, result), nil
}

// recordLost records a run that the platform lost, and returns the error for its caller.
func (e *executor) recordLost(ctx context.Context, r *run, lost error) error {
	if full := (*queue.Full)(nil); errors.As(lost, &full) {
		return lost // it did not begin
	}
	message := "the execution was lost inside the platform"
	if public := (*execution.Error)(nil); errors.As(lost, &public) {
		switch public.Code {
		case execution.InvalidRequest, execution.Throttled, execution.TooLarge:
			return lost // it did not begin
		}
		message = public.Message
	}
	result := r.complete(execution.Result{Status: execution.Failed, Failure: execution.Failure{Error: &message}})
	if err := e.append(ctx, r.record(result, e.keepCode)); err != nil {
		return errors.Join(err, lost)
	}
	return lost
}

// append writes a record, even if the caller has gone. If a function wrote the record before it died, that record
// counts; if it says something else than the response would, there is no response.
func (e *executor) append(ctx context.Context, record audit.Record) error {
	writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.writeTimeout)
	defer cancel()
	if e.redact != nil {
		e.redact(&record)
	}
	err := e.records.Append(writing, record)
	if err == nil {
		return nil
	}
	if errors.Is(err, audit.ErrExists) {
		if written, err := e.records.Get(writing, record.ID); err == nil && written.Status == record.Status {
			return nil
		}
		return &execution.Error{
			Code: execution.Unavailable,
			Message: "the execution ended and was recorded, but its result was lost; its record is " +
				record.ID,
		}
	}
	return &execution.Error{
		Code: execution.Unrecorded, Err: err, RetryAfter: 5 * time.Second,
		Message: "the execution could not be recorded, and its result is withheld; try again",
	}
}

// keep counts a run that has ended and keeps its result for GET /api/result.
func (e *executor) keep(r *run, result execution.Result) execution.Result {
	result = r.complete(result)
	e.meter.Observe(sampleOf(result))
	e.activity.Changed()
	if r.Resume != nil || result.Status == execution.Paused {
		return result // the stored job knows more
	}
	if body, err := api.Encode(result); err == nil {
		owner := r.Caller.Owner()
		if !r.Stored { // the result of a job is not shown before it is stored
			e.results.Put(owner, result.ID, results.Finished{Owner: owner, Body: body}, len(body))
		}
		e.keepPure(r, result, len(body))
	}
	return result
}

// Cancelled implements jobs.Executions.
func (e *executor) Cancelled(ctx context.Context, s api.Submission, reason string) (
	result execution.Result, record func(context.Context) error, err error,
) {
	r, err := e.begin(ctx, s)
	result = r.complete(execution.Result{Status: execution.Cancelled, Failure: execution.Failure{Error: &reason}})
	return result, func(ctx context.Context) error {
		_, err := e.finish(ctx, r, result)
		return err
	}, err
}

// longestReplay bounds a replay whose record does not say how long the execution might run.
const longestReplay = time.Minute

// maxReplay bounds the records of a replay, in bytes.
const maxReplay = 16 << 20

// Replay implements records.Replayer.
func (e *executor) Replay(
	ctx context.Context, caller authn.Identity, record audit.Record, earlier []audit.Record,
) (execution.Result, error) {
	replay, err := replayOf(record, earlier)
	if err != nil {
		return execution.Result{}, err
	}
	if len(replay) > maxReplay {
		return execution.Result{}, &execution.Error{Code: execution.InvalidRequest, Field: "replay",
			Message: "the records of the executions that it continues are too large"}
	}
	r := &run{now: e.now, Submission: api.Submission{
		ID: e.newID(), Caller: caller, Via: execution.ViaHTTP, ReceivedAt: e.now(),
		Request: execution.Request{Code: "0", Priority: "low"},
	}}
	waiting, stop := context.WithTimeout(ctx, e.queueWait)
	defer stop()
	place, err := e.waitForPlace(ctx, waiting, r)
	if err != nil {
		return execution.Result{}, err
	}
	defer place.Release()
	var granted struct {
		TimeoutMs int64 `json:"timeoutMs"`
	}
	limit := longestReplay
	if json.Unmarshal(record.Grants, &granted) == nil && granted.TimeoutMs > 0 {
		limit = min(time.Duration(granted.TimeoutMs)*time.Millisecond, longestReplay)
	}
	running, cancel := context.WithTimeout(ctx, limit+e.overhead)
	defer cancel()
	reply, err := e.invoker.Invoke(running, execution.Invocation{
		Airlock: execution.InvocationVersion, ID: r.ID, Request: r.Request, Via: r.Via, ReceivedAt: r.ReceivedAt,
		QueueMs: api.Milliseconds(r.queued), Replay: replay,
		Caller: execution.Caller{Subject: caller.Subject, Tenant: caller.Tenant},
	}, nil)
	return reply.Result, err
}

// replayOf returns a record for a replay, or a list that ends with it if it has earlier ones.
func replayOf(record audit.Record, earlier []audit.Record) (replay []byte, err error) {
	if len(earlier) == 0 {
		return audit.AppendRead(nil, record)
	}
	for i, r := range append(slices.Clip(earlier), record) {
		replay = append(replay, "[,"[min(i, 1)])
		if replay, err = audit.AppendRead(replay, r); err != nil {
			return nil, err
		}
	}
	return append(replay, ']'), nil
}
