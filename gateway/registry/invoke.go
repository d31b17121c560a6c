package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
)

// A Call asks for a run of a saved function. Version and Alias exclude each other; without either, the latest version
// runs. Of Request, only Input, Context, Timeout, Seed, Priority and Debug count.
type Call struct {
	Name    string
	Version int
	Alias   string
	Request execution.Request
}

// callFields are the fields of a call.
var callFields = [...]string{
	"input", "context", "version", "alias", "timeout", "seed", "priority", "debug", "callback",
}

// Invoke serves POST /api/functions/{name}/invoke.
func (h *Handlers) Invoke(c *fiber.Ctx) error {
	received := h.Now()
	call, callback, err := h.readCall(c)
	if err != nil {
		return err
	}
	if err := api.CheckPriority(api.CallerOf(c), call.Request); err != nil {
		return err
	}
	s := api.NewSubmission(c, execution.Request{}, received)
	if err := h.Registry.Bind(c.UserContext(), call, &s); err != nil {
		return err
	}
	if api.RespondAsync(c) {
		return h.Accept(c, s, callback)
	}
	if callback != nil {
		return api.Invalid(
			"callback", "needs the header Prefer: respond-async; a caller who waits for the response is not called back",
		)
	}
	return h.Respond(c, s)
}

// readCall reads a call. Its body is optional.
func (h *Handlers) readCall(c *fiber.Ctx) (Call, json.RawMessage, error) {
	name := api.Param(c, "name")
	if len(c.Request().Body()) == 0 {
		return Call{Name: name}, nil, nil
	}
	if err := api.RequireJSON(c); err != nil {
		return Call{Name: name}, nil, err
	}
	var callback json.RawMessage
	call, err := api.Decode(c, h.Policy, func(body []byte) (call Call, err error) {
		call, callback, err = decodeCall(body)
		return call, err
	})
	call.Name = name
	return call, callback, err
}

func decodeCall(body []byte) (call Call, callback json.RawMessage, err error) {
	members, err := execution.Members(body)
	if err != nil {
		return call, nil, err
	}
	taken := map[string]json.RawMessage{}
	rest := []execution.Member{{Name: "code", Value: json.RawMessage(`"0"`)}} // the version has the code
	for _, m := range members {
		switch {
		case !slices.Contains(callFields[:], m.Name):
			return call, nil, api.Invalid(
				api.Clip(m.Name, 80), "is not a field of a call; accepted here: "+strings.Join(callFields[:], ", "))
		case m.Name != "version" && m.Name != "alias" && m.Name != "callback":
			rest = append(rest, m)
		case string(m.Value) != "null":
			taken[m.Name] = bytes.Clone(m.Value)
		}
	}
	if call.Request, err = execution.DecodeRequest(execution.JoinMembers(rest)); err != nil {
		return call, nil, err
	}
	if v, ok := taken["version"]; ok {
		if err := execution.DecodeMember("version", v, &call.Version, "the number of a version"); err != nil {
			return call, nil, err
		}
		if call.Version < 1 {
			return call, nil, api.Invalid("version", "must be a whole number from 1")
		}
	}
	if v, ok := taken["alias"]; ok {
		if err := execution.DecodeMember("alias", v, &call.Alias, "the name of an alias"); err != nil {
			return call, nil, err
		}
	}
	return call, taken["callback"], nil
}

// requestOf returns the request that a version stands for. Its env becomes the global env.
func requestOf(content execution.FunctionContent) execution.Request {
	r := content.Request
	if len(content.Env) > 0 {
		global := make(map[string]json.RawMessage, len(r.Context)+1)
		for name, v := range r.Context {
			global[name] = v
		}
		global["env"] = api.Raw(content.Env)
		r.Context = global
	}
	return r
}

// Bind makes a submission run the function that a call names, of the tenant of its caller.
func (r *Registry) Bind(ctx context.Context, call Call, s *api.Submission) error {
	f, err := r.Get(ctx, s.Caller.Tenant, call.Name)
	if err != nil {
		return err
	}
	_, err = r.bind(ctx, f, call, s)
	return err
}

// BindHook makes a submission run the function of a webhook with an event as its input, as the webhook, with the scopes
// of the caller who saved the version.
func (r *Registry) BindHook(
	ctx context.Context, f execution.SavedFunction, event json.RawMessage, s *api.Submission,
) error {
	call := Call{Name: f.Name, Alias: f.Hook.Alias}
	call.Request.SetInput(event)
	content, err := r.bind(ctx, f, call, s)
	s.Caller = authn.Hook(f.Tenant, f.Name)
	s.Caller.Scopes = content.Scopes
	return err
}

// BindSchedule returns the submission of a function whose scheduled time has come, with the scopes of the caller who
// saved the version. Its ID and its time of receipt are those of the scheduled time, even if it makes up for a missed
// run, so that the audit record is filed under that day.
func (r *Registry) BindSchedule(
	ctx context.Context, f execution.SavedFunction, id string, at time.Time,
) (api.Submission, error) {
	call := Call{Name: f.Name, Request: execution.Request{Input: f.Schedule.Input}}
	if call.Request.Input == nil {
		call.Request.Input = api.Raw(map[string]string{"scheduledAt": api.Stamp(at)})
	}
	s := api.Submission{
		ID: id, Caller: authn.Schedule(f.Tenant, f.Name), Via: execution.ViaSchedule, ReceivedAt: at.UTC(),
		Fresh: true,
	}
	content, err := r.bind(ctx, f, call, &s)
	s.Caller.Scopes = content.Scopes
	return s, err
}

func (r *Registry) bind(
	ctx context.Context, f execution.SavedFunction, call Call, s *api.Submission,
) (execution.FunctionContent, error) {
	version, err := Resolve(f, call.Version, call.Alias)
	if err != nil {
		return execution.FunctionContent{}, err
	}
	content, err := r.Content(ctx, f, version)
	if err != nil {
		return content, err
	}
	request, given := requestOf(content), call.Request
	if len(given.Context) > 0 {
		merged := make(map[string]json.RawMessage, len(request.Context)+len(given.Context))
		for name, v := range given.Context {
			merged[name] = v
		}
		for name, v := range request.Context { // a caller cannot change what was saved
			merged[name] = v
		}
		request.Context = merged
	}
	request.CopyInput(given)
	request.Seed = given.Seed
	request.Priority, request.Debug = given.Priority, given.Debug
	if given.Timeout > 0 && (request.Timeout == 0 || given.Timeout < request.Timeout) {
		request.Timeout = given.Timeout
	}
	s.Request, s.Content = request, content.Sum
	s.Function = &execution.FunctionRef{Name: f.Name, Version: version}
	return content, nil
}
