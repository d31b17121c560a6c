package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/webhook"
	"github.com/airlock-run/airlock/gateway/access"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/idempotency"
	"github.com/airlock-run/airlock/gateway/ratelimit"
	"github.com/airlock-run/airlock/policy/audit"
)

// PathPrefix is the path below which all webhooks are.
const PathPrefix = "/hooks"

// PathOf returns the path of a function's webhook. The path of the default tenant need not name it.
func PathOf(tenant, name string) string {
	if tenant == authn.DefaultTenant {
		return PathPrefix + "/" + name
	}
	return PathPrefix + "/" + url.PathEscape(tenant) + "/" + name
}

// A Store keeps deliveries, so that each is accepted only once, and their events, so that they can be delivered again.
// It is safe for concurrent use.
type Store interface {
	idempotency.Store
	// KeepEvent keeps an event under the execution that it began. Only the newest events of a function are kept.
	KeepEvent(ctx context.Context, tenant, function, id string, event []byte, at time.Time) error
	// Event returns an event that is kept, or execution.ErrNotFound.
	Event(ctx context.Context, tenant, function, id string) ([]byte, error)
}

// Functions finds saved functions.
type Functions interface {
	Get(ctx context.Context, tenant, name string) (execution.SavedFunction, error)
	// BindHook has a submission run the function with an event as its input, on behalf of the webhook.
	BindHook(ctx context.Context, f execution.SavedFunction, event json.RawMessage, s *api.Submission) error
}

// Jobs stores submissions that run later.
type Jobs interface {
	Submit(ctx context.Context, s api.Submission) error
	// Accept stores a submission and responds with 202.
	Accept(c *fiber.Ctx, s api.Submission, callback json.RawMessage) error
}

// Records reads audit records. The error is audit.ErrNotFound for one that does not exist.
type Records interface {
	Get(ctx context.Context, id string) (audit.Record, error)
}

// Handlers serve webhooks, and let the owners of functions try them.
type Handlers struct {
	Functions Functions
	Jobs      Jobs
	Executor  api.Executor
	Turns     api.Turns
	Store     Store
	Records   Records
	Access    *access.Control
	Keys      *idempotency.Keys
	// AnswerHeaders are X- headers that code may set on its answers, besides the few that are always allowed.
	AnswerHeaders []string
	// MaxEventBytes bounds an event as JSON, which can be much larger than the delivery: JSON escapes bytes, and an event
	// holds the body twice.
	MaxEventBytes int
	// Detail returns the sentence that a problem document would have for an error.
	Detail func(error) string
	Now    func() time.Time
	NewID  func() string
}

// Deliver serves POST /hooks/{name} and /hooks/{tenant}/{name}: it verifies the delivery, runs the function with the
// event as its input, and responds with what the function returns. Failed attempts, and webhooks that verify nothing,
// count against the address of the sender.
func (h *Handlers) Deliver(c *fiber.Ctx) error {
	received := h.Now()
	if err := api.RequireNoCoding(c); err != nil {
		return err
	}
	f, err := h.target(c)
	if err != nil {
		return h.Access.CountRefused(c, err)
	}
	header, body := headerOf(c), append([]byte(nil), c.Request().Body()...)
	verify := func() (Proof, error) { return Verify(*f.Hook, header, body, received) }
	proof, err := h.verified(c, f, verify)
	if err != nil {
		return err
	}
	if f.Hook.Scheme == None {
		if err := h.Access.CountRefused(c, nil); err != nil {
			return err
		}
	}
	values, err := url.ParseQuery(string(c.Request().URI().QueryString()))
	if err != nil {
		return api.Invalid("", "the query string does not parse")
	}
	release, err := api.TakeTurn(c, h.Turns, f.Tenant, authn.Hook(f.Tenant, f.Name).Owner())
	if err != nil {
		return err
	}
	event := NewEvent(*f.Hook, utils.CopyString(c.Method()), utils.CopyString(c.Path()), values, header, body)
	input, err := written(event, h.MaxEventBytes)
	release()
	if err != nil {
		return h.Access.CountRefused(c, err)
	}
	again := func(c *fiber.Ctx) error { return h.charge(c, f) }
	owner := authn.Hook(f.Tenant, f.Name).Owner()
	return h.Keys.Run(c, owner, f.Hook.Async, again, func(c *fiber.Ctx) error {
		s, err := h.submission(c, f, input, h.Keys.NewID(c), received)
		if err != nil {
			return err
		}
		return h.runOnce(c, f, proof, s)
	})
}

// written returns an event as JSON of at most that many bytes. It writes none of an event that is certainly longer: the
// JSON has the body as a text, and as a value that is rarely shorter than the body.
func written(event webhook.Event, most int) (json.RawMessage, error) {
	tooLong := &api.Problem{Status: 413, Detail: "the event takes more than " + strconv.Itoa(most) +
		" bytes as JSON, which has the body as text and as a value"}
	if escaped(event.RawBody)+len(event.RawBody) > most {
		return nil, tooLong
	}
	b, err := event.AppendJSON(nil)
	if err != nil {
		return nil, api.Invalid("", "the event cannot be written as JSON")
	}
	if len(b) > most {
		return nil, tooLong
	}
	return b, nil
}

// escaped returns a lower bound of the bytes that a text takes as JSON.
func escaped(text string) int {
	n := len(text)
	for i := range len(text) {
		switch b := text[i]; {
		case b == '"', b == '\\', b == '\n', b == '\r', b == '\t':
			n++
		case b < ' ':
			n += len(`\u0000`) - 1
		}
	}
	return n
}

// submission returns the submission of an event.
func (h *Handlers) submission(
	c *fiber.Ctx, f execution.SavedFunction, event json.RawMessage, id string, received time.Time,
) (api.Submission, error) {
	s := api.NewSubmission(c, execution.Request{}, received)
	s.ID, s.Via, s.Fresh, s.Waits = id, execution.ViaHook, true, false // its sender waits for an answer
	err := h.Functions.BindHook(c.UserContext(), f, event, &s)
	return s, err
}

// target returns the function with a webhook that the path names. A function without one looks like none.
func (h *Handlers) target(c *fiber.Ctx) (execution.SavedFunction, error) {
	tenant := authn.DefaultTenant
	if given := c.Params("tenant"); given != "" {
		var err error
		if tenant, err = api.TextParam(c, "tenant"); err != nil || len(tenant) > 128 {
			tenant = ""
		}
	}
	f, err := h.Functions.Get(c.UserContext(), tenant, api.Param(c, "name"))
	if errors.Is(err, execution.ErrNotFound) || err == nil && f.Hook == nil {
		return f, api.NotFound("there is no webhook target at this path")
	}
	return f, err
}

// verified verifies a delivery. With a scheme whose secret is in the request, the secret can be guessed: a delivery
// is then an attempt to log in, counted for this webhook alone. Signatures cannot be guessed, so wrong ones lock no
// sender out; they count against the address.
func (h *Handlers) verified(
	c *fiber.Ctx, f execution.SavedFunction, verify func() (Proof, error),
) (Proof, error) {
	if f.Hook.Scheme != SharedHeader {
		proof, err := verify()
		if err != nil {
			return proof, h.Access.CountRefused(c, err)
		}
		return proof, nil
	}
	given := ""
	for _, name := range Headers(*f.Hook) {
		given += utils.CopyString(c.Get(name)) + "\x00"
	}
	attempt := ratelimit.Attempt{
		Target: "hook " + authn.Hook(f.Tenant, f.Name).Owner(), Address: utils.CopyString(c.IP()), Credential: given,
	}
	if err := h.Access.Admit(c, attempt); err != nil {
		return Proof{}, err
	}
	proof, err := verify()
	if err != nil {
		return proof, h.Access.Failed(c, attempt, err)
	}
	h.Access.Succeeded(attempt)
	return proof, nil
}

func headerOf(c *fiber.Ctx) http.Header {
	h := http.Header{}
	for name, value := range c.Request().Header.All() {
		h.Add(string(name), string(value))
	}
	return h
}
