package lambdainvoke

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/awsconfig"
	"github.com/airlock-run/airlock/policy/outbound"
)

// The limits of the service in bytes: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
const (
	maxRequest  = 6 << 20
	maxBuffered = 6 << 20
	maxStreamed = 20 << 20
)

// Handover is a store that the gateway and the function share.
type Handover interface {
	// Put stores the JSON of an invocation and returns its handover. The error is an *execution.Error.
	Put(ctx context.Context, id string, payload []byte) (execution.Handover, error)
}

// placeholder stands for the tier in Config.Function.
const placeholder = "{policy}"

// Config selects the function. Function is required; credentials and region come from the AWS SDK unless they are set
// here.
type Config struct {
	// Function is a name or an ARN; Qualifier is a version or alias, "" for the latest. "{policy}" in Function stands
	// for the tier of each request, so that every tier has its own function.
	Function, Qualifier string
	// Policies are the tiers with a function if Function contains "{policy}". The first is the default tier; Ready
	// checks all.
	Policies []string
	// Endpoint replaces the service's endpoint, for an emulator. Without credentials for it, requests are unsigned.
	Endpoint string
	// Region and Credentials replace those of the SDK.
	Region      string
	Credentials aws.CredentialsProvider
	// Tenants passes Caller.Tenant on as the tenant ID, for a function whose TenancyConfig is PER_TENANT only.
	// Executions without a tenant go to the tenant "none".
	Tenants bool
	// Buffered uses Invoke, for emulators that cannot stream: logs arrive at the end, and answers have at most 6 MiB.
	Buffered bool
	// Handover stores requests that are too large to send, for the function to fetch; nil refuses them.
	Handover Handover
	// Grace is how long after an execution's deadline to wait for its own report. Default 2 s.
	Grace time.Duration
	// ReadyFor is how long a successful Ready is cached, so that probes do not use up the account's request rate.
	// Default 10 s.
	ReadyFor time.Duration
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// New returns a Client, or an error if cfg is invalid. It sends no request; see [Client.Ready].
func New(ctx context.Context, cfg Config) (*Client, error) {
	if cfg.Function == "" {
		return nil, errors.New("lambda invoker: Function is not set")
	}
	if strings.Contains(cfg.Function, placeholder) != (len(cfg.Policies) > 0) {
		return nil, errors.New("lambda invoker: " + placeholder + " in Function needs Policies, and vice versa")
	}
	if cfg.Grace < 0 || cfg.ReadyFor < 0 {
		return nil, errors.New("lambda invoker: a duration is negative")
	}
	if cfg.Grace == 0 {
		cfg.Grace = 2 * time.Second
	}
	if cfg.ReadyFor == 0 {
		cfg.ReadyFor = 10 * time.Second
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	account, err := load(ctx, cfg)
	if err != nil {
		return nil, err
	}
	api := lambda.NewFromConfig(account, func(o *lambda.Options) {
		o.RetryMaxAttempts = 1
		o.HTTPClient = bounded{plainBodies{o.HTTPClient}}
		if cfg.Endpoint != "" {
			o.BaseEndpoint = aws.String(cfg.Endpoint)
		}
	})
	return &Client{cfg: cfg, api: api}, nil
}

// load returns the region and the credentials.
func load(ctx context.Context, cfg Config) (aws.Config, error) {
	var options []func(*config.LoadOptions) error
	if cfg.Region != "" {
		options = append(options, config.WithRegion(cfg.Region))
	}
	if cfg.Credentials != nil {
		options = append(options, config.WithCredentialsProvider(cfg.Credentials))
	}
	account, err := awsconfig.Load(ctx, limits(), options...)
	if err != nil {
		return account, fmt.Errorf("lambda invoker: load AWS configuration: %w", err)
	}
	if cfg.Endpoint == "" {
		if account.Region == "" {
			return account, errors.New("lambda invoker: AWS_REGION is not set, and the AWS configuration does not name a " +
				"region")
		}
		return account, nil
	}
	if account.Region == "" {
		account.Region = "us-east-1"
	}
	looking, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if _, err := account.Credentials.Retrieve(looking); err != nil {
		account.Credentials = aws.AnonymousCredentials{}
	}
	return account, nil
}

// limits returns the limits on reading from the service. A streamed answer is framed in events; a function runs for
// at most 15 minutes.
func limits() outbound.Limits {
	return outbound.Limits{Body: 2 * maxStreamed, Total: 16 * time.Minute}
}

// bounded applies limits to the exchanges of a client.
type bounded struct{ next lambda.HTTPClient }

// Do implements lambda.HTTPClient.
func (b bounded) Do(r *http.Request) (*http.Response, error) {
	return limits().Bound(outbound.RoundTripperFunc(b.next.Do)).RoundTrip(r)
}

// plainBodies hides from net/http that the SDK's request bodies are io.WriterTo. The SDK closes a request's body as
// soon as the response begins, which a streaming service may do before the client has read the end of that body. A
// closed WriterTo returns io.EOF as an error, and net/http then closes the connection and loses the answer.
type plainBodies struct{ lambda.HTTPClient }

// Do implements lambda.HTTPClient.
func (c plainBodies) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return c.HTTPClient.Do(r)
}
