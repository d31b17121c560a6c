package lambdainvoke

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/airlock-run/airlock/functions/execution"
)

// A Waker invokes the function that runs jobs for a stored job. It is safe for concurrent use.
type Waker struct {
	function string
	api      *lambda.Client
}

// NewWaker returns a Waker for the function, credentials, region and endpoint in cfg. It sends no request.
func NewWaker(ctx context.Context, cfg Config) (*Waker, error) {
	if cfg.Function == "" {
		return nil, errors.New("lambda waker: Function is not set")
	}
	account, err := load(ctx, cfg)
	if err != nil {
		return nil, err
	}
	// Unlike an execution, this call may be repeated by the SDK: a job is claimed once.
	return &Waker{cfg.Function, lambda.NewFromConfig(account, func(o *lambda.Options) {
		o.HTTPClient = bounded{o.HTTPClient}
		if cfg.Endpoint != "" {
			o.BaseEndpoint = aws.String(cfg.Endpoint)
		}
	})}, nil
}

// Wake invokes the function asynchronously and returns when the service has accepted the invocation.
func (w *Waker) Wake(ctx context.Context, job string) error {
	_, err := w.api.Invoke(ctx, &lambda.InvokeInput{
		FunctionName: &w.function, InvocationType: types.InvocationTypeEvent, Payload: execution.RunDuePayload(job),
	})
	if err != nil {
		return fmt.Errorf("wake function %q: %w", w.function, err)
	}
	return nil
}
