package registry

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/hooks"
	"github.com/airlock-run/airlock/gateway/schedule"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/threat"
)

// Policy judges code that is saved. It is safe for concurrent use.
type Policy interface {
	api.Turns
	// Analyze decides on code without running it, and finds every syntax error.
	Analyze(ctx context.Context, s api.Submission) (policy.Decision, error)
	// Recordable refuses a request that is too large for a record.
	Recordable(request execution.Request) error
}

// Handlers serve /api/functions.
type Handlers struct {
	Registry *Registry
	Policy   Policy
	// Respond runs a submission and responds with its result; Accept stores it as a job and responds with 202.
	Respond func(c *fiber.Ctx, s api.Submission) error
	Accept  func(c *fiber.Ctx, s api.Submission, callback json.RawMessage) error
	Now     func() time.Time
}

// Put serves PUT /api/functions/{name}: 201 for new content, 200 for content that the function has already, and 412 if
// the function is not what If-Match or If-None-Match ask for.
func (h *Handlers) Put(c *fiber.Ctx) error {
	if err := api.RequireJSON(c); err != nil {
		return err
	}
	condition, err := conditionOf(c)
	if err != nil {
		return err
	}
	d, err := api.Decode(c, h.Policy, func([]byte) (Definition, error) { return Decode(api.TakeBody(c)) })
	if err != nil {
		return err
	}
	if err := execution.CheckCallerTools(d.Content.Request.Tools, "cannot be caller in a saved function, which runs "+
		"without anybody who follows it; give the tool a url"); err != nil {
		return err
	}
	needsSecret := false
	if d.Hook != nil {
		if needsSecret, err = h.checkHook(c, *d.Hook); err != nil {
			return err
		}
	}
	if d.Schedule != nil {
		if err := schedule.Check(d.Schedule, h.Now()); err != nil {
			return err
		}
	}
	if err := h.Policy.Recordable(requestOf(d.Content)); err != nil {
		return err // no call of it would run
	}
	caller := api.CallerOf(c)
	d.Content.Scopes = authn.RestrictingScopes(caller.Scopes)
	slices.Sort(d.Content.Scopes)
	ctx, release := api.DisconnectContext(c)
	defer release()
	d.Content.Sum = d.Content.Request.Sources().Sum()
	decision, err := h.Policy.Analyze(ctx, api.Submission{
		Request: requestOf(d.Content), Content: d.Content.Sum, Caller: caller, Function: &execution.FunctionRef{},
	})
	if err != nil {
		return err
	}
	if decision.SyntaxError != nil {
		return syntaxProblem(d.Content.Request.Entry, decision.SyntaxError)
	}
	f, v, created, err := h.Registry.Put(
		c.UserContext(), caller.Tenant, api.Param(c, "name"), caller.Subject, d, needsSecret, condition)
	if err != nil {
		return err
	}
	if created {
		c.Status(201)
	}
	c.Set(fiber.HeaderLocation, "/api/functions/"+f.Name)
	c.Set(fiber.HeaderETag, tagOf(f))
	type verdict struct {
		Allow   bool     `json:"allow"`
		Reasons []string `json:"reasons"`
	}
	return api.Send(c, struct {
		functionView
		DangerAnalysis threat.Analysis `json:"dangerAnalysis"`
		Decision       verdict         `json:"decision"`
	}{viewOf(f, v), decision.Analysis, verdict{decision.Effect == policy.Allow, decision.ReasonLines()}})
}

// checkStoredSecret refuses to reuse a stored secret that is too short. An earlier release accepted any length.
func (h *Handlers) checkStoredSecret(c *fiber.Ctx, hook execution.FunctionHook) error {
	stored, err := h.function(c)
	if errors.Is(err, execution.ErrNotFound) || err == nil && (stored.Hook == nil || stored.Hook.Scheme != hook.Scheme) {
		return nil // Registry.Put reports the missing secret
	}
	if err != nil {
		return err
	}
	hook.Secret = stored.Hook.Secret
	return hooks.Check(hook)
}

// syntaxProblem returns the problem of code that does not parse.
func syntaxProblem(entry string, e *threat.SyntaxError) error {
	field := "code"
	if file := cmp.Or(e.File, entry); file != "" {
		field = "files." + file
	}
	return &api.Problem{
		Status: 400, Code: string(execution.InvalidRequest), Field: field, Line: e.Line, Column: e.Column,
		Detail: fmt.Sprintf("%s: does not parse at line %d, column %d: %s", field, e.Line, e.Column, e.Message),
	}
}

// function returns the function that the path names, of the caller's tenant.
func (h *Handlers) function(c *fiber.Ctx) (execution.SavedFunction, error) {
	return h.Registry.Get(c.UserContext(), api.CallerOf(c).Tenant, api.Param(c, "name"))
}

// Get serves GET /api/functions/{name}?version|alias: the function and what a version, by default the latest, runs.
func (h *Handlers) Get(c *fiber.Ctx) error {
	f, err := h.function(c)
	if err != nil {
		return err
	}
	given, err := api.Query(c, "version", "alias")
	if err != nil {
		return err
	}
	n, err := versionNumber(given["version"])
	if err != nil {
		return err
	}
	if n, err = Resolve(f, n, given["alias"]); err != nil {
		return err
	}
	if api.NotModified(c, tagOf(f)) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	return h.sendVersion(c, f, n)
}

// The number of functions of a page, unless the caller asks for another, and the largest.
const (
	defaultPage = 50
	longestPage = 500
)

// List serves GET /api/functions?limit&cursor, ordered by name.
func (h *Handlers) List(c *fiber.Ctx) error {
	given, err := api.Query(c, "limit", "cursor")
	if err != nil {
		return err
	}
	limit, err := api.Limit(given, defaultPage, longestPage)
	if err != nil {
		return err
	}
	page, err := h.Page(c.UserContext(), api.CallerOf(c).Tenant, given["cursor"], limit)
	if err != nil {
		return err
	}
	return api.Send(c, page)
}

// Page returns a tenant's functions after a cursor, as List serves them. If they have many versions, a page has fewer
// than limit.
func (h *Handlers) Page(ctx context.Context, tenant, cursor string, limit int) (api.List[functionView], error) {
	page := api.List[functionView]{Items: []functionView{}}
	after, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(after) > 0 && !ValidName(string(after)) {
		return page, api.Invalid("cursor", "is not one that this service issued")
	}
	found, early, err := listSome(ctx, h.Registry, tenant, string(after), limit+1)
	if err != nil {
		return page, err
	}
	if early = early || len(found) > limit; early {
		found = found[:min(len(found), limit)]
		next := base64.RawURLEncoding.EncodeToString([]byte(found[len(found)-1].Name))
		page.Next = &next
	}
	for _, f := range found {
		page.Items = append(page.Items, viewOf(f, latestOf(f)))
	}
	return page, nil
}

// How many functions a list reads at first, and about how many versions it reads in total: each takes 2 µs. A page that
// would have more ends early.
const (
	firstLook       = 8
	maxPageVersions = 8000
)

// listSome returns at most so many functions after a name. If these have many versions, it ends early.
func listSome(ctx context.Context, r *Registry, tenant, after string, most int) (
	all []execution.SavedFunction, early bool, err error) {
	versions := 0
	for look := firstLook; ; {
		look = min(look, most-len(all))
		some, err := r.List(ctx, tenant, after, look)
		if err != nil {
			return nil, false, err
		}
		for _, f := range some {
			versions += len(f.Versions) + 1
		}
		all = append(all, some...)
		if len(some) < look || len(all) == most {
			return all, false, nil
		}
		if versions >= maxPageVersions {
			return all, true, nil
		}
		after = all[len(all)-1].Name
		look = max((maxPageVersions-versions)*len(all)/versions, 1) // as many as will fit if they are like these
	}
}

// Delete serves DELETE /api/functions/{name}.
func (h *Handlers) Delete(c *fiber.Ctx) error {
	if c.Get(fiber.HeaderIfMatch) != "" {
		return api.Invalid(fiber.HeaderIfMatch, "is not supported by DELETE; leave it out")
	}
	if err := h.Registry.Delete(c.UserContext(), api.CallerOf(c).Tenant, api.Param(c, "name")); err != nil {
		return err
	}
	return c.SendStatus(204)
}
