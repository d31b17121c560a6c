package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/idempotency"
)

// runOnce processes a message once. A message that its sender sends again gets the answer of the first time. A copy of
// a sending is refused if the scheme tells them apart. The mark that the store keeps ends with the id of the execution,
// so that what a process accepted before it died is not accepted a second time.
func (h *Handlers) runOnce(c *fiber.Ctx, f execution.SavedFunction, proof Proof, s api.Submission) error {
	ctx := c.UserContext()
	if proof.Key == "" {
		if err := h.charge(c, f); err != nil {
			return err
		}
		c.Set(api.ExecutionID, s.ID)
		answer, err := h.act(ctx, f, s)
		if err != nil {
			return err
		}
		return h.send(c, answer)
	}
	name := f.Tenant + "\x00" + f.Name + "\x00" + proof.Key
	key := execution.Key{
		Quota: execution.QuotaDeliveries, Tenant: f.Tenant, Subject: authn.Hook(f.Tenant, f.Name).Subject, Name: name,
	}
	own := s.ID
	begun, first, kept, err := h.Store.Begin(ctx, key, proof.Mark+" "+s.ID, s.ReceivedAt, proof.Until)
	mark, id, _ := strings.Cut(first, " ")
	switch {
	case err != nil:
		return err
	case !begun && kept == nil:
		return h.Access.CountRefused(c, &api.Problem{
			Status: 409, Code: "in_flight", Detail: "this delivery is still in progress", RetryAfter: time.Second,
		})
	case !begun && proof.Mark != "" && mark == proof.Mark:
		return h.Access.CountRefused(c, &api.Problem{
			Status: 409, Code: "replayed", Detail: "this delivery was accepted before; nothing was run",
		})
	case !begun:
		if err := h.chargeAgain(c, f, proof); err != nil {
			return err
		}
		var answer Answer
		if err := json.Unmarshal(kept, &answer); err != nil {
			return err
		}
		c.Set(api.Replayed, "true")
		return h.send(c, answer)
	case f.Hook.Async:
		s.ID = id
	}
	lasting := context.WithoutCancel(ctx)
	if id == own { // a delivery that a process accepted before it died was charged then
		if err := h.charge(c, f); err != nil {
			return errors.Join(err, h.Store.Abandon(lasting, name))
		}
	}
	c.Set(api.ExecutionID, s.ID)
	answer, err := h.act(ctx, f, s)
	if err != nil {
		return errors.Join(err, h.Store.Abandon(lasting, name))
	}
	if answer.Status >= 500 {
		return errors.Join(h.Store.Abandon(lasting, name), h.send(c, answer))
	}
	body, err := api.Encode(answer)
	if err != nil {
		return err
	}
	if err := h.Store.Finish(lasting, name, body); err != nil {
		return err
	}
	return h.send(c, answer)
}

// charge counts a verified delivery against the limit of its webhook and the quota of its tenant. A delivery that was
// not verified counts only against its address, so that strangers cannot use up either limit. The error refuses the
// delivery, which may be made again.
func (h *Handlers) charge(c *fiber.Ctx, f execution.SavedFunction) error {
	if err := h.Access.ChargeHook(c, f); err != nil {
		return err
	}
	return h.Access.ChargeTenant(c, f.Tenant)
}

// chargeAgain counts a message that was accepted before. If it could be a copy that somebody else made, it counts
// against the address alone.
func (h *Handlers) chargeAgain(c *fiber.Ctx, f execution.SavedFunction, proof Proof) error {
	if proof.Mark == "" {
		return h.Access.CountRefused(c, nil)
	}
	return h.charge(c, f)
}

// act keeps the event, so that it can be delivered again, and then runs the function or stores it as a job.
func (h *Handlers) act(ctx context.Context, f execution.SavedFunction, s api.Submission) (Answer, error) {
	if err := h.Store.KeepEvent(ctx, f.Tenant, f.Name, s.ID, s.Request.Input, s.ReceivedAt); err != nil {
		return Answer{}, err
	}
	if f.Hook.Async {
		if err := h.Jobs.Submit(ctx, s); err != nil {
			return Answer{}, err
		}
		body := api.Raw(map[string]any{"id": s.ID, "status": execution.Queued})
		headers := map[string]string{"Content-Type": fiber.MIMEApplicationJSON}
		return Answer{Status: 202, Headers: headers, Body: string(body)}, nil
	}
	// The context is not that of the connection: a sender that hangs up after ten seconds has delivered its event.
	result, err := h.Executor.Execute(ctx, s)
	if err != nil {
		return Answer{}, err
	}
	return h.answerOf(result)
}

// answerOf returns the answer to the sender for a result. The error is the problem of a result that is not an answer.
func (h *Handlers) answerOf(result execution.Result) (Answer, error) {
	switch limit := result.Limit; {
	case result.Status == execution.Completed:
	case result.Status == execution.TimedOut:
		return Answer{}, &api.Problem{
			Status: 504, Code: "function_timeout", Detail: "the execution " + result.ID + " took too long",
		}
	case result.Status == execution.Blocked:
		return Answer{}, &api.Problem{
			Status: 403, Code: "function_blocked", Detail: "the execution " + result.ID + " was blocked by policy",
		}
	case limit != nil:
		return Answer{}, limitProblem("the execution " + result.ID + " ended at the limit " + *limit)
	default:
		return Answer{}, &api.Problem{
			Status: 500, Code: "function_failed", Detail: "the execution " + result.ID + " failed",
		}
	}
	answer, ok := NewAnswer(result.Result, h.AnswerHeaders...)
	if !ok {
		return Answer{}, limitProblem("the execution " + result.ID + " returned more than a response can hold, which is " +
			strconv.Itoa(MaxAnswerBytes) + " bytes")
	}
	return answer, nil
}

func limitProblem(detail string) error {
	return &api.Problem{Status: 500, Code: "function_limit", Detail: detail}
}

// send responds with an answer. A page that code returns can run no script and reach nothing of this origin. Headers
// of an answer that an earlier release kept are dropped if they are not allowed any more.
func (h *Handlers) send(c *fiber.Ctx, answer Answer) error {
	answer.Restrict(h.AnswerHeaders)
	for name, value := range answer.Headers {
		c.Set(name, value)
	}
	c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'; frame-ancestors 'none'; sandbox")
	if answer.Status < 500 {
		idempotency.MarkDone(c)
	}
	return c.Status(answer.Status).SendString(answer.Body)
}
