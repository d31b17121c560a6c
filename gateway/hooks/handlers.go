package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/hooks"
)

// executionID tells by which execution a request is answered, where the answer itself does not.
const executionID = "X-Execution-Id"

// hooksPath is where all webhooks go.
const hooksPath = "/hooks"

// hookPath is where the webhooks of a function go: those of the default tenant need not name it.
func hookPath(tenant, name string) string {
	if tenant == authn.DefaultTenant {
		return hooksPath + "/" + name
	}
	return hooksPath + "/" + url.PathEscape(tenant) + "/" + name
}

// hook is POST /hooks/{name} and /hooks/{tenant}/{name}: verify, run with the event as input, answer what the function
// returns. Failed attempts, and hooks that verify nothing, count against the sender's address.
func (s *Server) hook(c *fiber.Ctx) error {
	received := s.deps.Now()
	if coding := c.Get(fiber.HeaderContentEncoding); coding != "" && !strings.EqualFold(coding, "identity") {
		return &problem{status: 415, detail: "the body has a content coding; send it as it is, without Content-Encoding"}
	}
	f, err := s.hookOf(c)
	if err != nil {
		return s.counted(c, err)
	}
	header, body := headerOf(c), append([]byte(nil), c.Request().Body()...)
	proof, err := s.proved(c, f, func() (hooks.Proof, error) { return hooks.Verify(*f.Hook, header, body, received) })
	if err != nil {
		return err
	}
	if f.Hook.Scheme == hooks.None {
		if err := s.counted(c, nil); err != nil {
			return err
		}
	}
	values, err := url.ParseQuery(string(c.Request().URI().QueryString()))
	if err != nil {
		return bad("", "the query string does not parse")
	}
	event := hooks.NewEvent(*f.Hook, utils.CopyString(c.Method()), utils.CopyString(c.Path()), values, header, body)
	input, err := json.Marshal(event)
	if err != nil {
		return bad("", "the event cannot be written as JSON")
	}
	again := func(c *fiber.Ctx) error { return s.charge(c, f) }
	return s.oncePerKey(c, authn.Hook(f.Tenant, f.Name).Owner(), f.Hook.Async, again, func(c *fiber.Ctx) error {
		job, err := s.hooked(c, f, input, s.newID(c), received)
		if err != nil {
			return err
		}
		return s.onlyOnce(c, f, proof, job)
	})
}

// hooked is the execution that an event begins: on behalf of nobody, with what whoever saved the function was granted.
func (s *Server) hooked(c *fiber.Ctx, f execution.SavedFunction, event []byte, id string, received time.Time) (Job, error) {
	job := Job{
		Caller: authn.Hook(f.Tenant, f.Name), IP: utils.CopyString(c.IP()), Via: execution.ViaHook,
		ReceivedAt: received.UTC(), Fresh: true, ID: id, TraceParent: traceOf(c),
	}
	content, err := s.bind(s.base, f, Call{Name: f.Name, Alias: f.Hook.Alias, Request: execution.Request{Input: event}}, &job)
	job.Caller.Scopes = content.Scopes
	return job, err
}

// hookOf finds the function with a hook that the path names. That there is a function without one is not told.
func (s *Server) hookOf(c *fiber.Ctx) (execution.SavedFunction, error) {
	tenant := authn.DefaultTenant
	if given := c.Params("tenant"); given != "" {
		var err error
		if tenant, err = url.PathUnescape(utils.CopyString(given)); err != nil || len(tenant) > 128 {
			tenant = ""
		}
	}
	f, err := s.state.book.Get(s.base, tenant, param(c, "name"))
	if errors.Is(err, execution.ErrNotFound) || err == nil && f.Hook == nil {
		return f, &problem{status: 404, detail: "there is no webhook target at this path"}
	}
	return f, err
}

// charge counts a delivery that was verified: against the limit of its hook, and against the quota of its tenant.
// What was not verified counts against its address alone (see counted), so that nobody else can use up either. Its
// error refuses the delivery, which may be made again.
func (s *Server) charge(c *fiber.Ctx, f execution.SavedFunction) error {
	if err := s.hookLimit(c, f); err != nil {
		return err
	}
	return s.quota(c, f.Tenant)
}

// hookLimit counts a delivery, or an event that is tried or delivered again, against the limit of its hook.
func (s *Server) hookLimit(c *fiber.Ctx, f execution.SavedFunction) error {
	verdict, err := s.deps.HookLimiter.Take(context.WithoutCancel(s.base), "hook:"+f.Tenant+"/"+f.Name)
	if err != nil {
		return err
	}
	if !verdict.Allowed {
		return tooMany(c, verdict)
	}
	return nil
}

// counted counts an attempt against the sender's address, and returns the error of one that went too far. The
// count is apart from that of failed logins.
func (s *Server) counted(c *fiber.Ctx, err error) error {
	verdict, limiting := s.deps.Limiter.Take(context.WithoutCancel(s.base), "sender:"+network(c.IP()))
	if limiting != nil {
		return limiting
	}
	if !verdict.Allowed {
		return tooMany(c, verdict)
	}
	return err
}

func headerOf(c *fiber.Ctx) http.Header {
	h := http.Header{}
	for name, value := range c.Request().Header.All() {
		h.Add(string(name), string(value))
	}
	return h
}

// onlyOnce has a delivery acted upon once. The very same one again is refused; one that its sender signed anew,
// not knowing that it had arrived, is given the answer of the first. The mark that is kept ends with the
// execution's id: what a process accepted before it died is not accepted a second time.
func (s *Server) onlyOnce(c *fiber.Ctx, f execution.SavedFunction, proof hooks.Proof, job Job) error {
	if proof.Key == "" {
		if err := s.charge(c, f); err != nil {
			return err
		}
		c.Set(executionID, job.ID)
		answer, err := s.react(f, job)
		if err != nil {
			return err
		}
		return s.reply(c, answer)
	}
	key := f.Tenant + "\x00" + f.Name + "\x00" + proof.Key
	taking := execution.Key{Quota: execution.QuotaDeliveries, Tenant: f.Tenant, Subject: authn.Hook(f.Tenant, f.Name).Subject, Name: key}
	mine := job.ID
	begun, first, kept, err := s.state.Begin(s.base, taking, proof.Mark+" "+job.ID, job.ReceivedAt, proof.Until)
	mark, id, _ := strings.Cut(first, " ")
	switch {
	case err != nil:
		return err
	case !begun && kept == nil:
		return s.counted(c, &problem{status: 409, code: "in_flight", detail: "this delivery is being answered", retryAfter: time.Second})
	case !begun && mark == proof.Mark:
		return s.counted(c, &problem{status: 409, code: "replayed", detail: "this delivery was taken before; nothing was run"})
	case !begun:
		if err := s.charge(c, f); err != nil {
			return err
		}
		var answer hooks.Answer
		if err := json.Unmarshal(kept, &answer); err != nil {
			return err
		}
		c.Set(replayed, "true")
		return s.reply(c, answer)
	case f.Hook.Async:
		job.ID = id
	}
	if id == mine { // what a process accepted before it died was charged then
		if err := s.charge(c, f); err != nil {
			return errors.Join(err, s.state.Abandon(context.WithoutCancel(s.base), key))
		}
	}
	c.Set(executionID, job.ID)
	answer, err := s.react(f, job)
	if err != nil || answer.Status >= 500 {
		return errors.Join(err, s.state.Abandon(context.WithoutCancel(s.base), key), s.unlessFailed(c, answer, err))
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	if err := s.state.Finish(context.WithoutCancel(s.base), key, body); err != nil {
		return err
	}
	return s.reply(c, answer)
}

func (s *Server) unlessFailed(c *fiber.Ctx, answer hooks.Answer, err error) error {
	if err != nil {
		return nil
	}
	return s.reply(c, answer)
}

// react runs the function, or keeps it as a job, once the event is kept: it can be delivered again.
func (s *Server) react(f execution.SavedFunction, job Job) (hooks.Answer, error) {
	if err := s.state.KeepEvent(s.base, f.Tenant, f.Name, job.ID, job.Request.Input, job.ReceivedAt); err != nil {
		return hooks.Answer{}, err
	}
	if f.Hook.Async {
		if err := s.submit(s.base, jobOf(job)); err != nil {
			return hooks.Answer{}, err
		}
		body := raw(map[string]any{"id": job.ID, "status": execution.Queued})
		return hooks.Answer{Status: 202, Headers: map[string]string{"Content-Type": fiber.MIMEApplicationJSON}, Body: string(body)}, nil
	}
	// A sender that hangs up after ten seconds has sent its event all the same.
	result, err := s.Execute(s.base, job)
	if err != nil {
		return hooks.Answer{}, err
	}
	return s.answerOf(result)
}

// answerOf is what a sender is answered for a result; the error is for one that is none.
func (s *Server) answerOf(result execution.Result) (hooks.Answer, error) {
	switch result.Status {
	case execution.Completed:
	case execution.TimedOut:
		return hooks.Answer{}, &problem{status: 504, code: "function_timeout", detail: "the execution " + result.ID + " took too long"}
	case execution.Blocked:
		return hooks.Answer{}, &problem{status: 403, code: "function_blocked", detail: "the execution " + result.ID + " was blocked by policy"}
	default:
		return hooks.Answer{}, &problem{status: 500, code: "function_failed", detail: "the execution " + result.ID + " failed"}
	}
	answer, ok := hooks.NewAnswer(result.Result, s.cfg.HookAnswerHeaders...)
	if !ok {
		return hooks.Answer{}, &problem{status: 500, code: "function_failed", detail: "the execution " + result.ID + " returned more than an answer can hold"}
	}
	return answer, nil
}

// reply answers a sender. A page that code returns runs nothing and reaches nothing of this origin. An answer that
// an earlier release kept may have headers that no longer pass.
func (s *Server) reply(c *fiber.Ctx, answer hooks.Answer) error {
	answer.Restrict(s.cfg.HookAnswerHeaders)
	for name, value := range answer.Headers {
		c.Set(name, value)
	}
	c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'; frame-ancestors 'none'; sandbox")
	c.Locals(didKey{}, answer.Status < 500)
	return c.Status(answer.Status).SendString(answer.Body)
}
