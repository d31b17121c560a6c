package access

import (
	"context"
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/ratelimit"
)

// Logins bounds how often credentials can be guessed. It is safe for concurrent use.
type Logins interface {
	// Admit returns the verdict on an attempt before its credential is checked.
	Admit(ctx context.Context, a ratelimit.Attempt) (ratelimit.Verdict, error)
	// Failed counts an attempt whose credential was wrong.
	Failed(ctx context.Context, a ratelimit.Attempt) (ratelimit.Verdict, error)
	// Succeeded remembers that the credential was right.
	Succeeded(a ratelimit.Attempt)
}

// What the default Logins allows.
const (
	loginWindow   = time.Minute
	loginFailures = 30
)

func newLogins(now func() time.Time) (Logins, error) {
	tally, err := ratelimit.New(ratelimit.Config{Window: loginWindow, Max: loginFailures, Now: now})
	if err != nil {
		return nil, err
	}
	return ratelimit.NewLogins(ratelimit.LoginsConfig{Tally: tally, Window: loginWindow, Most: loginFailures, Now: now})
}

// Authenticate recognizes the caller. It is middleware.
func (a *Control) Authenticate(c *fiber.Ctx) error {
	headers := &c.Request().Header
	given := headers.PeekAll(fiber.HeaderAuthorization)
	if len(given) > 1 || len(headers.PeekAll("X-Api-Key")) > 1 {
		return &authn.Refusal{Reason: "credentials are given more than once"}
	}
	authorization, apiKey := Credentials(c)
	caller, err := a.Recognize(c, authorization, apiKey)
	if err != nil {
		return err
	}
	api.SetCaller(c, caller)
	return c.Next()
}

// Credentials returns copies of the headers that carry credentials.
func Credentials(c *fiber.Ctx) (authorization, apiKey string) {
	return utils.CopyString(c.Get(fiber.HeaderAuthorization)), utils.CopyString(c.Get("X-Api-Key"))
}

// Recognize checks a credential, unless too many were wrong. A credential that is genuine but not accepted, such as
// an expired token, is not a guess: like a request without a credential, it counts against the address alone and
// locks nobody out.
func (a *Control) Recognize(c *fiber.Ctx, authorization, apiKey string) (authn.Identity, error) {
	credential := authn.Credential(authorization, apiKey)
	if a.Open() || credential == "" {
		id, err := a.auth.Authenticate(authorization, apiKey)
		if err != nil {
			return id, a.CountRefused(c, err)
		}
		return id, nil
	}
	attempt := ratelimit.Attempt{
		Address: utils.CopyString(c.IP()), Credential: credential,
		Name: func() string { return authn.ClaimedName(credential) },
	}
	if err := a.Admit(c, attempt); err != nil {
		return authn.Identity{}, err
	}
	id, err := a.auth.Authenticate(authorization, apiKey)
	if err == nil {
		a.Logins.Succeeded(attempt)
		return id, nil
	}
	refusal := (*authn.Refusal)(nil)
	switch known := errors.As(err, &refusal); {
	case known && refusal.Unavailable:
		return id, &api.Problem{
			Status: 503, Code: "identity_unavailable", Detail: refusal.Reason, RetryAfter: 10 * time.Second,
		}
	case known && refusal.Genuine:
		return id, a.CountRefused(c, err)
	}
	return id, a.Failed(c, attempt, err)
}

// Valid checks a credential that was accepted before, and counts nothing.
func (a *Control) Valid(authorization, apiKey string) error {
	_, err := a.auth.Authenticate(authorization, apiKey)
	return err
}

// Admit refuses an attempt if too many others failed.
func (a *Control) Admit(c *fiber.Ctx, attempt ratelimit.Attempt) error {
	verdict, err := a.Logins.Admit(uncancelled(c), attempt)
	if err != nil {
		return err
	}
	if !verdict.Allowed {
		return tooManyFailed(c, verdict)
	}
	return nil
}

// Failed counts an attempt that failed, and returns the error to respond with: err, or that of too many attempts.
func (a *Control) Failed(c *fiber.Ctx, attempt ratelimit.Attempt, err error) error {
	verdict, counting := a.Logins.Failed(uncancelled(c), attempt)
	if counting != nil {
		return counting
	}
	if !verdict.Allowed {
		return tooManyFailed(c, verdict)
	}
	return err
}

// Succeeded remembers that an attempt succeeded.
func (a *Control) Succeeded(attempt ratelimit.Attempt) { a.Logins.Succeeded(attempt) }

func tooManyFailed(c *fiber.Ctx, v ratelimit.Verdict) error {
	announce(c, v)
	return &api.Problem{
		Status: 429, Code: "rate_limited", RetryAfter: max(v.Reset, 1),
		Detail: "too many wrong credentials from this address or for this name; see Retry-After",
	}
}
