package events

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy/outbound"
	lambdaevents "github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdaurl"
)

// frontLimits returns the limits on reading from the server: Lambda ends an invocation after 15 minutes and streams
// 200 MB.
func frontLimits() outbound.Limits {
	return outbound.Limits{Body: 200 << 20, Total: 15 * time.Minute, Stream: 15 * time.Minute}
}

// Front returns a handler that puts an HTTP server in the same environment behind a Function URL: each event becomes
// a request to target, and the answer streams back as it is written, including server-sent events. The Function URL
// must have the invoke mode RESPONSE_STREAM. The server sees only the client's address in X-Forwarded-For, whatever
// the client sent.
func Front(target *url.URL) http.Handler {
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		Transport:     frontLimits().Transport(outbound.Options{}),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
			for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip"} {
				r.Out.Header.Del(name)
			}
			r.Out.Header.Set("X-Forwarded-For", r.In.RemoteAddr)
			r.Out.Header.Set("X-Forwarded-Proto", "https")
			if event, ok := lambdaurl.RequestFromContext(r.In.Context()); ok && len(event.Cookies) > 0 {
				r.Out.Header.Set("Cookie", strings.Join(event.Cookies, "; "))
			}
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			answer := problem(&execution.Error{Code: execution.Unavailable, Message: "the gateway is not answering; try again"})
			for name, values := range answer.header {
				w.Header()[name] = values
			}
			w.WriteHeader(answer.status)
			// If this fails, the client is gone.
			_, _ = io.WriteString(w, answer.body)
		},
	}
	return proxy
}

// ServeFront answers Function URL events from the Lambda Runtime API with handler until the process ends; it does not
// return. If buffered is set, it serves API Gateway HTTP APIs, which accept whole answers only: an event stream
// arrives when it has ended, and at most 6 MiB of it.
func ServeFront(handler http.Handler, buffered bool) {
	if buffered {
		lambda.Start(Buffered(handler))
		return
	}
	lambdaurl.Start(handler)
}

// Buffered returns a Lambda handler for API Gateway HTTP APIs (payload 2.0) that calls an http.Handler.
func Buffered(handler http.Handler) func(context.Context,
	*lambdaevents.LambdaFunctionURLRequest) (json.RawMessage, error) {
	streaming := lambdaurl.Wrap(handler)
	return func(ctx context.Context, event *lambdaevents.LambdaFunctionURLRequest) (json.RawMessage, error) {
		if event.RequestContext.HTTP.Method == "" {
			return nil, errors.New("the event is not an HTTP request with payload 2.0")
		}
		streamed, err := streaming(ctx, event)
		if err != nil {
			return nil, fmt.Errorf("serve HTTP event: %w", err)
		}
		body, err := io.ReadAll(io.LimitReader(streamed.Body, maxAnswer))
		if err := errors.Join(err, streamed.Close()); err != nil {
			return nil, fmt.Errorf("read the answer to an HTTP event: %w", err)
		}
		answer := lambdaevents.LambdaFunctionURLResponse{
			StatusCode: streamed.StatusCode, Headers: streamed.Headers, Cookies: streamed.Cookies, Body: string(body),
		}
		if !utf8.Valid(body) {
			answer.Body, answer.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
		}
		if wire, err := json.Marshal(answer); err == nil && len(wire) < maxAnswer {
			return wire, nil
		}
		r := problem(&execution.Error{Code: execution.Internal,
			Message: fmt.Sprintf("the answer is larger than the %d bytes that can be sent here", maxAnswer)})
		return json.Marshal(lambdaevents.LambdaFunctionURLResponse{StatusCode: r.status, Headers: single(r.header),
			Body: r.body})
	}
}
