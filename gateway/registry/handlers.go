package gateway

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/functions"
	"github.com/airlock-run/airlock/gateway/hooks"
	"github.com/airlock-run/airlock/gateway/schedule"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/threat"
)

// putFunction is PUT /api/functions/{name}: 201 for content that was not there, 200 for content that was.
func (s *Server) putFunction(c *fiber.Ctx) error {
	if err := plainJSON(c); err != nil {
		return err
	}
	d, err := decoded(s, c, functions.Decode)
	if err != nil {
		return err
	}
	needsSecret := false
	if d.Hook != nil {
		if err := hooks.Check(*d.Hook); err != nil {
			return err
		}
		if needsSecret = hooks.NeedsSecret(d.Hook.Scheme); needsSecret && d.Hook.Secret == "" {
			if err := s.keptSecret(c, *d.Hook); err != nil {
				return err
			}
		}
	}
	if d.Schedule != nil {
		if err := schedule.Check(d.Schedule, s.deps.Now()); err != nil {
			return err
		}
	}
	caller := callerOf(c)
	d.Content.Scopes = restricting(caller.Scopes)
	slices.Sort(d.Content.Scopes)
	ctx, release := s.attached(c)
	defer release()
	decision, err := s.decider.analyze(ctx, askOf(Job{Request: called(d.Content), Caller: caller, Function: &execution.FunctionRef{}}))
	if err != nil {
		return err
	}
	if bad, ok := decision.BadField(); ok {
		return &execution.Error{Code: execution.InvalidRequest, Field: bad.Field, Message: bad.Message}
	}
	if decision.SyntaxError != nil {
		return unparsed(d.Content.Request.Entry, decision.SyntaxError)
	}
	f, v, created, err := s.state.book.Put(s.base, caller.Tenant, param(c, "name"), caller.Subject, d, needsSecret)
	if err != nil {
		return err
	}
	if created {
		c.Status(201)
	}
	c.Set(fiber.HeaderLocation, "/api/functions/"+f.Name)
	type verdict struct {
		Allow   bool     `json:"allow"`
		Reasons []string `json:"reasons"`
	}
	return s.send(c, struct {
		functionView
		DangerAnalysis threat.Analysis `json:"dangerAnalysis"`
		Decision       verdict         `json:"decision"`
	}{viewOf(f, v), decision.Analysis, verdict{decision.Effect == policy.Allow, decision.ReasonLines()}})
}

// keptSecret refuses to go on with a stored secret that is too short: an earlier release took any.
func (s *Server) keptSecret(c *fiber.Ctx, hook execution.FunctionHook) error {
	have, err := s.found(c)
	if errors.Is(err, execution.ErrNotFound) || err == nil && (have.Hook == nil || have.Hook.Scheme != hook.Scheme) {
		return nil // that a secret is missing is said where the function is saved
	}
	if err != nil {
		return err
	}
	hook.Secret = have.Hook.Secret
	return hooks.Check(hook)
}

// unparsed refuses code that could never run.
func unparsed(entry string, e *threat.SyntaxError) error {
	field := "code"
	if file := cmp.Or(e.File, entry); file != "" {
		field = "files." + file
	}
	return &problem{
		status: 400, code: string(execution.InvalidRequest), field: field, line: e.Line, column: e.Column,
		detail: fmt.Sprintf("%s: does not parse at line %d, column %d: %s", field, e.Line, e.Column, e.Message),
	}
}

// called is the request that a version makes: its env is the global env.
func called(content execution.FunctionContent) execution.Request {
	r := content.Request
	if len(content.Env) > 0 {
		global := make(map[string]json.RawMessage, len(r.Context)+1)
		for name, v := range r.Context {
			global[name] = v
		}
		global["env"] = raw(content.Env)
		r.Context = global
	}
	return r
}

// functionView is a function as it is shown. It has no place for a secret.
type functionView struct {
	Name       string `json:"name"`
	Version    int    `json:"version"`
	CodeSHA256 string `json:"codeSha256"`
	CodeBytes  int    `json:"codeBytes"`
	CreatedAt  string `json:"createdAt"`
	CreatedBy  string `json:"createdBy"`
	// Warm says whether runs start where the version's top level ends; null until one has run.
	Warm       *bool          `json:"warm"`
	ColdReason string         `json:"coldReason,omitempty"`
	UpdatedAt  string         `json:"updatedAt"`
	Versions   int            `json:"versions"`
	Aliases    map[string]int `json:"aliases"`
	Hook       *hookView      `json:"hook"`
	Schedule   *scheduleView  `json:"schedule"`
}

type hookView struct {
	Scheme string `json:"scheme"`
	Path   string `json:"path"`
	// Headers are where the signature or the secret is looked for, and Sees what the code is given.
	Headers          []string `json:"headers,omitempty"`
	Sees             []string `json:"sees"`
	ToleranceSeconds int      `json:"toleranceSeconds,omitempty"`
	Async            bool     `json:"async"`
	Alias            string   `json:"alias,omitempty"`
	SecretSet        bool     `json:"secretSet"`
}

type scheduleView struct {
	Cron     string          `json:"cron"`
	TimeZone string          `json:"timeZone"`
	Missed   string          `json:"missed"`
	Input    json.RawMessage `json:"input,omitempty"`
	Next     string          `json:"next,omitempty"`
}

func viewOf(f execution.SavedFunction, v execution.FunctionVersion) functionView {
	view := functionView{
		Name: f.Name, Version: v.Version, CodeSHA256: v.CodeSHA256, CodeBytes: v.CodeBytes, CreatedAt: stamp(v.CreatedAt), CreatedBy: v.CreatedBy, Warm: v.Warm, ColdReason: v.ColdReason,
		UpdatedAt: stamp(f.UpdatedAt), Versions: len(f.Versions), Aliases: map[string]int{},
	}
	for name, a := range f.Aliases {
		view.Aliases[name] = a.Version
	}
	if h := f.Hook; h != nil {
		view.Hook = &hookView{h.Scheme, hookPath(f.Tenant, f.Name), hooks.Headers(*h), hooks.Sees(*h), h.ToleranceSeconds, h.Async, h.Alias, h.Secret != ""}
	}
	if sc := f.Schedule; sc != nil {
		view.Schedule = &scheduleView{sc.Cron, sc.TimeZone, sc.Missed, sc.Input, stamp(sc.Next)}
	}
	return view
}

// latestOf gives the version that runs when none is named.
func latestOf(f execution.SavedFunction) execution.FunctionVersion {
	return f.Versions[f.Aliases[functions.Latest].Version-1]
}

// found gives the function that the path names, of the caller's tenant.
func (s *Server) found(c *fiber.Ctx) (execution.SavedFunction, error) {
	return s.state.book.Get(s.base, callerOf(c).Tenant, param(c, "name"))
}

func param(c *fiber.Ctx, name string) string { return utils.CopyString(c.Params(name)) }

// getFunction is GET /api/functions/{name}?version|alias: with what it runs, latest unless another is named.
func (s *Server) getFunction(c *fiber.Ctx) error {
	f, err := s.found(c)
	if err != nil {
		return err
	}
	given, err := query(c, "version", "alias")
	if err != nil {
		return err
	}
	n, err := versionNumber(given["version"])
	if err != nil {
		return err
	}
	if n, err = functions.Resolve(f, n, given["alias"]); err != nil {
		return err
	}
	return s.sendVersion(c, f, n)
}

func versionNumber(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > functions.MaxVersions {
		return 0, bad("version", "must be a whole number from 1")
	}
	return n, nil
}

func (s *Server) sendVersion(c *fiber.Ctx, f execution.SavedFunction, n int) error {
	content, err := s.state.book.Content(s.base, f, n)
	if err != nil {
		return err
	}
	return s.send(c, struct {
		functionView
		execution.Request
		Env map[string]string `json:"env,omitempty"`
	}{viewOf(f, f.Versions[n-1]), content.Request, content.Env})
}

// listFunctions is GET /api/functions?limit&cursor, in the order of names.
func (s *Server) listFunctions(c *fiber.Ctx) error {
	given, err := query(c, "limit", "cursor")
	if err != nil {
		return err
	}
	limit := 50
	if text, ok := given["limit"]; ok {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > 500 {
			return bad("limit", "must be a whole number from 1 to 500")
		}
	}
	answer, err := s.functionPage(s.base, callerOf(c).Tenant, given["cursor"], limit)
	if err != nil {
		return err
	}
	return s.send(c, answer)
}

// functionPage lists a tenant's functions after a cursor.
func (s *Server) functionPage(ctx context.Context, tenant, cursor string, limit int) (list[functionView], error) {
	answer := list[functionView]{Items: []functionView{}}
	after, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(after) > 0 && !functions.ValidName(string(after)) {
		return answer, bad("cursor", "is not one that this service gave out")
	}
	found, err := s.state.book.List(ctx, tenant, string(after), limit+1)
	if err != nil {
		return answer, err
	}
	for i, f := range found {
		if i == limit {
			next := base64.RawURLEncoding.EncodeToString([]byte(found[limit-1].Name))
			answer.Next = &next
			break
		}
		answer.Items = append(answer.Items, viewOf(f, latestOf(f)))
	}
	return answer, nil
}

// deleteFunction is DELETE /api/functions/{name}.
func (s *Server) deleteFunction(c *fiber.Ctx) error {
	if err := s.state.book.Delete(s.base, callerOf(c).Tenant, param(c, "name")); err != nil {
		return err
	}
	return c.SendStatus(204)
}
