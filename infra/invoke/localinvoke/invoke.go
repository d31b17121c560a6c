package localinvoke

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/replystream"
)

// Invoke runs inv on a function process and returns when it has ended. onLog, which may be nil, receives each log as
// it is printed: in order, never concurrently, and never after Invoke has returned. A slow onLog delays the answer.
//
// At the deadline of ctx the process is killed, so that deadline must be later than the execution's. If ctx is
// cancelled, the execution is ended and the Reply has the status cancelled. A process that crashes, is killed or runs
// out of memory yields a Reply that is not Recorded, with the logs that had arrived. The error is always an
// *execution.Error: Throttled if too many calls wait, Unavailable if there is no process or the deadline passed
// before one was free (nothing has run then), Internal if the function broke the protocol, or the function's own
// error.
func (p *Pool) Invoke(ctx context.Context, inv execution.Invocation,
	onLog func(execution.Log)) (execution.Reply, error) {
	whole := inv
	return replystream.Named(ctx, inv, onLog,
		func(ctx context.Context, sent execution.Invocation, onLog func(execution.Log)) (execution.Reply, error) {
			return p.call(ctx, &whole, sent, onLog)
		})
}

// call sends an invocation, which may only name its sources; whole has them.
func (p *Pool) call(ctx context.Context, whole *execution.Invocation, inv execution.Invocation,
	onLog func(execution.Log)) (execution.Reply, error) {
	if err := p.enter(); err != nil {
		return execution.Reply{}, unavailable(err)
	}
	defer p.calls.Done()
	began := p.cfg.Now()
	inv.Airlock, inv.Stream = execution.InvocationVersion, true
	payload, err := inv.Encode()
	if err != nil {
		return execution.Reply{}, &execution.Error{Code: execution.InvalidRequest,
			Message: "the request does not encode as JSON", Err: err}
	}
	id, err := p.requestID()
	if err != nil {
		return execution.Reply{}, replystream.Internal(fmt.Errorf("draw a request id: %w", err))
	}
	c := newCall(id, payload, inv.Caller.Tenant, p.killAt(ctx, began))
	c.lines, c.inv, c.by.subject = true, whole, inv.Caller.Subject
	a := replystream.New(inv, onLog)
	_, end, err := p.carry(ctx, ctx, c, inv.ID, a.Take)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return a.CutShort(replystream.Cancelled, p.cfg.Now().Sub(began), 0), nil
		}
		return execution.Reply{}, refusal(err)
	}
	switch {
	case end.crash != "":
		return a.CutShort(end.ending(), p.cfg.Now().Sub(began), end.cpu), nil
	case p.cfg.Sealed != nil:
		return p.recorded(ctx, whole, a, end)
	case end.failure != nil:
		return execution.Reply{}, end.failure.Public()
	}
	return a.Reply()
}

// killAt returns when the process of a call that starts now is killed.
func (p *Pool) killAt(ctx context.Context, now time.Time) time.Time {
	at := now.Add(p.cfg.MaxExecution)
	if d, ok := ctx.Deadline(); ok && d.Before(at) {
		at = d
	}
	return at
}

// refusal returns the error of a call that got no process.
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
