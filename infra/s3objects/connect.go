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

	"github.com/airlock-run/airlock/policy/outbound"
)

// Access says how S3 is reached. Credentials come from where the AWS SDK finds them.
type Access struct {
	// Endpoint is the URL of something other than AWS; buckets are then addressed by path.
	Endpoint string
	// Region overrides what the environment says.
	Region string
	// Attempts is how often a request is made before it counts as failed; AttemptTimeout bounds each of them. Both are
	// required.
	Attempts       int
	AttemptTimeout time.Duration
	// HTTP carries the requests; default the SDK's client.
	HTTP aws.HTTPClient
}

// Connect makes a client. A bare s3.Options would send no checksums; config.LoadDefaultConfig is the way.
func Connect(ctx context.Context, a Access) (*s3.Client, error) {
	options := []func(*config.LoadOptions) error{
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTransportOptions(limits(a.AttemptTimeout).Shape)),
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
	loaded, err := config.LoadDefaultConfig(ctx, options...)
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
		o.HTTPClient = bounded{limits(a.AttemptTimeout), o.HTTPClient}
	}), nil
}

// The bytes that are read of an object, which is at most a request or a record, and of any other answer: a list has
// 1000 keys of 1 KiB, written as XML.
const (
	maxObject = 96 << 20
	maxAnswer = 8 << 20
)

func limits(attempt time.Duration) outbound.Limits {
	return outbound.Limits{Body: maxAnswer, Total: attempt}
}

// bounded keeps the exchanges of a client within limits.
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

// OnTheWay are the codes of refusals of a request that was damaged or delayed on its way: it may be made again.
func OnTheWay() []string {
	return []string{"BadDigest", "IncompleteBody", "InvalidDigest", "RequestTimeTooSkewed", "XAmzContentSHA256Mismatch"}
}

// retryFreely lets every request have its attempts: a bad minute must not use up the retries of the next.
type retryFreely struct{}

func (retryFreely) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}
func (retryFreely) AddTokens(uint) error { return nil }
