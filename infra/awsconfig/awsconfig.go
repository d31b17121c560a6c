// Package awsconfig loads the configuration of the AWS SDK for the packages of infra. The SDK looks up credentials at
// a container's endpoint, the metadata service, STS, SSO or the sign-in service, and reads their answers whole; this
// package bounds those answers, and lets no answer lead elsewhere. Start with [Load].
package awsconfig

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/airlock-run/airlock/policy/outbound"
)

// lookups returns the limits on one exchange of a look-up. Credentials have a few KiB.
func lookups() outbound.Limits { return outbound.Limits{Body: 1 << 20, Total: 5 * time.Second} }

// Load loads the default configuration. Its look-ups of credentials are bounded. Its HTTP client has the
// shape of limits; the users of that client bound what it reads.
func Load(
	ctx context.Context, limits outbound.Limits, options ...func(*config.LoadOptions) error,
) (aws.Config, error) {
	loaded, err := config.LoadDefaultConfig(ctx, append(options,
		// The SDK writes its warnings to stderr, between the lines of the log, one for each answer that it does not like.
		config.WithLogger(logging.Nop{}),
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTransportOptions(limits.Shape, stay)),
		// The client of a container's endpoint does not use the client of the configuration.
		config.WithEndpointCredentialOptions(func(o *endpointcreds.Options) {
			o.HTTPClient = awshttp.NewBuildableClient().WithTransportOptions(lookups().Shape, stay)
		}),
		config.WithAPIOptions([]func(*middleware.Stack) error{bound, whole, recovered}),
	)...)
	// The clients that look up credentials already have their options. Other clients have limits of their own.
	loaded.APIOptions = []func(*middleware.Stack) error{recovered}
	return loaded, err
}

// Bounded returns next with limits on each exchange. Clients of services use it for what their answers may take.
func Bounded(limits outbound.Limits, next aws.HTTPClient) aws.HTTPClient {
	return bounded{limits, next}
}

type bounded struct {
	limits outbound.Limits
	next   aws.HTTPClient
}

// Do implements aws.HTTPClient.
func (b bounded) Do(r *http.Request) (*http.Response, error) {
	return b.limits.Bound(outbound.RoundTripperFunc(b.next.Do)).RoundTrip(r)
}

// stay refuses the requests to which a redirect leads. The SDK's client follows those with the statuses 307 and 308 to
// any address, and not every service of it lets the client be replaced, so the transport refuses.
func stay(t *http.Transport) {
	proxy := t.Proxy
	t.Proxy = func(r *http.Request) (*url.URL, error) {
		switch {
		case r.Response != nil: // the redirect that caused the request
			return nil, fmt.Errorf("%s redirects elsewhere, which is not followed", r.Response.Request.URL.Host)
		case proxy == nil:
			return nil, nil
		}
		return proxy(r)
	}
}

// recovered makes a panic of the SDK an error. It decodes some answers, such as null, into a nil pointer that it
// follows, and it looks up credentials on a goroutine of its own, where a panic ends the process.
func recovered(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Recover", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("the answer cannot be read: %v", r)
			}
		}()
		return next.HandleInitialize(ctx, in)
	}), middleware.Before)
}

// whole makes an answer without its object an error: the SDK follows that nil pointer outside of the stack.
func whole(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("WholeAnswer", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		out, metadata, err := next.HandleInitialize(ctx, in)
		if err == nil && lacks(reflect.ValueOf(out.Result)) {
			err = errors.New("the answer has no credentials")
		}
		return out, metadata, err
	}), middleware.Before)
}

// lacks reports whether a result is a nil pointer, or lacks the credentials of a role.
func lacks(result reflect.Value) bool {
	if result.Kind() != reflect.Pointer {
		return false
	}
	if result.IsNil() {
		return true
	}
	if result.Elem().Kind() != reflect.Struct {
		return false
	}
	role := result.Elem().FieldByName("RoleCredentials")
	return role.IsValid() && role.Kind() == reflect.Pointer && role.IsNil()
}

// bound makes every exchange of a client one of lookups. It does not replace the HTTP client: with AWS_CA_BUNDLE the
// SDK accepts only a client that it built, and the client of the metadata service shortens the time-outs of such a
// client.
func bound(stack *middleware.Stack) error {
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("BoundAnswer", func(
		ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
	) (out middleware.DeserializeOutput, metadata middleware.Metadata, err error) {
		send := outbound.RoundTripperFunc(func(r *http.Request) (*http.Response, error) {
			out, metadata, err = next.HandleDeserialize(r.Context(), in)
			if err != nil {
				return nil, err
			}
			if answer, ok := out.RawResponse.(*smithyhttp.Response); ok {
				return answer.Response, nil // its body is replaced by a bounded one
			}
			return nil, errors.New("the response is not HTTP")
		})
		_, err = lookups().Bound(send).RoundTrip((&http.Request{}).WithContext(ctx))
		return out, metadata, err
	}), middleware.After)
}
