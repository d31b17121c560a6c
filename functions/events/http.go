package events

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"unicode/utf8"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/webhook"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// exchange is one HTTP request, from any source.
type exchange struct {
	kind          Kind
	method, path  string
	query         map[string]string
	header        http.Header
	body          string
	encoded       bool // body is base64
	caller        execution.Caller
	authenticated bool // by the provider, before the function was called
}

// reply is one HTTP answer with a UTF-8 body.
type reply struct {
	status int
	header http.Header
	body   string
}

// The largest answers that reach the client, in bytes of JSON.
const (
	maxAnswer             = 6 << 20 // of any synchronous invocation
	maxLoadBalancerAnswer = 1 << 20
)

// serveHTTP runs the execution that an HTTP request asks for. It always returns an answer.
func (w work) serveHTTP(ctx context.Context, x exchange) reply {
	request, bound, refused := w.admit(x)
	if refused != nil {
		return *refused
	}
	result, err := w.execute(ctx, x.kind, x.caller, request)
	if err != nil {
		return problem(platform(err))
	}
	answer := plain(result)
	if bound {
		answer = chosen(result, w.cfg.AnswerHeaders)
	}
	limit := maxAnswer
	if x.kind == LoadBalancer {
		limit = maxLoadBalancerAnswer
	}
	if wire, err := json.Marshal(answer.body); err != nil || len(wire)+4096 > limit {
		return problem(&execution.Error{Code: execution.Internal,
			Message: fmt.Sprintf("execution %s ended and was recorded, but its result is larger than the %d bytes that can "+
				"be answered here", result.ID, limit-4096)})
	}
	return answer
}

// admit returns the request to run for an HTTP request, or an error if it may not run.
func (w work) admit(x exchange) (execution.Request, bool, *reply) {
	_, bound := w.cfg.Bound[x.kind]
	refuse := func(r reply) (execution.Request, bool, *reply) { return execution.Request{}, bound, &r }
	body, err := x.content()
	if err != nil {
		return refuse(problem(invalid("body", "is not base64, although the event says so")))
	}
	if int64(len(body)) > w.cfg.MaxBody {
		return refuse(problem(&execution.Error{Code: execution.TooLarge,
			Message: fmt.Sprintf("the body has %d bytes; at most %d are accepted", len(body), w.cfg.MaxBody)}))
	}
	if !x.authenticated && !w.cfg.OpenHTTP && (w.cfg.Verify == nil || w.cfg.Verify(x.header.Clone(), body) != nil) {
		return refuse(status(http.StatusUnauthorized, "the request carries no credentials that are accepted here", ""))
	}
	if !bound && x.method != http.MethodPost {
		r := status(http.StatusMethodNotAllowed,
			fmt.Sprintf("%s is not served here; POST an execution request", clip(x.method)), "")
		r.header.Set("Allow", http.MethodPost)
		return refuse(r)
	}
	sees := webhook.Sees(webhook.AnyHeaders(), w.cfg.Headers)
	request, err := w.request(x.kind, body, webhook.NewEvent(x.method, x.path, x.query, x.header, sees, body))
	if err != nil {
		return refuse(problem(platform(err)))
	}
	return request, bound, nil
}

func (x exchange) content() ([]byte, error) {
	if x.encoded {
		return base64.StdEncoding.DecodeString(x.body)
	}
	return []byte(x.body), nil
}

// plain returns an answer with the whole result.
func plain(result execution.Result) reply {
	body, err := json.Marshal(result)
	if err != nil {
		return problem(&execution.Error{Code: execution.Internal, Message: "the result cannot be encoded"})
	}
	return reply{status: http.StatusOK, header: jsonHeader("application/json"), body: string(body)}
}

// statuses returns the HTTP status of a platform failure.
func statuses(code execution.Code) int {
	switch code {
	case execution.InvalidRequest:
		return http.StatusBadRequest
	case execution.TooLarge:
		return http.StatusRequestEntityTooLarge
	case execution.Throttled:
		return http.StatusTooManyRequests
	case execution.Unavailable, execution.Unrecorded:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// problem returns the answer to a platform failure (RFC 9457). The wrapped error is not shown.
func problem(e *execution.Error) reply {
	code := statuses(e.Code)
	detail := e.Message
	if e.Field != "" {
		detail = e.Field + ": " + detail
	}
	r := status(code, detail, e.Field)
	if code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable {
		seconds := max(1, int((e.RetryAfter.Milliseconds()+999)/1000))
		r.header.Set("Retry-After", fmt.Sprint(seconds))
	}
	return r
}

// status returns an answer with a problem document.
func status(code int, detail, field string) reply {
	detail = validText(detail)
	body, err := json.Marshal(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
		Error  string `json:"error"`
		Field  string `json:"field,omitempty"`
	}{"about:blank", http.StatusText(code), code, detail, detail, validText(field)})
	if err != nil {
		body = []byte("{}")
	}
	return reply{status: code, header: jsonHeader("application/problem+json"), body: string(body)}
}

func jsonHeader(contentType string) http.Header {
	return http.Header{
		"Content-Type":           {contentType},
		"Cache-Control":          {"no-store"},
		"X-Content-Type-Options": {"nosniff"},
	}
}

func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// tenant returns the tenant that Lambda isolated the invocation for, or "".
func tenant(ctx context.Context) string {
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		return lc.TenantID
	}
	return ""
}
