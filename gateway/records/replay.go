package records

import (
	"context"
	"errors"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/policy/audit"
)

// A Replayer has a function replay recorded executions. It is safe for concurrent use.
type Replayer interface {
	// Replay runs a recorded execution again, answered from its journal, after all other waiting executions. It reaches
	// nothing outside and writes no record. earlier are the records of what the execution continued.
	Replay(ctx context.Context, caller authn.Identity, record audit.Record, earlier []audit.Record) (execution.Result,
		error)
}

// Replay serves POST /api/audit/execution/{id}/replay.
func (h *Handlers) Replay(c *fiber.Ctx) error {
	record, err := h.record(c)
	if err != nil {
		return err
	}
	if err := governance.Replayable(record); err != nil {
		return notReplayable(err.Error())
	}
	ctx, release := api.DisconnectContext(c)
	defer release()
	earlier, err := audit.Earlier(ctx, h.Records, record)
	if errors.Is(err, audit.ErrIncomplete) || errors.Is(err, audit.ErrAltered) {
		return notReplayable(err.Error())
	}
	if err != nil {
		return api.RecordsUnavailable(err)
	}
	result, err := h.Replayer.Replay(ctx, api.CallerOf(c), record, earlier)
	if exec := (*execution.Error)(nil); errors.As(err, &exec) && exec.Code == execution.InvalidRequest {
		return notReplayable(strings.TrimPrefix(exec.Message, "replay: "))
	}
	if err != nil {
		return err
	}
	if record.ResultSHA256 == "" && string(result.Result) == "null" {
		result.Result = nil // it had no value, which JSON cannot express
	}
	differences := record.Differences(outcomeOf(result))
	return api.Send(c, struct {
		ID          string           `json:"id"`
		Same        bool             `json:"same"`
		Differences []string         `json:"differences"`
		Result      execution.Result `json:"result"`
	}{record.ID, len(differences) == 0, differences, result})
}

func notReplayable(reason string) error {
	return &api.Problem{
		Status: 409, Code: "not_replayable", Detail: "this execution cannot be replayed: " + reason,
	}
}

// outcomeOf returns what is compared between a result and a record.
func outcomeOf(result execution.Result) audit.Outcome {
	o := audit.Outcome{
		Status: string(result.Status), Result: result.Result, OutputBytes: result.Usage.OutputBytes,
		Ticks: result.Usage.Ticks, APICalls: result.Usage.APICalls, ExitCode: result.ExitCode,
	}
	if result.Error != nil {
		o.Error = *result.Error
	}
	if result.Limit != nil {
		o.Limit = *result.Limit
	}
	return o
}
