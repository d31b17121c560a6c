package gateway

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/hooks"
	"github.com/airlock-run/airlock/policy/audit"
)

// tried is what came of an event that no sender sent.
type tried struct {
	Event     json.RawMessage  `json:"event"`
	Answer    *hooks.Answer    `json:"answer"` // what the sender would be answered; null where that is a problem
	Problem   string           `json:"problem,omitempty"`
	Execution execution.Result `json:"execution"`
}

// hookFunction finds the function that the path names, of the caller's tenant, when it has a hook.
func (s *Server) hookFunction(c *fiber.Ctx) (execution.SavedFunction, error) {
	f, err := s.found(c)
	if err == nil && f.Hook == nil {
		err = &problem{status: 409, code: "no_hook", detail: "the function has no hook; save it with one"}
	}
	return f, err
}

// dryRun is POST /api/functions/{name}/hook/dry-run: a sample goes the way of a delivery, signed with the hook's own secret,
// and what a sender would be answered is told. Nothing is remembered of it: the same sample can be tried any number of times,
// and a delivery like it is still taken. The function does run, as the caller, and leaves its record.
func (s *Server) dryRun(c *fiber.Ctx) error {
	received := s.deps.Now()
	f, err := s.hookFunction(c)
	if err != nil {
		return err
	}
	if err := s.hookLimit(c, f); err != nil { // the tenant's quota was taken with the request
		return err
	}
	event, err := s.sampled(c, f)
	if err != nil {
		return err
	}
	job, err := s.hooked(c, f, event, s.deps.NewID(), received)
	if err != nil {
		return err
	}
	job.Caller, job.Via = callerOf(c), execution.ViaHTTP
	return s.tryEvent(c, job, event)
}

// sampled gives the event that the body names: a stored sample, or an earlier execution of the hook.
func (s *Server) sampled(c *fiber.Ctx, f execution.SavedFunction) (json.RawMessage, error) {
	var body struct {
		Sample    string `json:"sample"`
		Execution string `json:"execution"`
	}
	err := s.small(c, &body, "an object with the field sample, or the field execution, a string")
	switch {
	case err != nil:
		return nil, err
	case (body.Sample == "") == (body.Execution == ""):
		return nil, bad("sample", "is required, or execution in its place: the name of a sample, or the id of an execution of this hook")
	case body.Execution != "":
		return s.eventOf(f, body.Execution)
	}
	known, err := hooks.Samples(f.Hook.Scheme)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, k := range known {
		if names = append(names, k.Name); k.Name == body.Sample {
			return s.delivered(f, k)
		}
	}
	return nil, bad("sample", "must be one of "+strings.Join(names, ", "))
}

// delivered signs a sample and takes it as a delivery is taken.
func (s *Server) delivered(f execution.SavedFunction, sample hooks.Sample) (json.RawMessage, error) {
	now, body := s.deps.Now(), []byte(sample.Body)
	header, err := hooks.Sign(*f.Hook, "msg_"+strings.TrimPrefix(s.deps.NewID(), "exec_"), body, now)
	if err != nil {
		return nil, err
	}
	for name, value := range sample.Headers {
		header.Set(name, value)
	}
	if _, err := hooks.Verify(*f.Hook, header, body, now); err != nil {
		return nil, err
	}
	event, err := json.Marshal(hooks.NewEvent(*f.Hook, fiber.MethodPost, hookPath(f.Tenant, f.Name), url.Values{}, header, body))
	if err != nil {
		return nil, &problem{status: 500, cause: err}
	}
	return event, nil
}

// redeliver is POST /api/functions/{name}/hook/redeliver: the event of an earlier execution of the hook is acted upon again,
// by the function as it is now. Where the hook answers first and runs later, so does this.
func (s *Server) redeliver(c *fiber.Ctx) error {
	received := s.deps.Now()
	f, err := s.hookFunction(c)
	if err != nil {
		return err
	}
	if err := s.hookLimit(c, f); err != nil { // the tenant's quota was taken with the request
		return err
	}
	var body struct {
		Execution string `json:"execution"`
	}
	if err := s.small(c, &body, "an object with the field execution, a string"); err != nil {
		return err
	}
	event, err := s.eventOf(f, body.Execution)
	if err != nil {
		return err
	}
	job, err := s.hooked(c, f, event, s.newID(c), received)
	if err != nil {
		return err
	}
	if err := s.state.KeepEvent(s.base, f.Tenant, f.Name, job.ID, event, received); err != nil {
		return err
	}
	if f.Hook.Async {
		return s.accept(c, job, nil)
	}
	return s.tryEvent(c, job, event)
}

// eventOf finds what an earlier execution of the hook was given: in the state, or in its audit record, where the deployment
// has records hold requests.
func (s *Server) eventOf(f execution.SavedFunction, id string) (json.RawMessage, error) {
	if !execution.ValidID(id) {
		return nil, bad("execution", `must be the id of an execution of this hook: "exec_" and 10 to 64 letters or digits`)
	}
	event, err := s.state.Event(s.base, f.Tenant, f.Name, id)
	if err == nil {
		return hooks.Kept(*f.Hook, event), nil
	}
	if !errors.Is(err, execution.ErrNotFound) {
		return nil, err
	}
	record, err := s.deps.Records.Get(s.base, id)
	mine := err == nil && record.Caller.Tenant == f.Tenant && record.Caller.Subject == authn.Hook(f.Tenant, f.Name).Subject && record.Via == execution.ViaHook
	switch {
	case err != nil && !errors.Is(err, audit.ErrNotFound):
		return nil, unreadable(err)
	case !mine:
		return nil, &problem{status: 404, detail: "there is no execution of this hook with this id"}
	}
	var request execution.Request
	if json.Unmarshal(record.Request, &request) != nil || len(request.Input) == 0 {
		return nil, &problem{status: 409, code: "event_gone", detail: "the event is kept no more, and its audit record does not hold it; with AUDIT_CODE=keep records do"}
	}
	return hooks.Kept(*f.Hook, request.Input), nil
}

// tryEvent runs the function and tells what the sender would be answered.
func (s *Server) tryEvent(c *fiber.Ctx, job Job, event json.RawMessage) error {
	result, err := s.Execute(s.base, job)
	if err != nil {
		return err
	}
	out := tried{Event: event, Execution: result}
	if answer, err := s.answerOf(result); err != nil {
		out.Problem = problemOf(err).detail
	} else {
		out.Answer = &answer
	}
	return s.send(c, out)
}
