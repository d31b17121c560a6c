package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy/audit"
)

// longestReplay bounds a replay whose record does not say how long it might run.
const longestReplay = time.Minute

// replay is POST /api/audit/execution/{id}/replay: a function runs a recorded execution again, answered from its journal.
// Nothing outside is reached, nothing is recorded, and whatever else waits goes first.
func (s *Server) replay(c *fiber.Ctx) error {
	record, err := s.recordFor(c)
	if err != nil {
		return err
	}
	switch {
	case record.Status == string(execution.Blocked):
		return irreproducible("it was blocked: nothing ran")
	case record.Reused != "":
		return irreproducible("nothing ran: it was given the result of " + record.Reused + ", which can be replayed")
	case len(record.Request) == 0:
		return irreproducible("its record keeps no request; set AUDIT_CODE=keep for executions to come")
	}
	ctx, release := s.attached(c)
	defer release()
	result, err := s.again(ctx, &run{job: Job{Request: execution.Request{Code: "0", Priority: "low"}, Caller: callerOf(c), ReceivedAt: s.deps.Now()}, id: s.deps.NewID()}, record)
	if exec := (*execution.Error)(nil); errors.As(err, &exec) && exec.Code == execution.InvalidRequest {
		return irreproducible(strings.TrimPrefix(exec.Message, "replay: "))
	}
	if err != nil {
		return err
	}
	differences := record.Differences(outcomeOf(result))
	return s.send(c, struct {
		ID          string           `json:"id"`
		Same        bool             `json:"same"`
		Differences []string         `json:"differences"`
		Result      execution.Result `json:"result"`
	}{record.ID, len(differences) == 0, differences, result})
}

func irreproducible(reason string) error {
	return &problem{status: 409, code: "not_replayable", detail: "this execution cannot be replayed: " + reason}
}

// again has a function run what a record tells.
func (s *Server) again(ctx context.Context, r *run, record audit.Record) (execution.Result, error) {
	place, err := s.place(ctx, r)
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
	running, cancel := context.WithTimeout(ctx, limit+s.cfg.Overhead)
	defer cancel()
	reply, err := s.deps.Invoker.Invoke(running, execution.Invocation{
		Airlock: execution.InvocationVersion, ID: r.id, Request: r.job.Request, Via: execution.ViaHTTP, ReceivedAt: r.job.ReceivedAt, QueueMs: milliseconds(r.queued),
		Caller: execution.Caller{Subject: r.job.Caller.Subject, Tenant: r.job.Caller.Tenant}, Replay: raw(record),
	}, nil)
	return reply.Result, err
}

// outcomeOf is what is compared of a result with a record.
func outcomeOf(result execution.Result) audit.Outcome {
	o := audit.Outcome{
		Status: string(result.Status), Result: result.Result, OutputBytes: result.Usage.OutputBytes, Ticks: result.Usage.Ticks,
		APICalls: result.Usage.APICalls,
	}
	if result.Error != nil {
		o.Error = *result.Error
	}
	if result.Limit != nil {
		o.Limit = *result.Limit
	}
	return o
}
