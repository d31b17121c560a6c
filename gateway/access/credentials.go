package gateway

import (
	"context"
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/hooks"
	"github.com/airlock-run/airlock/gateway/ratelimit"
)

// Logins bounds how often credentials can be guessed. It is safe for concurrent use.
type Logins interface {
	// Admit returns the verdict on an attempt before anybody looks whether its credential is right.
	Admit(ctx context.Context, a ratelimit.Attempt) (ratelimit.Verdict, error)
	// Failed counts an attempt whose credential was wrong.
	Failed(ctx context.Context, a ratelimit.Attempt) (ratelimit.Verdict, error)
	// Succeeded remembers that the credential was right.
	Succeeded(a ratelimit.Attempt)
}

// What a gateway without Deps.Logins allows.
const (
	loginWindow   = time.Minute
	loginFailures = 30
)

// newLogins returns the Logins of a gateway that was given none.
func newLogins(now func() time.Time) (Logins, error) {
	tally, err := ratelimit.New(ratelimit.Config{Window: loginWindow, Max: loginFailures, Now: now})
	if err != nil {
		return nil, err
	}
	return ratelimit.NewLogins(ratelimit.LoginsConfig{Tally: tally, Window: loginWindow, Most: loginFailures, Now: now})
}

// recognise checks a credential, unless too many were wrong. One that is genuine and not accepted, such as a token that
// has expired, is no guess: like a request without a credential it counts against the address alone, and locks nobody out.
func (s *Server) recognise(c *fiber.Ctx, authorization, apiKey string) (authn.Identity, error) {
	credential := authn.Credential(authorization, apiKey)
	if s.deps.Auth.Open() || credential == "" {
		id, err := s.deps.Auth.Authenticate(authorization, apiKey)
		if err != nil {
			return id, s.counted(c, err)
		}
		return id, nil
	}
	attempt := ratelimit.Attempt{
		Address: utils.CopyString(c.IP()), Credential: credential, Name: func() string { return authn.ClaimedName(credential) },
	}
	if err := s.admit(c, attempt); err != nil {
		return authn.Identity{}, err
	}
	id, err := s.deps.Auth.Authenticate(authorization, apiKey)
	if err == nil {
		s.deps.Logins.Succeeded(attempt)
		return id, nil
	}
	refusal := (*authn.Refusal)(nil)
	switch known := errors.As(err, &refusal); {
	case known && refusal.Unavailable:
		return id, &problem{status: 503, code: "identity_unavailable", detail: refusal.Reason, retryAfter: 10 * time.Second}
	case known && refusal.Genuine:
		return id, s.counted(c, err)
	}
	return id, s.failed(c, attempt, err)
}

// admit refuses an attempt where too many others failed.
func (s *Server) admit(c *fiber.Ctx, attempt ratelimit.Attempt) error {
	verdict, err := s.deps.Logins.Admit(context.WithoutCancel(s.base), attempt)
	if err != nil {
		return err
	}
	if !verdict.Allowed {
		return tooManyFailed(c, verdict)
	}
	return nil
}

// failed counts an attempt that failed, and returns the error to answer it with.
func (s *Server) failed(c *fiber.Ctx, attempt ratelimit.Attempt, err error) error {
	verdict, counting := s.deps.Logins.Failed(context.WithoutCancel(s.base), attempt)
	if counting != nil {
		return counting
	}
	if !verdict.Allowed {
		return tooManyFailed(c, verdict)
	}
	return err
}

func tooManyFailed(c *fiber.Ctx, v ratelimit.Verdict) error {
	announce(c, v)
	return &problem{
		status: 429, code: "rate_limited", retryAfter: max(v.Reset, 1),
		detail: "too many credentials from this address, or for this name, were wrong; see Retry-After",
	}
}

// sessionAttempt is the attempt to use a session's name.
func sessionAttempt(c *fiber.Ctx, name string) ratelimit.Attempt {
	return ratelimit.Attempt{Address: utils.CopyString(c.IP()), Credential: name, Name: func() string { return "session" }}
}

// proved runs the check of a webhook's delivery. A scheme whose secret stands in the request lets it be guessed: there it
// is an attempt to log in, counted for the hook alone. Signatures cannot be guessed, so that nobody locks a sender out
// with wrong ones; they count against the address alone.
func (s *Server) proved(c *fiber.Ctx, f execution.SavedFunction, check func() (hooks.Proof, error)) (hooks.Proof, error) {
	if f.Hook.Scheme != hooks.SharedHeader {
		proof, err := check()
		if err != nil {
			return proof, s.counted(c, err)
		}
		return proof, nil
	}
	given := ""
	for _, name := range hooks.Headers(*f.Hook) {
		given += utils.CopyString(c.Get(name)) + "\x00"
	}
	attempt := ratelimit.Attempt{Door: "hook " + authn.Hook(f.Tenant, f.Name).Owner(), Address: utils.CopyString(c.IP()), Credential: given}
	if err := s.admit(c, attempt); err != nil {
		return hooks.Proof{}, err
	}
	proof, err := check()
	if err != nil {
		return proof, s.failed(c, attempt, err)
	}
	s.deps.Logins.Succeeded(attempt)
	return proof, nil
}
