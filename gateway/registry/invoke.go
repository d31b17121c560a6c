package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/functions"
)

// Call is what a caller asks of a saved function. Version and Alias are not given together; neither means latest. Of the
// Request only Input, Context, Timeout, Seed, Priority and Debug are looked at.
type Call struct {
	Name    string
	Version int
	Alias   string
	Request execution.Request
}

// called are the fields of a call.
var callFields = [...]string{"input", "context", "version", "alias", "timeout", "seed", "priority", "debug", "callback"}

// invokeFunction is POST /api/functions/{name}/invoke.
func (s *Server) invokeFunction(c *fiber.Ctx) error {
	received := s.deps.Now()
	call, callback, err := s.call(c)
	if err != nil {
		return err
	}
	caller := callerOf(c)
	if call.Request.Priority == "high" && !caller.May(authn.Priority) {
		return lacks(authn.Priority)
	}
	job := Job{
		Caller: caller, IP: utils.CopyString(c.IP()), Via: execution.ViaHTTP, ReceivedAt: received.UTC(),
		TraceParent: traceOf(c), Fresh: directive(c.Get(fiber.HeaderCacheControl), "no-store"),
	}
	if err := s.Bind(s.base, call, &job); err != nil {
		return err
	}
	if respondAsync(c) {
		return s.accept(c, job, callback)
	}
	if callback != nil {
		return needsAsync()
	}
	return s.answer(c, job)
}

// call reads a call; its body may be left out.
func (s *Server) call(c *fiber.Ctx) (Call, json.RawMessage, error) {
	name := param(c, "name")
	if len(c.Request().Body()) == 0 {
		return Call{Name: name}, nil, nil
	}
	if err := plainJSON(c); err != nil {
		return Call{Name: name}, nil, err
	}
	var callback json.RawMessage
	call, err := decoded(s, c, func(body []byte) (call Call, err error) {
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
			return call, nil, bad(clip(m.Name, 80), "is not a field of a call; accepted here: "+strings.Join(callFields[:], ", "))
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
			return call, nil, bad("version", "must be a whole number from 1")
		}
	}
	if v, ok := taken["alias"]; ok {
		if err := execution.DecodeMember("alias", v, &call.Alias, "the name of an alias"); err != nil {
			return call, nil, err
		}
	}
	return call, taken["callback"], nil
}

// Bind finds the function that a call means, of the tenant of the job's caller, and makes it what the job runs.
func (s *Server) Bind(ctx context.Context, call Call, job *Job) error {
	f, err := s.state.book.Get(ctx, job.Caller.Tenant, call.Name)
	if err != nil {
		return err
	}
	_, err = s.bind(ctx, f, call, job)
	return err
}

func (s *Server) bind(ctx context.Context, f execution.SavedFunction, call Call, job *Job) (execution.FunctionContent, error) {
	version, err := functions.Resolve(f, call.Version, call.Alias)
	if err != nil {
		return execution.FunctionContent{}, err
	}
	content, err := s.state.book.Content(ctx, f, version)
	if err != nil {
		return content, err
	}
	r, q := called(content), call.Request
	if len(q.Context) > 0 {
		merged := make(map[string]json.RawMessage, len(r.Context)+len(q.Context))
		for name, v := range q.Context {
			merged[name] = v
		}
		for name, v := range r.Context { // what was saved is not for callers to change
			merged[name] = v
		}
		r.Context = merged
	}
	r.Input, r.Seed, r.Priority, r.Debug = q.Input, q.Seed, q.Priority, q.Debug
	if q.Timeout > 0 && (r.Timeout == 0 || q.Timeout < r.Timeout) {
		r.Timeout = q.Timeout
	}
	job.Request, job.Content, job.Function = r, content.Sum, &execution.FunctionRef{Name: f.Name, Version: version}
	return content, nil
}

// submitScheduled makes a job of a function whose time has come.
func (s *Server) submitScheduled(ctx context.Context, f execution.SavedFunction, id string, at time.Time) error {
	call := Call{Name: f.Name, Request: execution.Request{Input: f.Schedule.Input}}
	if call.Request.Input == nil {
		call.Request.Input = raw(map[string]string{"scheduledAt": stamp(at)})
	}
	job := Job{
		ID: id, Caller: authn.Schedule(f.Tenant, f.Name), Via: execution.ViaSchedule, ReceivedAt: s.deps.Now().UTC(), Fresh: true,
	}
	content, err := s.bind(ctx, f, call, &job)
	if err != nil {
		return err
	}
	job.Caller.Scopes = content.Scopes
	return s.submit(ctx, jobOf(job))
}

// learnStart notes what a run of a saved function told of how it starts. The run does not depend on it.
func (s *Server) learnStart(ctx context.Context, r *run, result execution.Result) {
	f := r.job.Function
	if f == nil || result.Warm == nil || s.state == nil {
		return
	}
	err := s.state.book.Learn(context.WithoutCancel(ctx), r.job.Caller.Tenant, f.Name, f.Version, *result.Warm, result.ColdReason)
	if err != nil && !errors.Is(err, execution.ErrNotFound) { // it may have been deleted meanwhile
		s.deps.Logger.Warn("how a function starts was not noted", "function", f.Name, "error", err)
	}
}
