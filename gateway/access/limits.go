package access

import (
	"context"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/httpconn"
	"github.com/airlock-run/airlock/gateway/ratelimit"
)

// A Limiter counts requests by key. It is safe for concurrent use.
type Limiter interface {
	Take(ctx context.Context, key string) (ratelimit.Verdict, error)
}

// Quotas limit each tenant as a whole. They are safe for concurrent use.
type Quotas interface {
	// Take counts one request of the tenant. If nothing limits the tenant, the verdict's Limit is 0.
	Take(ctx context.Context, tenant string) (ratelimit.Verdict, error)
	// Concurrent returns how many executions the tenant may run at once; 0 means no bound.
	Concurrent(tenant string) int
}

// Limits holds the counters of a Control.
type Limits struct {
	// Limiter counts the requests of each caller.
	Limiter Limiter
	// AnalysisLimiter counts the analyses of each caller, which editors ask for as people type. Nil counts them with all
	// other requests.
	AnalysisLimiter Limiter
	// Logins bounds how often credentials can be guessed. The default counts in this process and allows 30 wrong
	// credentials of an address in a minute.
	Logins Logins
	// Quotas limit tenants. Nil sets no quota.
	Quotas Quotas
	// HookLimiter counts the deliveries of each webhook. The default counts in this process.
	HookLimiter Limiter
}

// Control authenticates and counts requests. It is safe for concurrent use.
type Control struct {
	auth *authn.Authenticator
	Limits
}

// New returns a Control with defaults for the limits that are left out. The default HookLimiter allows hookRate
// deliveries in a minute.
func New(auth *authn.Authenticator, limits Limits, hookRate int, now func() time.Time) (*Control, error) {
	var err error
	if limits.HookLimiter == nil {
		limits.HookLimiter, err = ratelimit.New(ratelimit.Config{Window: time.Minute, Max: hookRate, Now: now})
		if err != nil {
			return nil, err
		}
	}
	if limits.Logins == nil {
		if limits.Logins, err = newLogins(now); err != nil {
			return nil, err
		}
	}
	return &Control{auth, limits}, nil
}

// Open reports whether the gateway asks for no credentials.
func (a *Control) Open() bool { return a.auth.Open() }

// analysisPath is the path of requests that analyze code without running it.
const analysisPath = "/api/analyze"

// Limit counts the request of an authenticated caller. It is middleware. It counts by tenant and subject, or by
// address if a token names no subject or the gateway asks for no credentials.
func (a *Control) Limit(c *fiber.Ctx) error {
	limiter, kind := a.Limiter, ""
	if a.AnalysisLimiter != nil && c.Method() == fiber.MethodPost && c.Path() == analysisPath {
		limiter, kind = a.AnalysisLimiter, "analysis:"
	}
	caller := api.CallerOf(c)
	key := "subject:" + caller.Owner()
	if caller.Anonymous() || a.Open() {
		key = "address:" + httpconn.Network(c.IP())
	}
	verdict, err := limiter.Take(uncancelled(c), kind+key)
	if err != nil {
		return err
	}
	if !verdict.Allowed {
		return tooMany(c, verdict)
	}
	announce(c, verdict)
	if err := a.ChargeTenant(c, caller.Tenant); err != nil {
		return err
	}
	return c.Next()
}

// ChargeTenant counts a request against the quota of its tenant. Its error refuses the request.
func (a *Control) ChargeTenant(c *fiber.Ctx, tenant string) error {
	if a.Quotas == nil {
		return nil
	}
	verdict, err := a.Quotas.Take(uncancelled(c), tenant)
	if err != nil {
		return err
	}
	if verdict.Limit > 0 && !verdict.Allowed {
		announce(c, verdict)
		return &api.Problem{
			Status: 429, Code: "quota_exceeded", RetryAfter: max(verdict.Reset, 1),
			Detail: "the tenant's quota of " + strconv.Itoa(verdict.Limit) + " requests in " + verdict.Window.String() +
				" is used up; see Retry-After",
		}
	}
	return nil
}

// ChargeHook counts a delivery against the limit of its webhook. An event that is tried or delivered again counts too.
func (a *Control) ChargeHook(c *fiber.Ctx, f execution.SavedFunction) error {
	verdict, err := a.HookLimiter.Take(uncancelled(c), "hook:"+f.Tenant+"/"+f.Name)
	if err != nil {
		return err
	}
	if !verdict.Allowed {
		return tooMany(c, verdict)
	}
	return nil
}

// CountRefused counts a request without a valid credential against its address. It returns err, or the error of an
// address that made too many. The count is separate from that of wrong credentials.
func (a *Control) CountRefused(c *fiber.Ctx, err error) error {
	verdict, limiting := a.Limiter.Take(uncancelled(c), "sender:"+httpconn.Network(c.IP()))
	if limiting != nil {
		return limiting
	}
	if !verdict.Allowed {
		return tooMany(c, verdict)
	}
	return err
}

// uncancelled returns the context of a request without its cancellation: a shutdown must not turn a count into an
// error.
func uncancelled(c *fiber.Ctx) context.Context { return context.WithoutCancel(c.UserContext()) }

// announce sets the header fields of draft-ietf-httpapi-ratelimit-headers-06, the version that most clients read.
func announce(c *fiber.Ctx, v ratelimit.Verdict) {
	c.Set("RateLimit-Limit", strconv.Itoa(v.Limit))
	c.Set("RateLimit-Remaining", strconv.Itoa(v.Remaining))
	c.Set("RateLimit-Reset", strconv.Itoa(api.Seconds(v.Reset)))
	c.Set("RateLimit-Policy", strconv.Itoa(v.Limit)+";w="+strconv.Itoa(api.Seconds(v.Window)))
}

func tooMany(c *fiber.Ctx, v ratelimit.Verdict) error {
	announce(c, v)
	return &api.Problem{
		Status: 429, Code: "rate_limited", RetryAfter: max(v.Reset, 1),
		Detail: "more than " + strconv.Itoa(v.Limit) + " requests in " + v.Window.String() + "; see Retry-After",
	}
}
