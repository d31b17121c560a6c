package gateway

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/airlock-run/airlock/functions/webhook"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/callbacks"
	"github.com/airlock-run/airlock/policy/audit"
)

// Config sizes a Server. The zero value of every number means the default given.
type Config struct {
	MaxBodyBytes int      // 1 MiB; a larger body is answered with 413
	CORSOrigins  []string // exact origins ("https://app.example.com"), or "*" alone; none by default
	// Proxies are the networks of the proxies in front. The last address in X-Forwarded-For of a request that one of them
	// makes is the caller's; nobody else's X-Forwarded-For is believed.
	Proxies []netip.Prefix

	Places      int           // executions at once; 2
	SparePlaces int           // more of them, as queue.Config says; none
	QueueDepth  int           // executions waiting at once; 1,000
	QueueWait   time.Duration // longest wait for a place; 30 s
	Overhead    time.Duration // what a run may take beyond its tier's time before its process is killed; 500 ms

	// Spread says that this is one of several gateways that share no memory: idempotency keys are then kept in State, and
	// refused without one.
	Spread bool
	// Frozen says that this process stands still between requests: nothing goes on in the background, and jobs, callbacks and
	// schedules are seen to by Turn alone.
	Frozen bool
	// OpenedHosts are the hosts that callbacks may reach although their addresses are not public.
	OpenedHosts []string
	// KeepCode has the gateway's own records hold the code and the whole request, as those of functions do.
	KeepCode bool
	// CallbackSecret ("whsec_" and base64) signs callbacks whose caller gave no secret; without it each gets its own.
	CallbackSecret string

	// HookRate is how many deliveries a webhook takes in a minute where Deps has no HookLimiter: 300.
	HookRate int
	// HookAnswerHeaders are X- headers that the code of webhooks may set on its answers, beside the few that all may.
	HookAnswerHeaders []string
	// HooksHost is the host that webhooks alone are served on. Nothing else is served there, and no webhook elsewhere. Empty
	// serves both on every host. See also ServeHooks.
	HooksHost string

	KeptResults     int // 1,000
	KeptResultBytes int // 64 MiB

	ReadTimeout  time.Duration // for a whole request, head and body; 10 s
	WriteTimeout time.Duration // for a whole answer, or one event of a stream; 30 s
	IdleTimeout  time.Duration // between requests of a connection; 75 s
	Heartbeat    time.Duration // between comments on a silent stream; 10 s, at most half of WriteTimeout
}

// Deps is what a Server needs of others. All of it is required but Verify, Reader, State, Wake, Redact, Fleet, Examples, Quotas,
// Logins, HookLimiter, Health and Tracer.
type Deps struct {
	Invoker Invoker
	Records Records
	Policy  Decider
	// Reader reads the code that is not cheap to read. Without it such code is refused.
	Reader  CodeScanner
	Limiter Limiter
	Auth    *authn.Authenticator
	// Verify verifies the chains of the records, against what else is known of them; nil has Records do so, where they can.
	Verify func(ctx context.Context) (audit.Report, error)
	// State keeps functions and jobs; without it the endpoints that need it answer 501.
	State State
	// Wake has Turn called soon for a job that was just kept, in this process or another one; nil wakes nobody. The job is
	// found without it too, later.
	Wake func(ctx context.Context, id string) error
	// Redact takes secrets out of a record that the gateway writes; nil changes nothing.
	Redact func(*audit.Record)
	// Fleet gives the state of the function processes of this machine; nil where there are none.
	Fleet func() Fleet
	// Examples are the scripts that the playground offers, as package playground reads them; nil offers none.
	Examples fs.FS
	// Attached are tools that every execution may call; nil attaches none.
	Attached Attached
	// Quotas are what tenants may use; nil sets none.
	Quotas Quotas
	// Logins bounds how often credentials can be guessed; nil has this process count, 30 wrong ones of an address in a minute.
	Logins Logins
	// HookLimiter counts the deliveries of each webhook; nil counts in this process, by Config.HookRate.
	HookLimiter Limiter
	// Health are further parts that GET /readyz asks: Redis, the readers of code.
	Health []Health
	// Tracer makes the spans of requests and executions; nil makes none.
	Tracer trace.Tracer
	Logger *slog.Logger
	Now    func() time.Time
	// NewID makes ids that [execution.ValidID] accepts, each different and none to be guessed.
	NewID func() string
}

func (c Config) checked() (Config, error) {
	number := func(v *int, fallback int) bool {
		if *v == 0 {
			*v = fallback
		}
		return *v > 0
	}
	duration := func(v *time.Duration, fallback time.Duration) bool {
		if *v == 0 {
			*v = fallback
		}
		return *v > 0
	}
	ok := number(&c.MaxBodyBytes, 1<<20)
	ok = number(&c.Places, 2) && ok
	ok = number(&c.QueueDepth, bounds.Of(bounds.Waiting).Most) && ok
	ok = duration(&c.QueueWait, 30*time.Second) && ok
	ok = number(&c.HookRate, 300) && ok
	ok = duration(&c.Overhead, 500*time.Millisecond) && ok
	ok = number(&c.KeptResults, bounds.Of(bounds.Results).Most) && ok
	ok = number(&c.KeptResultBytes, bounds.Of(bounds.Results).Bytes) && ok
	ok = duration(&c.ReadTimeout, 10*time.Second) && ok
	ok = duration(&c.WriteTimeout, 30*time.Second) && ok
	ok = duration(&c.IdleTimeout, 75*time.Second) && ok
	ok = duration(&c.Heartbeat, 10*time.Second) && ok
	if !ok {
		return c, errors.New("gateway: sizes and durations must not be negative")
	}
	if err := webhook.CheckAnswerHeaders(c.HookAnswerHeaders); err != nil {
		return c, fmt.Errorf("gateway: %w", err)
	}
	if c.HooksHost != "" && !validHost(c.HooksHost) {
		return c, fmt.Errorf("gateway: %q is not the name of a host", c.HooksHost)
	}
	if c.CallbackSecret != "" && !callbacks.ValidSecret(c.CallbackSecret) {
		return c, errors.New("gateway: the secret of callbacks must be whsec_ and base64 of 16 to 64 bytes after it")
	}
	for _, o := range c.CORSOrigins {
		if o == "*" && len(c.CORSOrigins) == 1 {
			continue
		}
		if err := checkOrigin(o); err != nil {
			return c, err
		}
	}
	return c, nil
}

// checkOrigin takes an origin as browsers send it (RFC 6454 §6.2) and nothing that looks like one.
func checkOrigin(o string) error {
	u, err := url.Parse(o)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.Scheme+"://"+u.Host != o || strings.ToLower(o) != o || strings.Contains(o, "*") {
		return fmt.Errorf("%q is not an origin; write it as browsers send it, such as https://app.example.com (scheme, host, port if unusual; lower case, no path)", o)
	}
	return nil
}

func (d Deps) checked() error {
	if d.Invoker == nil || d.Records == nil || d.Policy == nil || d.Limiter == nil || d.Auth == nil || d.Logger == nil || d.Now == nil || d.NewID == nil {
		return errors.New("gateway: every dependency is required")
	}
	return nil
}
