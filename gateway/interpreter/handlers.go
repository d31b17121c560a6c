package interpreter

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/bounds"
)

// Sessions are the sessions of callers, as package sessions has them.
type Sessions interface {
	Make(ctx context.Context, from api.Submission, o api.SessionOptions) (any, error)
	End(ctx context.Context, caller authn.Identity, ip, id string) error
	Restart(ctx context.Context, caller authn.Identity, id string) error
	Begin(ctx context.Context, id string, s *api.Submission) (release func(), err error)
	Page(ctx context.Context, caller authn.Identity, after string, limit int) (any, error)
}

// Handlers serve /api/e2b.
type Handlers struct {
	Sessions Sessions
	Executor api.Executor
	Turns    api.Turns
	// Places bounds the number of open streams.
	Places *bounds.Pool
	// Problem returns the problem document of an error.
	Problem      func(err error, path, requestID string) []byte
	WriteTimeout time.Duration // for one line
	Now          func() time.Time
	Logger       *slog.Logger

	contexts turns
}

// SandboxID is the client's header that names the sandbox in which code runs.
const SandboxID = "E2b-Sandbox-Id"

// Headers of the client with a credential.
const (
	accessToken  = "X-Access-Token"
	trafficToken = "E2b-Traffic-Access-Token"
)

type givenKey struct{}

// Credentials moves the credential, a token or an API key, from the header in which the client sends its key or the
// token of a sandbox to Authorization, and remembers it for Tokens. It is middleware that runs before authentication.
func (h *Handlers) Credentials(c *fiber.Ctx) error {
	headers := &c.Request().Header
	if len(headers.Peek(fiber.HeaderAuthorization)) == 0 {
		for _, name := range []string{"X-Api-Key", accessToken, trafficToken} {
			if token := headers.Peek(name); len(token) > 0 {
				headers.Set(fiber.HeaderAuthorization, "Bearer "+string(token))
				break
			}
		}
	}
	given := authn.Credential(c.Get(fiber.HeaderAuthorization), c.Get("X-Api-Key"))
	c.Locals(givenKey{}, utils.CopyString(given))
	return c.Next()
}

// A sandbox is the response to POST /api/e2b/v2/sandboxes and POST /api/e2b/sandboxes. Its tokens are the credential
// that created it: the client sends one of them with each request for the sandbox, and no other credential.
type sandbox struct {
	SandboxID          string `json:"sandboxID"`
	TemplateID         string `json:"templateID"`
	ClientID           string `json:"clientID"`
	EnvdVersion        string `json:"envdVersion"`
	EnvdAccessToken    string `json:"envdAccessToken,omitempty"`
	TrafficAccessToken string `json:"trafficAccessToken,omitempty"`
}

// envdVersion is a version that the client accepts of the daemon of a sandbox, which does not exist here.
const envdVersion = "0.4.0"

// CreateSandbox serves POST /api/e2b/v2/sandboxes, which the client for JavaScript calls, and POST /api/e2b/sandboxes,
// which the one for Python calls.
func (h *Handlers) CreateSandbox(c *fiber.Ctx) error {
	var w struct {
		TemplateID string          `json:"templateID"`
		Timeout    float64         `json:"timeout"` // in seconds; 0 means the default
		EnvVars    json.RawMessage `json:"envVars"`
	}
	if err := h.read(c, &w, "templateID is a string, timeout is a number, envVars is an object"); err != nil {
		return err
	}
	environment, err := setVariables("envVars", w.EnvVars)
	if err != nil {
		return err
	}
	o := api.SessionOptions{}
	if w.Timeout > 0 {
		milliseconds := 1000 * w.Timeout
		o.MaxAge = &milliseconds
	}
	id, err := h.make(c, o)
	if err != nil {
		return err
	}
	if err := h.begin(c, id, environment); err != nil {
		return err
	}
	c.Status(201)
	return api.Send(c, sandbox{SandboxID: id, TemplateID: w.TemplateID, ClientID: id, EnvdVersion: envdVersion})
}

// begin sets the environment variables of a new sandbox in its first step. If that fails, there is no sandbox.
func (h *Handlers) begin(c *fiber.Ctx, id, environment string) error {
	if environment == "" {
		return nil
	}
	result, err := h.step(c, id, execution.Request{Code: environment + "undefined"}, h.Now())
	if err == nil && result.Status != execution.Completed {
		err = api.Invalid("envVars", "cannot be set: "+api.Clip(*failure(result).Value, 200))
	}
	if err == nil {
		return nil
	}
	return errors.Join(err, h.Sessions.End(c.UserContext(), api.CallerOf(c), c.IP(), id))
}

// Tokens adds the tokens to the response about a sandbox. It is middleware that wraps that of idempotency keys, which
// stores responses, so that no credential is stored. It never adds the credential behind a browser's session, which
// the page must not know.
func (h *Handlers) Tokens(c *fiber.Ctx) error {
	err := c.Next()
	token, _ := c.Locals(givenKey{}).(string)
	if err != nil || c.Response().StatusCode() != 201 || token == "" {
		return err
	}
	var made sandbox
	if err := json.Unmarshal(c.Response().Body(), &made); err != nil {
		return err
	}
	made.EnvdAccessToken, made.TrafficAccessToken = token, token
	c.Set(fiber.HeaderCacheControl, "no-store")
	return api.Send(c, made)
}

// make makes a session of the caller and returns its ID.
func (h *Handlers) make(c *fiber.Ctx, o api.SessionOptions) (string, error) {
	made, err := h.Sessions.Make(c.UserContext(), api.NewSubmission(c, execution.Request{}, h.Now()), o)
	if err != nil {
		return "", err
	}
	var session struct{ ID string }
	err = json.Unmarshal(api.Raw(made), &session)
	return session.ID, err
}

// DeleteSandbox serves DELETE /api/e2b/sandboxes/{id}. The client says that there was no sandbox if the code of the
// problem is the status.
func (h *Handlers) DeleteSandbox(c *fiber.Ctx) error {
	err := h.Delete(c)
	var problem *api.Problem
	if !errors.As(err, &problem) || problem.Status != 404 {
		return err
	}
	var document map[string]any
	if err := json.Unmarshal(h.Problem(err, c.Path(), api.RequestID(c)), &document); err != nil {
		return err
	}
	document["code"] = problem.Status
	if err := api.Send(c.Status(problem.Status), document); err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, "application/problem+json")
	return nil
}

// Delete serves DELETE /api/e2b/contexts/{id}.
func (h *Handlers) Delete(c *fiber.Ctx) error {
	if err := h.Sessions.End(c.UserContext(), api.CallerOf(c), c.IP(), api.Param(c, "id")); err != nil {
		return err
	}
	return c.SendStatus(204)
}

// Restart serves POST /api/e2b/contexts/{id}/restart.
func (h *Handlers) Restart(c *fiber.Ctx) error {
	if err := h.Sessions.Restart(c.UserContext(), api.CallerOf(c), api.Param(c, "id")); err != nil {
		return err
	}
	return c.SendStatus(204)
}

// A codeContext is a context as the client sees it.
type codeContext struct {
	ID       string `json:"id"`
	Language string `json:"language"`
	Cwd      string `json:"cwd"`
}

// CreateContext serves POST /api/e2b/contexts.
func (h *Handlers) CreateContext(c *fiber.Ctx) error {
	var w struct {
		Language string `json:"language"`
	}
	if err := h.read(c, &w, "language is a string"); err != nil {
		return err
	}
	language, err := normalize(w.Language)
	if err != nil {
		return err
	}
	id, err := h.make(c, api.SessionOptions{})
	if err != nil {
		return err
	}
	return api.Send(c, codeContext{id, language, "/"})
}

// ListContexts serves GET /api/e2b/contexts: all sessions of the caller.
func (h *Handlers) ListContexts(c *fiber.Ctx) error {
	const page = 200 // a caller has at most 100 sessions
	found, err := h.Sessions.Page(c.UserContext(), api.CallerOf(c), "", page)
	if err != nil {
		return err
	}
	var sessions struct{ Items []struct{ ID string } }
	if err := json.Unmarshal(api.Raw(found), &sessions); err != nil {
		return err
	}
	contexts := make([]codeContext, len(sessions.Items))
	for i, s := range sessions.Items {
		contexts[i] = codeContext{s.ID, "javascript", "/"}
	}
	return api.Send(c, contexts)
}

// read decodes a body. Like the service, it ignores members that it does not know.
func (h *Handlers) read(c *fiber.Ctx, v any, what string) error {
	if err := api.RequireJSON(c); err != nil {
		return err
	}
	_, err := api.Decode(c, h.Turns, func(body []byte) (any, error) { return v, api.DecodeLoose(body, v, what) })
	return err
}

// normalize returns the name of a language.
func normalize(language string) (string, error) {
	switch strings.ToLower(language) {
	case "", "js", "javascript":
		return "javascript", nil
	case "ts", "typescript":
		return "typescript", nil
	}
	return "", api.Invalid("language", "must be javascript or typescript; got "+api.Clip(language, 40))
}

// The limits on environment variables.
const (
	maxVariables      = 256
	maxVariablesBytes = 32 << 10
)

var variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`) })

// setVariables returns code that sets environment variables, without a newline, or "" if there are none.
func setVariables(field string, given json.RawMessage) (string, error) {
	if len(given) > maxVariablesBytes {
		return "", api.Invalid(field, "must have at most 32 KiB")
	}
	var variables map[string]*string
	if len(given) > 0 && json.Unmarshal(given, &variables) != nil {
		return "", api.Invalid(field, "must be an object of strings")
	}
	if len(variables) > maxVariables {
		return "", api.Invalid(field, "must have at most 256 members")
	}
	for name, value := range variables {
		if !variableName().MatchString(name) || value == nil {
			return "", api.Invalid(field, "must have names of letters, digits and _, and strings; got "+api.Clip(name, 40))
		}
	}
	if len(variables) == 0 {
		return "", nil
	}
	text, err := json.Marshal(variables)
	return "Object.assign(process.env, " + string(text) + "); ", err
}
