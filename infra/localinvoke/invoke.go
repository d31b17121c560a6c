package localinvoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/answer"
)

// Invoke runs inv on a function process and returns when it has ended. onLog, which may be nil, is given each log as it
// is printed: in order, never concurrently, never after Invoke has returned. The slower onLog is, the later the answer.
//
// The deadline of ctx is the execution's; Config.Grace after it the process is killed. When ctx is cancelled the
// execution is ended and the Reply's status is cancelled. A process that crashes, is killed or runs out of memory gives a
// Reply that is not Recorded, with the logs that had arrived. The error is always an *execution.Error: Throttled when too
// many wait, Unavailable when there is no process or the deadline passed before one was free (nothing has run then),
// Internal when the function did not keep to the protocol, or what the function itself reported.
func (p *Pool) Invoke(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error) {
	return answer.Named(ctx, inv, onLog, p.call)
}

func (p *Pool) call(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error) {
	if err := p.enter(); err != nil {
		return execution.Reply{}, unavailable(err)
	}
	defer p.calls.Done()
	began := p.cfg.Now()
	inv.Airlock, inv.Stream = execution.InvocationVersion, true
	payload, err := json.Marshal(inv)
	if err != nil {
		return execution.Reply{}, &execution.Error{Code: execution.InvalidRequest, Message: "the request does not encode as JSON", Err: err}
	}
	id, err := p.requestID()
	if err != nil {
		return execution.Reply{}, answer.Internal(fmt.Errorf("draw a request id: %w", err))
	}
	c := newCall(id, payload, inv.Caller.Tenant, p.killAt(ctx, began))
	c.lines = true
	a := answer.New(inv, onLog)
	_, end, err := p.carry(ctx, ctx, c, inv.ID, a.Take)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return a.CutShort(answer.Cancelled, p.cfg.Now().Sub(began)), nil
		}
		return execution.Reply{}, refusal(err)
	}
	switch {
	case end.failure != nil:
		return execution.Reply{}, end.failure.Public()
	case end.crash != "":
		return a.CutShort(end.ending(), p.cfg.Now().Sub(began)), nil
	}
	return a.Reply()
}

// killAt is when the process of a call that began now is killed.
func (p *Pool) killAt(ctx context.Context, now time.Time) time.Time {
	at := now.Add(p.cfg.MaxExecution)
	if d, ok := ctx.Deadline(); ok && d.Before(at) {
		at = d
	}
	return at.Add(p.cfg.Grace)
}

// refusal says why a call has no process.
func refusal(err error) *execution.Error {
	if errors.Is(err, errBusy) || errors.Is(err, context.DeadlineExceeded) {
		return &execution.Error{
			Code:       execution.Throttled,
			Message:    "every function process is busy",
			RetryAfter: time.Second,
			Err:        err,
		}
	}
	return unavailable(err)
}
