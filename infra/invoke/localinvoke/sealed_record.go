package localinvoke

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/replystream"
	"github.com/airlock-run/airlock/policy/audit"
)

// A sealed process sends the record of an execution and stores nothing. A guest that controls the process controls
// what it sends. So before the pool stores a record, it replaces everything that it knows itself: the identity of the
// execution, its request and caller, the decision, and the answer. Only the seed, the journal, the times of the steps
// and, if nobody else decided, the decision come from the process.

const (
	// maxRecordBytes bounds a record; its journal has at most a few megabytes.
	maxRecordBytes = 8 << 20
	// maxRecords bounds the executions of one event.
	maxRecords = 10_000
)

var errRecord = errors.New("the record does not belong to the execution")

// recorded stores the record of an invocation and returns its reply.
func (p *Pool) recorded(ctx context.Context, inv *execution.Invocation, a *replystream.Answer,
	end ending) (execution.Reply, error) {
	var (
		reply execution.Reply
		err   error
	)
	if end.failure != nil {
		err = end.failure.Public()
	} else {
		reply, err = a.Reply()
	}
	if len(inv.Replay) > 0 {
		return reply, err
	}
	known := vouched{inv: inv, now: p.cfg.Now()}
	if err == nil {
		known.result = &reply.Result
	}
	if err == nil && len(end.records) != 1 || len(end.records) > 1 {
		return execution.Reply{}, replystream.Internal(fmt.Errorf("%w: there are %d", errRecord, len(end.records)))
	}
	if inv.Free != nil && len(end.records) > 0 {
		inv.Free()
	}
	if withheld := p.store(ctx, known, end.records); withheld != nil {
		return execution.Reply{}, withheld
	}
	return reply, err
}

// store corrects records and stores them. The error is an *execution.Error: the answer is withheld.
func (p *Pool) store(ctx context.Context, known vouched, records [][]byte) error {
	if len(records) > maxRecords {
		return replystream.Internal(errRecord)
	}
	for _, raw := range records {
		if len(raw) > maxRecordBytes {
			return replystream.Internal(errRecord)
		}
		rec, err := audit.Decode(raw)
		if err != nil {
			return replystream.Internal(errRecord)
		}
		if err := known.correct(&rec, p.cfg.Sealed.KeepCode); err != nil {
			return replystream.Internal(err)
		}
		if p.cfg.Sealed.Redact != nil {
			p.cfg.Sealed.Redact(&rec)
		}
		if err := p.append(ctx, rec); err != nil {
			p.cfg.Logger.Error("audit record not written, result withheld", "id", rec.ID, "error", err)
			return &execution.Error{
				Code: execution.Unrecorded, Message: "the execution's audit record could not be written; its result is withheld",
				Err: err,
			}
		}
	}
	return nil
}

// append stores a record. A caller that hangs up does not cancel it.
func (p *Pool) append(ctx context.Context, rec audit.Record) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.cfg.Sealed.WriteTimeout)
	defer cancel()
	return p.cfg.Sealed.Records.Append(ctx, rec)
}

// vouched holds what the pool itself knows of an execution.
type vouched struct {
	inv    *execution.Invocation // nil for an event, which the process makes executions of
	tenant string                // where inv is nil
	result *execution.Result     // nil when the process reported an error
	handed time.Time             // where the process chose the id
	now    time.Time
}

// correct replaces in a record everything that the pool knows.
func (v vouched) correct(rec *audit.Record, keepCode bool) error {
	rec.Lineage, rec.Chain = audit.Lineage{}, audit.Chain{}
	if v.inv == nil || v.inv.ID == "" {
		if !v.fresh(rec.ID) {
			return fmt.Errorf("%w: its ID was used before", errRecord)
		}
		rec.Time = inside(rec.Time, v.handed, v.now).UTC()
	}
	if v.inv == nil {
		rec.Caller.Tenant = v.tenant
		if !keepCode {
			rec.Code, rec.Request = "", nil
		}
	} else {
		if err := v.request(rec, keepCode); err != nil {
			return err
		}
	}
	if v.result != nil {
		v.outcome(rec)
	}
	if v.inv != nil && v.inv.Decision != nil {
		d := v.inv.Decision()
		rec.Grants, rec.DangerAnalysis, rec.ASTTelemetry, rec.Reasons = d.Grants, d.DangerAnalysis, d.ASTTelemetry, d.Reasons
	}
	rec.Custody = custody(rec.Custody, float64(v.now.Sub(rec.Time).Microseconds())/1000)
	return nil
}

// fresh reports whether a process may have drawn an ID while it had the event.
func (v vouched) fresh(id string) bool {
	text, ok := strings.CutPrefix(id, "exec_")
	if !ok {
		return false
	}
	drawn, err := ulid.ParseStrict(text)
	return err == nil && !ulid.Time(drawn.Time()).Before(v.handed.Truncate(time.Millisecond)) &&
		!ulid.Time(drawn.Time()).After(v.now)
}

// request sets the request and its caller.
func (v vouched) request(rec *audit.Record, keepCode bool) error {
	inv := v.inv
	q := inv.Request
	if inv.ID != "" {
		if rec.ID != inv.ID {
			return fmt.Errorf("%w: it belongs to another", errRecord)
		}
		rec.Time = inv.ReceivedAt.UTC()
	}
	if s := inv.Resume; s != nil {
		rec.Parent, rec.Segment = s.Parent, s.Segment
	}
	if s := inv.Session; s != nil {
		rec.Session, rec.Step, rec.Restarted, rec.ForkOf = s.ID, s.Step, s.Restarted, s.ForkOf
	}
	rec.Caller, rec.Via = audit.Caller(inv.Caller), inv.Via
	rec.Function = nil
	if f := inv.Function; f != nil {
		rec.Function = &audit.FunctionRef{Name: f.Name, Version: f.Version}
	}
	rec.Policy = cmp.Or(q.Policy, "standard")
	rec.Code, rec.Request = "", nil
	if q.Seed != nil {
		rec.Seed = q.Seed
	}
	source := q.Main()
	if source == "" && inv.Content != "" {
		return nil // it names sources that this side never had, so the process supplies them
	}
	sum := sha256.Sum256([]byte(source))
	rec.CodeSHA256, rec.CodeBytes, rec.Language = hex.EncodeToString(sum[:]), len(source), q.MainLanguage()
	if keepCode {
		request, err := audit.Encode(q)
		if err != nil {
			return fmt.Errorf("encode the request for its record: %w", err)
		}
		rec.Code, rec.Request = source, request
	}
	return nil
}

// outcome sets the answer.
func (v vouched) outcome(rec *audit.Record) {
	r := v.result
	r.Usage.QueueMs = v.inv.QueueMs
	durationMs, usage := v.inv.Resume.Share(*r)
	rec.Status, rec.DurationMs, rec.Usage, rec.OutputBytes = string(r.Status), durationMs, audit.Usage(usage),
		usage.OutputBytes
	said := rec.ResultSHA256
	rec.Error, rec.Limit, rec.ResultSHA256 = "", "", ""
	if r.Error != nil {
		rec.Error = *r.Error
	}
	if r.Limit != nil {
		rec.Limit = *r.Limit
	}
	// A missing result travels as null. Only the process can tell it from the value null.
	if len(r.Result) > 0 && (string(r.Result) != "null" || said != "") {
		sum := sha256.Sum256(r.Result)
		rec.ResultSHA256 = hex.EncodeToString(sum[:])
	}
	if r.Status == execution.Blocked {
		rec.Seed, rec.Journal = nil, nil
	}
}

// custody returns the plausible steps of a record, followed by the storing.
func custody(steps []audit.Step, nowMs float64) []audit.Step {
	nowMs = max(nowMs, 0)
	out := make([]audit.Step, 0, 5)
	at, next := 0.0, 0
	order := [...]string{audit.Received, audit.Decided, audit.Started, audit.Finished}
	for _, s := range steps {
		for next < len(order) && order[next] != s.Step {
			next++
		}
		if next == len(order) {
			break
		}
		if !(s.AtMs >= at && s.AtMs <= nowMs) {
			break
		}
		out, at = append(out, s), s.AtMs
		next++
	}
	return append(out, audit.Step{Step: audit.Recorded, AtMs: nowMs})
}

// inside clamps a time to a span.
func inside(t, from, to time.Time) time.Time {
	switch {
	case t.Before(from):
		return from
	case t.After(to):
		return to
	}
	return t
}
