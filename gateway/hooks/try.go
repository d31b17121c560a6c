package hooks

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/policy/audit"
)

// trial is the outcome of a dry run or a redelivery.
type trial struct {
	Event     json.RawMessage  `json:"event"`
	Answer    *Answer          `json:"answer"` // to the sender; null if that would be a problem
	Problem   string           `json:"problem,omitempty"`
	Execution execution.Result `json:"execution"`
}

// ownTarget returns the function that the path names, of the caller's tenant, if it has a webhook.
func (h *Handlers) ownTarget(c *fiber.Ctx) (execution.SavedFunction, error) {
	f, err := h.Functions.Get(c.UserContext(), api.CallerOf(c).Tenant, api.Param(c, "name"))
	if err == nil && f.Hook == nil {
		err = &api.Problem{Status: 409, Code: "no_hook", Detail: "the function has no hook; save it with one"}
	}
	return f, err
}

// DryRun serves POST /api/functions/{name}/hook/dry-run: it signs a sample with the webhook's own secret, processes it
// like a delivery, and shows the answer that a sender would get. It remembers nothing: the same sample can be tried
// again, and a delivery like it is still accepted. The function does run, as the caller, and leaves its record.
func (h *Handlers) DryRun(c *fiber.Ctx) error {
	received := h.Now()
	f, err := h.ownTarget(c)
	if err != nil {
		return err
	}
	if err := h.Access.ChargeHook(c, f); err != nil { // the tenant was charged for the request
		return err
	}
	event, err := h.chosenEvent(c, f)
	if err != nil {
		return err
	}
	s, err := h.submission(c, f, event, h.NewID(), received)
	if err != nil {
		return err
	}
	s.Caller, s.Via = api.CallerOf(c), execution.ViaHTTP
	return h.try(c, s, event)
}

// chosenEvent returns the event that the body names: a stored sample, or that of an earlier execution of the webhook.
func (h *Handlers) chosenEvent(c *fiber.Ctx, f execution.SavedFunction) (json.RawMessage, error) {
	var body struct {
		Sample    string `json:"sample"`
		Execution string `json:"execution"`
	}
	err := api.DecodeSmall(c, &body, "an object with the field sample, or the field execution, a string")
	switch {
	case err != nil:
		return nil, err
	case (body.Sample == "") == (body.Execution == ""):
		return nil, api.Invalid("sample",
			"is required, or execution in its place: the name of a sample, or the id of an execution of this hook")
	case body.Execution != "":
		return h.eventOf(c, f, body.Execution)
	}
	samples, err := Samples(f.Hook.Scheme)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, sample := range samples {
		if names = append(names, sample.Name); sample.Name == body.Sample {
			return h.signedEvent(f, sample)
		}
	}
	return nil, api.Invalid("sample", "must be one of "+strings.Join(names, ", "))
}

// signedEvent signs a sample and verifies it like a delivery.
func (h *Handlers) signedEvent(f execution.SavedFunction, sample Sample) (json.RawMessage, error) {
	now, body := h.Now(), []byte(sample.Body)
	header, err := Sign(*f.Hook, "msg_"+strings.TrimPrefix(h.NewID(), "exec_"), body, now)
	if err != nil {
		return nil, err
	}
	for name, value := range sample.Headers {
		header.Set(name, value)
	}
	if _, err := Verify(*f.Hook, header, body, now); err != nil {
		return nil, err
	}
	event := NewEvent(*f.Hook, fiber.MethodPost, PathOf(f.Tenant, f.Name), url.Values{}, header, body)
	return written(event, h.MaxEventBytes)
}

// Redeliver serves POST /api/functions/{name}/hook/redeliver: the current version of the function processes the event
// of an earlier execution of the webhook. Where the webhook responds first and runs later, so does this.
func (h *Handlers) Redeliver(c *fiber.Ctx) error {
	received := h.Now()
	f, err := h.ownTarget(c)
	if err != nil {
		return err
	}
	if err := h.Access.ChargeHook(c, f); err != nil { // the tenant was charged for the request
		return err
	}
	var body struct {
		Execution string `json:"execution"`
	}
	if err := api.DecodeSmall(c, &body, "an object with the field execution, a string"); err != nil {
		return err
	}
	event, err := h.eventOf(c, f, body.Execution)
	if err != nil {
		return err
	}
	s, err := h.submission(c, f, event, h.Keys.NewID(c), received)
	if err != nil {
		return err
	}
	if err := h.Store.KeepEvent(c.UserContext(), f.Tenant, f.Name, s.ID, event, received); err != nil {
		return err
	}
	if f.Hook.Async {
		return h.Jobs.Accept(c, s, nil)
	}
	return h.try(c, s, event)
}

// eventOf returns the event of an earlier execution of the webhook: from the store, or from its audit record if the
// deployment keeps requests in records.
func (h *Handlers) eventOf(c *fiber.Ctx, f execution.SavedFunction, id string) (json.RawMessage, error) {
	if !execution.ValidID(id) {
		return nil, api.Invalid("execution",
			`must be the id of an execution of this hook: "exec_" and 10 to 64 letters or digits`)
	}
	event, err := h.Store.Event(c.UserContext(), f.Tenant, f.Name, id)
	if err == nil {
		return Kept(*f.Hook, event), nil
	}
	if !errors.Is(err, execution.ErrNotFound) {
		return nil, err
	}
	record, err := h.Records.Get(c.UserContext(), id)
	own := err == nil && record.Caller.Tenant == f.Tenant && record.Via == execution.ViaHook &&
		record.Caller.Subject == authn.Hook(f.Tenant, f.Name).Subject
	switch {
	case err != nil && !errors.Is(err, audit.ErrNotFound):
		return nil, api.RecordsUnavailable(err)
	case !own:
		return nil, api.NotFound("there is no execution of this hook with this id")
	}
	var request execution.Request
	if json.Unmarshal(record.Request, &request) != nil || len(request.Input) == 0 {
		return nil, &api.Problem{
			Status: 409, Code: "event_gone",
			Detail: "the event has expired, and its audit record does not contain it; set AUDIT_CODE=keep to record events",
		}
	}
	return Kept(*f.Hook, request.Input), nil
}

// try runs the function and shows the answer that a sender would get.
func (h *Handlers) try(c *fiber.Ctx, s api.Submission, event json.RawMessage) error {
	result, err := h.Executor.Execute(c.UserContext(), s)
	if err != nil {
		return err
	}
	out := trial{Event: event, Execution: result}
	if answer, err := h.answerOf(result); err != nil {
		out.Problem = h.Detail(err)
	} else {
		out.Answer = &answer
	}
	return api.Send(c, out)
}
