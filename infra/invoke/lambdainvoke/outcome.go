package lambdainvoke

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/smithy-go"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/replystream"
)

// failed returns the reply or the error for a function's error.
func failed(a *replystream.Answer, f *replystream.Failure, took time.Duration) (execution.Reply, error) {
	family, _, dotted := strings.Cut(f.Type, ".")
	switch {
	case f.Type == replystream.TooLarge:
		return execution.Reply{}, f.Public()
	case f.Type == "Sandbox.Timedout", timedOut(f.Message):
		return a.CutShort(replystream.TimedOut, took, 0), nil
	case f.Type == "Runtime.OutOfMemory":
		return a.CutShort(replystream.OutOfMemory, took, 0), nil
	case dotted && (family == "Runtime" || family == "Sandbox" || family == "Extension"):
		return a.CutShort(replystream.Crashed, took, 0), nil
	}
	return execution.Reply{}, f.Public()
}

// timedOut reports whether text is Lambda's message about a function that it killed for its time.
func timedOut(text string) bool {
	return strings.Contains(text, "Task timed out after ") && len(text) < 1024
}

// lost returns the reply or the error for a call that failed on the way. An execution that may have run is never
// reported as one that did not.
func (c *Client) lost(ctx context.Context, a *replystream.Answer, err error,
	took time.Duration) (execution.Reply, error) {
	var api smithy.APIError
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return a.CutShort(replystream.Cancelled, took, 0), nil
	case errors.As(err, &api):
		return execution.Reply{}, refused(err)
	case unsent(err):
		return execution.Reply{}, unavailable(err)
	case ctx.Err() != nil:
		return a.CutShort(replystream.TimedOut, took, 0), nil
	}
	return a.CutShort(replystream.Crashed, took, 0), nil
}

// unsent reports whether a call failed before anything was sent.
func unsent(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return true
	}
	var name *net.DNSError
	var signing interface{ ProviderError() error } // of the credential providers
	return errors.As(err, &name) || errors.As(err, &signing)
}

// refused returns the error for an error of the service: the function did not run.
func refused(err error) *execution.Error {
	var throttled *types.TooManyRequestsException
	if errors.As(err, &throttled) {
		return throttledError(err, aws.ToString(throttled.RetryAfterSeconds))
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		return unavailable(err)
	}
	switch api.ErrorCode() {
	case "TooManyRequestsException", "ThrottlingException", "Throttling", "EC2ThrottledException":
		return throttledError(err, "")
	case "RequestTooLargeException", "RequestEntityTooLargeException":
		return &execution.Error{Code: execution.TooLarge, Message: "the request is too large to be carried to the function",
			Err: err}
	case "ResourceNotFoundException", "AccessDeniedException", "InvalidParameterValueException",
		"InvalidRequestContentException",
		"UnrecognizedClientException", "InvalidSignatureException", "ExpiredTokenException",
		"MissingAuthenticationTokenException",
		"InvalidRuntimeException", "UnsupportedMediaTypeException", "RecursiveInvocationException":
		return replystream.Internal(err) // the deployment is wrong; no second try will help
	}
	return unavailable(err)
}

func throttledError(err error, after string) *execution.Error {
	wait := time.Second
	if n, bad := strconv.Atoi(after); bad == nil && n > 0 && n <= 3600 {
		wait = time.Duration(n) * time.Second
	}
	return &execution.Error{Code: execution.Throttled, Message: "too many executions at once", RetryAfter: wait, Err: err}
}

func unavailable(err error) *execution.Error {
	return &execution.Error{Code: execution.Unavailable, Message: "the function cannot be reached",
		RetryAfter: time.Second, Err: err}
}
