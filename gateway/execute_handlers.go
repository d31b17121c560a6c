package gateway

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
)

// Turn implements api.Turns.
func (e *executor) Turn(ctx context.Context, tenant, subject string) (release func(), err error) {
	return e.admission.Turn(ctx, tenant, subject)
}

// Validate implements jobs.Executions. The policy decides about the submission when it runs.
func (e *executor) Validate(s api.Submission) error { return e.admission.validate(s) }

// read reads the submission of a request.
func (e *executor) read(c *fiber.Ctx) (api.Submission, error) { return e.admission.read(c, e.now) }

// serve serves POST /api/execute for a caller who waits.
func (e *executor) serve(c *fiber.Ctx) error {
	s, err := e.read(c)
	if err != nil {
		return err
	}
	return e.respond(c, s)
}

// respond runs a submission and responds with its result.
func (e *executor) respond(c *fiber.Ctx, s api.Submission) error {
	ctx, release := api.RunContext(c)
	defer release()
	result, err := e.Execute(ctx, s)
	if err != nil {
		return err
	}
	return e.send(c, result)
}

// send responds with a result.
func (e *executor) send(c *fiber.Ctx, result execution.Result) error {
	body, err := api.EncodeResult(e.results, result)
	if err != nil {
		return err
	}
	c.Set(api.ExecutionID, result.ID)
	if result.Status == execution.Paused {
		c.Set(fiber.HeaderLocation, api.ExecutionPath(result.ID))
		c.Status(202)
	}
	return api.SendJSON(c, body)
}
