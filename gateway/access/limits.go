package gateway

import (
	"context"
	"net/netip"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/ratelimit"
)

type callerKey struct{}

// callerOf is the caller that authenticate recognised; without it, one who may do nothing.
func callerOf(c *fiber.Ctx) authn.Identity {
	id, _ := c.Locals(callerKey{}).(authn.Identity)
	return id
}

// authenticate recognises the caller.
func (s *Server) authenticate(c *fiber.Ctx) error {
	headers := &c.Request().Header
	given := headers.PeekAll(fiber.HeaderAuthorization)
	if len(given) > 1 || len(headers.PeekAll("X-Api-Key")) > 1 {
		return &authn.Refusal{Reason: "credentials are given more than once"}
	}
	id, err := s.recognise(c, utils.CopyString(c.Get(fiber.HeaderAuthorization)), utils.CopyString(c.Get("X-Api-Key")))
	if err != nil {
		return err
	}
	c.Locals(callerKey{}, id)
	return c.Next()
}

// limit counts the request of a recognised caller: by tenant and subject, or by address when a token names no
// subject or everybody is the local user.
func (s *Server) limit(c *fiber.Ctx) error {
	id := callerOf(c)
	key := "subject:" + id.Owner()
	if id.Anonymous() || s.deps.Auth.Open() {
		key = "address:" + network(c.IP())
	}
	verdict, err := s.deps.Limiter.Take(context.WithoutCancel(s.base), key)
	if err != nil {
		return err
	}
	if !verdict.Allowed {
		return tooMany(c, verdict)
	}
	announce(c, verdict)
	if err := s.quota(c, id.Tenant); err != nil {
		return err
	}
	return c.Next()
}

// quota counts the request against what its tenant may use, whoever of it asks. Its error refuses the request.
func (s *Server) quota(c *fiber.Ctx, tenant string) error {
	if s.deps.Quotas == nil {
		return nil
	}
	verdict, err := s.deps.Quotas.Take(context.WithoutCancel(s.base), tenant)
	if err != nil {
		return err
	}
	if verdict.Limit > 0 && !verdict.Allowed {
		announce(c, verdict)
		return &problem{
			status: 429, code: "quota_exceeded", retryAfter: max(verdict.Reset, 1),
			detail: "the tenant's quota of " + strconv.Itoa(verdict.Limit) + " requests in " + verdict.Window.String() + " is used up; see Retry-After",
		}
	}
	return nil
}

// announce writes the fields of draft-ietf-httpapi-ratelimit-headers-06, which clients read most widely.
func announce(c *fiber.Ctx, v ratelimit.Verdict) {
	c.Set("RateLimit-Limit", strconv.Itoa(v.Limit))
	c.Set("RateLimit-Remaining", strconv.Itoa(v.Remaining))
	c.Set("RateLimit-Reset", strconv.Itoa(seconds(v.Reset)))
	c.Set("RateLimit-Policy", strconv.Itoa(v.Limit)+";w="+strconv.Itoa(seconds(v.Window)))
}

func tooMany(c *fiber.Ctx, v ratelimit.Verdict) error {
	announce(c, v)
	return &problem{
		status: 429, code: "rate_limited", retryAfter: max(v.Reset, 1),
		detail: "more than " + strconv.Itoa(v.Limit) + " requests in " + v.Window.String() + "; see Retry-After",
	}
}

// network is what one subscriber usually holds: an IPv4 address, or the /64 of an IPv6 one.
func network(ip string) string {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return "unknown"
	}
	a = a.Unmap()
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}

// need lets only callers with a scope through.
func need(scope string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if !callerOf(c).May(scope) {
			return lacks(scope)
		}
		return c.Next()
	}
}

func lacks(scope string) error {
	return &problem{
		status: 403, code: "insufficient_scope", detail: "this needs the scope " + scope,
		challenge: `Bearer realm="airlock", error="insufficient_scope", scope="` + scope + `"`,
	}
}
