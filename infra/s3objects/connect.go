package s3objects

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/airlock-run/airlock/infra/awsconfig"
	"github.com/airlock-run/airlock/policy/outbound"
)

// MaxConns is the number of connections to S3 that stay open for the next request.
const MaxConns = 64

// Access configures the connection to S3. Credentials come from the AWS SDK.
type Access struct {
	// Endpoint is the URL of a service other than AWS; buckets are then addressed by path.
	Endpoint string
	// Region overrides the environment's.
	Region string
	// Attempts is the number of attempts of a request; AttemptTimeout bounds each. Both are required.
	Attempts       int
	AttemptTimeout time.Duration
	// HTTP sends the requests; the default is the SDK's client.
	HTTP aws.HTTPClient
}

// Connect returns a client. A bare s3.Options would send no checksums; config.LoadDefaultConfig does.
func Connect(ctx context.Context, a Access) (*s3.Client, error) {
	options := []func(*config.LoadOptions) error{
		config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenSupported),
		config.WithRetryer(func() aws.Retryer {
			return retry.AddWithErrorCodes(retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts = a.Attempts
				o.MaxBackoff = a.AttemptTimeout / 4
				o.RateLimiter = retryFreely{}
			}), OnTheWay()...)
		}),
	}
	if a.Region != "" {
		options = append(options, config.WithRegion(a.Region))
	}
	loaded, err := awsconfig.Load(ctx, limits(a.AttemptTimeout), options...)
	if err != nil {
		return nil, fmt.Errorf("AWS configuration: %w", err)
	}
	if loaded.Region == "" {
		loaded.Region = "us-east-1" // where S3's global endpoint is; a bucket elsewhere says so in its answer
	}
	return s3.NewFromConfig(loaded, func(o *s3.Options) {
		if a.Endpoint != "" {
			o.BaseEndpoint, o.UsePathStyle = aws.String(a.Endpoint), true
		}
		if a.HTTP != nil {
			o.HTTPClient = a.HTTP
		}
		if c, ok := o.HTTPClient.(*awshttp.BuildableClient); ok {
			o.HTTPClient = c.WithTransportOptions(func(t *http.Transport) { t.MaxIdleConnsPerHost = MaxConns })
		}
		o.HTTPClient = bounded{limits(a.AttemptTimeout), o.HTTPClient}
	}), nil
}

// The limits on reading an object, which is at most a request or a record, and any other answer: a list has 1000 keys
// of 1 KiB in XML.
const (
	maxObject = 96 << 20
	maxAnswer = 8 << 20
)

func limits(attempt time.Duration) outbound.Limits {
	return outbound.Limits{Body: maxAnswer, Total: attempt}
}

// bounded applies limits to the exchanges of a client.
type bounded struct {
	limits outbound.Limits
	next   aws.HTTPClient
}

// Do implements aws.HTTPClient.
func (b bounded) Do(r *http.Request) (*http.Response, error) {
	within := b.limits
	if r.Method == http.MethodGet && r.URL.Query().Get("x-id") == "GetObject" {
		within.Body = maxObject
	}
	return within.Bound(outbound.RoundTripperFunc(b.next.Do)).RoundTrip(r)
}

// OnTheWay returns the error codes of requests that were damaged or delayed on their way and may be repeated.
func OnTheWay() []string {
	return []string{"BadDigest", "IncompleteBody", "InvalidDigest", "RequestTimeTooSkewed", "XAmzContentSHA256Mismatch"}
}

// retryFreely is a retryer without a shared budget: a bad minute must not use up the retries of the next.
type retryFreely struct{}

func (retryFreely) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}
func (retryFreely) AddTokens(uint) error { return nil }
