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
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy/outbound"
)

// The service's limits, in bytes: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
const (
	maxRequest  = 6 << 20
	maxBuffered = 6 << 20
	maxStreamed = 20 << 20
)

// Handover is a store that gateway and function share.
type Handover interface {
	// Put keeps the JSON of an invocation and gives what stands for it. The error is an *execution.Error.
	Put(ctx context.Context, id string, payload []byte) (execution.Handover, error)
}

// placeholder stands for the tier in Config.Function.
const placeholder = "{policy}"

// Config says which function to invoke. Function is required; credentials and region come from where the AWS SDK looks
// for them unless they are set here.
type Config struct {
	// Function is a name or an ARN; Qualifier a version or alias, "" the latest. "{policy}" in a Function stands for the
	// tier of each request: a function of its own for every tier.
	Function, Qualifier string
	// Policies are the tiers that have a function, for a Function with "{policy}". The first is that of requests which
	// name none; Ready asks for all of them.
	Policies []string
	// Endpoint replaces the service's own, for an emulator. Where no credentials are found for it, none are used.
	Endpoint string
	// Region and Credentials replace what the SDK finds.
	Region      string
	Credentials aws.CredentialsProvider
	// Tenants passes Caller.Tenant on as the tenant id: for a function whose TenancyConfig is PER_TENANT, and only for
	// one. Executions without a tenant then go to the tenant "none".
	Tenants bool
	// Buffered uses Invoke, for emulators that cannot stream: logs arrive with the end, answers are at most 6 MiB.
	Buffered bool
	// Handover keeps requests that are too large to be carried, where the function finds them; nil refuses them.
	Handover Handover
	// Grace is how long after the deadline of an execution its own report of that is waited for. Default 2 s.
	Grace time.Duration
	// ReadyFor is how long a successful Ready holds good, so that probes do not use up the account's request rate.
	// Default 10 s.
	ReadyFor time.Duration
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// New checks cfg and makes a Client. It does not talk to Lambda; see [Client.Ready].
func New(ctx context.Context, cfg Config) (*Client, error) {
	if cfg.Function == "" {
		return nil, errors.New("lambda invoker: Function is not set")
	}
	if strings.Contains(cfg.Function, placeholder) != (len(cfg.Policies) > 0) {
		return nil, errors.New("lambda invoker: " + placeholder + " in Function needs Policies, and the other way round")
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

// load finds region and credentials.
func load(ctx context.Context, cfg Config) (aws.Config, error) {
	options := []func(*config.LoadOptions) error{
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTransportOptions(limits().Shape)),
	}
	if cfg.Region != "" {
		options = append(options, config.WithRegion(cfg.Region))
	}
	if cfg.Credentials != nil {
		options = append(options, config.WithCredentialsProvider(cfg.Credentials))
	}
	account, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return account, fmt.Errorf("lambda invoker: load AWS configuration: %w", err)
	}
	if cfg.Endpoint == "" {
		if account.Region == "" {
			return account, errors.New("lambda invoker: AWS_REGION is not set, and neither does the AWS configuration name a " +
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

// limits bound what is read of the service. A streamed answer is framed in events; a function runs for 15 minutes at
// most.
func limits() outbound.Limits {
	return outbound.Limits{Body: 2 * maxStreamed, Total: 16 * time.Minute}
}

// bounded keeps the exchanges of a client within limits.
type bounded struct{ next lambda.HTTPClient }

// Do implements lambda.HTTPClient.
func (b bounded) Do(r *http.Request) (*http.Response, error) {
	return limits().Bound(outbound.RoundTripperFunc(b.next.Do)).RoundTrip(r)
}

// plainBodies hides from net/http that the SDK's request bodies are io.WriterTo. The SDK closes the body of a request
// as soon as the response begins, which a streaming service may do while the client still looks for the end of that
// body; a WriterTo that was closed gives io.EOF as an error, and net/http then gives up the connection, and with it
// the answer.
type plainBodies struct{ lambda.HTTPClient }

// Do implements lambda.HTTPClient.
func (c plainBodies) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return c.HTTPClient.Do(r)
}
