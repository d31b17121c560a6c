package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/webhook"
	"github.com/airlock-run/airlock/gateway/access"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/callbacks"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/mcp"
	"github.com/airlock-run/airlock/gateway/meter"
	"github.com/airlock-run/airlock/gateway/waits"
	"github.com/airlock-run/airlock/policy/audit"
)

// Config sizes a Server. Each number that is 0 takes the default in its comment.
type Config struct {
	MaxBodyBytes int      // 16 MiB, of a request with code; a larger body is answered with 413
	MaxDataBytes int      // 1 MiB, of a request beside the text of its code and its files; at most MaxBodyBytes
	CORSOrigins  []string // exact origins ("https://app.example.com"), or "*" alone; none by default
	// Proxies are the networks of the proxies in front of the gateway. The last address in X-Forwarded-For of a request
	// that one of them forwards is the caller's. X-Forwarded-For of anybody else does not count.
	Proxies []netip.Prefix

	Places      int           // executions at once; 2
	SparePlaces int           // additional places, as queue.Config says; none
	QueueDepth  int           // executions that wait at once; 1,000
	QueueWait   time.Duration // longest wait for a place; 30 s
	Overhead    time.Duration // what a run may take beyond its tier's time before it is stopped; 500 ms

	// MultiInstance says that other gateways that share no memory with this one serve the same callers. Idempotency keys
	// are then kept in State, and refused without one.
	MultiInstance bool
	// NoBackgroundWork says that this process is suspended between requests. It then does nothing in the background, and
	// only RunDue runs jobs, callbacks and schedules.
	NoBackgroundWork bool
	// KeepCode has the records that the gateway writes contain the code and the whole request, as those of functions do,
	// of up to that many bytes as JSON. A larger request is answered with 413. 0 keeps neither.
	KeepCode int
	// Callbacks say which receivers requests may name and how callbacks are signed.
	Callbacks callbacks.Rules
	Hooks     HooksConfig

	// SnapshotKeys encrypt the snapshots of paused executions. Without them, no execution may pause.
	SnapshotKeys *waits.Keys

	Results ResultsConfig

	ReadTimeout  time.Duration // for a whole request, headers and body; 10 s
	WriteTimeout time.Duration // for a whole response, or one event of a stream; 30 s
	IdleTimeout  time.Duration // between requests of a connection; 75 s
	Streams      StreamsConfig
}

// ResultsConfig bounds the results that are kept in memory.
type ResultsConfig struct {
	Most  int // 1,000
	Bytes int // 64 MiB
}

// StreamsConfig configures streams of events.
type StreamsConfig struct {
	Heartbeat time.Duration // between comments on a silent stream; 10 s, at most half of WriteTimeout
	// ResumeWithin is how long a streamed run goes on after its client lost the connection: 5 s. A client that comes back
	// with Last-Event-ID in that time misses nothing.
	ResumeWithin time.Duration
	// NoCallerTools says that functions have no way back to the caller while they run, as on AWS Lambda. Requests with
	// tools of the caller are then refused.
	NoCallerTools bool
	// ToolAnswers is how many bytes the answers of attached servers that are commands may have in an execution: 2 MiB.
	ToolAnswers int
}

// HooksConfig configures webhooks.
type HooksConfig struct {
	// Rate is how many deliveries a webhook accepts in a minute if Deps.Limits has no HookLimiter: 300.
	Rate int
	// AnswerHeaders are X- headers that the code of webhooks may set on its answers, besides the few that are always
	// allowed.
	AnswerHeaders []string
	// Host is the host that serves webhooks, and nothing else. No webhook is served on another host. If empty, every host
	// serves everything. See also ServeHooks.
	Host string
}

// Wake is how processes are woken for stored work, in one of two ways.
type Wake struct {
	// Job has RunDue called soon for a stored job, in this process or another one.
	Job func(ctx context.Context, id string) error
	// Queues wake processes for jobs and callbacks. Without them, each process looks at the state all the time.
	Queues jobs.Queues
}

// Functions is what the functions of this machine report. Each of its fields may be nil.
type Functions struct {
	// Fleet returns the state of the function processes.
	Fleet func() meter.Fleet
	// Engines returns the state of the engines besides QuickJS.
	Engines func() []EngineState
	// Packages returns the npm packages that code may import, by name. Their tiers are not set.
	Packages func() []PackageState
	// Generation returns how often all of them were replaced because what they start with has changed: packages, policy,
	// attached servers. A result of an earlier generation is not reused.
	Generation func() uint64
	// Outlive says that they run on when the gateway has died.
	Outlive bool
	// Writes measures the audit records that the gateway stores for them.
	Writes *meter.Writes
}

// Deps are the parts of the deployment that a Server uses. Scanner, State, Wake, Redact, Functions, Examples,
// RemoteTools, Verify, Health and Tracer may be left out, and so may all Limits except Limiter. Everything else is
// required.
type Deps struct {
	Invoker Invoker
	Records Records
	Policy  Decider
	// Scanner scans the code that is expensive to scan. Without it, such code is refused.
	Scanner CodeScanner
	Auth    *authn.Authenticator
	Limits  access.Limits
	// Verify verifies the chains of the records against what else is known of them. Without it, Records verifies them,
	// if it can.
	Verify func(ctx context.Context) (audit.Report, error)
	// State keeps functions and jobs. Without it, the endpoints that need it respond with 501.
	State State
	// Wake wakes processes for stored work. Without it, the work is found later.
	Wake Wake
	// Redact removes secrets from a record that the gateway writes.
	Redact    func(*audit.Record)
	Functions Functions
	// Examples are the scripts that the playground offers, as package playground reads them.
	Examples fs.FS
	// RemoteTools are tools that every execution may call.
	RemoteTools mcp.ToolSource
	// Health are further parts that GET /readyz checks, such as Redis and the readers of code.
	Health []Health
	// Tracer makes the spans of requests and executions.
	Tracer trace.Tracer
	Logger *slog.Logger
	// AccessLog has a line for every request. It is nil if no such lines are written.
	AccessLog *slog.Logger
	Now       func() time.Time
	// NewID makes ids that [execution.ValidID] accepts. Each is different, and none can be guessed.
	NewID func() string
}

func (c Config) checked() (Config, error) {
	var wrong []string
	number := func(name string, v *int, fallback int) {
		if *v = cmp.Or(*v, fallback); *v < 0 {
			wrong = append(wrong, name)
		}
	}
	duration := func(name string, v *time.Duration, fallback time.Duration) {
		if *v = cmp.Or(*v, fallback); *v < 0 {
			wrong = append(wrong, name)
		}
	}
	number("MaxBodyBytes", &c.MaxBodyBytes, execution.MaxRequestBytes)
	number("MaxDataBytes", &c.MaxDataBytes, min(execution.MaxDataBytes, c.MaxBodyBytes))
	c.MaxDataBytes = min(c.MaxDataBytes, c.MaxBodyBytes)
	number("Streams.ToolAnswers", &c.Streams.ToolAnswers, 2<<20)
	number("KeepCode", &c.KeepCode, 0)
	number("Places", &c.Places, 2)
	number("QueueDepth", &c.QueueDepth, bounds.Of(bounds.Waiting).Most)
	duration("QueueWait", &c.QueueWait, 30*time.Second)
	number("Hooks.Rate", &c.Hooks.Rate, 300)
	duration("Overhead", &c.Overhead, 500*time.Millisecond)
	number("Results.Most", &c.Results.Most, bounds.Of(bounds.Results).Most)
	number("Results.Bytes", &c.Results.Bytes, bounds.Of(bounds.Results).Bytes)
	duration("ReadTimeout", &c.ReadTimeout, 10*time.Second)
	duration("WriteTimeout", &c.WriteTimeout, 30*time.Second)
	duration("IdleTimeout", &c.IdleTimeout, 75*time.Second)
	duration("Streams.ResumeWithin", &c.Streams.ResumeWithin, 5*time.Second)
	duration("Streams.Heartbeat", &c.Streams.Heartbeat, 10*time.Second)
	if len(wrong) > 0 {
		return c, fmt.Errorf("gateway: these must not be negative: %s", strings.Join(wrong, ", "))
	}
	if err := webhook.CheckAnswerHeaders(c.Hooks.AnswerHeaders); err != nil {
		return c, fmt.Errorf("gateway: %w", err)
	}
	if c.Hooks.Host != "" && !validHost(c.Hooks.Host) {
		return c, fmt.Errorf("gateway: %q is not a host name", c.Hooks.Host)
	}
	if c.Callbacks.Secret != "" && !callbacks.ValidSecret(c.Callbacks.Secret) {
		return c, errors.New("gateway: the secret of callbacks must be whsec_ followed by the base64 of 16 to 64 bytes")
	}
	for _, o := range c.CORSOrigins {
		if o == "*" && len(c.CORSOrigins) == 1 {
			continue
		}
		if err := api.CheckOrigin(o); err != nil {
			return c, fmt.Errorf("gateway: %w", err)
		}
	}
	return c, nil
}

func (d Deps) checked() error {
	var missing []string
	for name, given := range map[string]bool{
		"Invoker": d.Invoker != nil, "Records": d.Records != nil, "Policy": d.Policy != nil, "Auth": d.Auth != nil,
		"Limits.Limiter": d.Limits.Limiter != nil, "Logger": d.Logger != nil, "Now": d.Now != nil, "NewID": d.NewID != nil,
	} {
		if !given {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return fmt.Errorf("gateway: these dependencies are required: %s", strings.Join(missing, ", "))
	}
	return nil
}
