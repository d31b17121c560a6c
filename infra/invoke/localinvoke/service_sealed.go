package localinvoke

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/replystream"
)

// serveSealed runs c on a sealed process. Before the records of its executions are stored, it passes on logs only.
func (s service) serveSealed(ctx context.Context, c *call, take func([]byte)) (*process, ending, error) {
	known, err := s.vouch(ctx, c)
	if err != nil {
		return nil, ending{failure: failureOf(err)}, nil
	}
	held := &withheld{take: take, lines: known.inv != nil && known.inv.Stream}
	c.inv = known.inv
	proc, end, err := s.carry(ctx, context.WithoutCancel(ctx), c, "", held.add)
	if err != nil || end.crash != "" {
		return proc, end, err
	}
	if err := s.settle(ctx, known, held, end); err != nil {
		end.failure = failureOf(err)
		return proc, end, nil
	}
	take(held.buffer.Bytes())
	return proc, end, nil
}

// settle stores the records of a whole answer.
func (s service) settle(ctx context.Context, known vouched, held *withheld, end ending) error {
	known.now = s.cfg.Now()
	if known.inv != nil && len(known.inv.Replay) > 0 {
		return nil
	}
	if known.inv != nil && end.failure == nil {
		result, failed, ok := held.outcome()
		if !ok || !failed && len(end.records) != 1 {
			return replystream.Internal(errRecord)
		}
		known.result = result
	}
	return s.store(ctx, known, end.records)
}

// vouch reads the request of a caller of the service. It fetches an invocation that was handed over and replaces the
// payload by it. Anything else is an event, which the process can read.
func (s service) vouch(ctx context.Context, c *call) (vouched, error) {
	known := vouched{tenant: c.tenant, handed: s.cfg.Now()}
	h, is, err := execution.DecodeHandover(c.payload)
	if err == nil && is && s.cfg.Sealed.Fetch != nil {
		if c.payload, err = s.cfg.Sealed.Fetch(ctx, h); err != nil {
			return known, err
		}
	}
	inv, err := execution.DecodeInvocation(c.payload)
	if err != nil {
		return known, nil //nolint:nilerr // the process says what is wrong with it, or takes it for an event
	}
	if is && inv.ID != h.ID {
		return known, &execution.Error{Code: execution.InvalidRequest, Field: "handover.id",
			Message: "does not match the invocation that was handed over"}
	}
	if inv.ReceivedAt.IsZero() {
		inv.ReceivedAt = known.handed
	}
	if inv.Caller.Tenant == "" {
		inv.Caller.Tenant = c.tenant
	}
	c.by, known.inv = caller{inv.Caller.Tenant, inv.Caller.Subject}, &inv
	return known, nil
}

// failureOf returns an error in the form of a function's error.
func failureOf(err error) *replystream.Failure {
	var e *execution.Error
	if !errors.As(err, &e) {
		e = replystream.Internal(err)
	}
	return &replystream.Failure{Type: string(e.Code), Message: e.Error()}
}

// withheld is an answer that is not passed on yet, except for its logs.
type withheld struct {
	take   func([]byte)
	lines  bool
	rest   []byte // the beginning of a line
	buffer bytes.Buffer
}

func (w *withheld) add(data []byte) {
	if !w.lines {
		w.buffer.Write(data)
		return
	}
	for {
		end, after, whole := bytes.Cut(data, []byte("\n"))
		w.rest = append(w.rest, end...)
		if !whole {
			return
		}
		line := w.rest
		w.rest, data = nil, after
		var e execution.Event
		if json.Unmarshal(line, &e) != nil || e.Log == nil || e.Result != nil || e.Error != nil || w.buffer.Len() > 0 {
			w.buffer.Write(line)
			w.buffer.WriteByte('\n')
			continue
		}
		if log, err := json.Marshal(execution.Event{Log: e.Log}); err == nil {
			w.take(append(log, '\n'))
		}
	}
}

// outcome returns the result in the whole answer; failed reports that it holds an error instead. ok is false if it
// holds neither.
func (w *withheld) outcome() (result *execution.Result, failed, ok bool) {
	w.buffer.Write(w.rest)
	w.rest = nil
	if w.lines {
		var e execution.Event
		err := json.Unmarshal(w.buffer.Bytes(), &e)
		return e.Result, e.Error != nil, err == nil && e.Log == nil && (e.Result == nil) != (e.Error == nil)
	}
	var r execution.Result
	err := json.Unmarshal(w.buffer.Bytes(), &r)
	return &r, false, err == nil && r.Status != ""
}
