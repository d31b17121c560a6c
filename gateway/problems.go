package gateway

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/hooks"
	"github.com/airlock-run/airlock/gateway/queue"
)

// problem is an outcome that is not a result. detail is shown to the caller; cause is for the log alone.
type problem struct {
	status int
	code   string // append-only; the status's own when empty
	field  string
	// line and column are where in the code of field, counting from 1; 0 when it is not about code.
	line, column int
	detail       string // the status's own when empty
	retryAfter   time.Duration
	challenge    string // WWW-Authenticate
	cause        error
}

// Error gives the detail and the cause, for the log.
func (p *problem) Error() string {
	if p.cause != nil {
		return p.detail + ": " + p.cause.Error()
	}
	return p.detail
}

// document is RFC 9457's, with error repeating detail for clients that look for it there.
type document struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail"`
	Instance  string `json:"instance"`
	Error     string `json:"error"`
	Code      string `json:"code"`
	Field     string `json:"field,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	RequestID string `json:"requestId"`
}

// outcome is what a status means when nothing more precise is known.
func outcome(status int) (code, detail string) {
	switch status {
	case 400:
		return "bad_request", "the request is not valid HTTP/1.1"
	case 401:
		return "unauthenticated", "credentials are required"
	case 403:
		return "forbidden", "this is not allowed"
	case 404:
		return "not_found", "there is nothing at this path; GET /docs lists what there is"
	case 405:
		return "method_not_allowed", "the method is not supported at this path; see the Allow header"
	case 408:
		return "request_timeout", "the request arrived too slowly"
	case 411:
		return "length_required", "a body with a Content-Length is required"
	case 413:
		return "too_large", "the body is larger than is accepted here"
	case 415:
		return "unsupported_media_type", "send the body as application/json, without a content coding"
	case 409:
		return "conflict", "this is in conflict with another request"
	case 417:
		return "expectation_failed", "this expectation is not supported"
	case 422:
		return "unprocessable", "this cannot be carried out"
	case 429:
		return "rate_limited", "there were too many requests"
	case 431:
		return "header_too_large", fmt.Sprintf("the request line and headers take more than %d bytes", maxHeadBytes)
	case 501:
		return "not_implemented", "this is not supported"
	case 503:
		return "unavailable", "the service cannot take this now; try again"
	}
	return "internal", "the request failed inside the platform"
}

// problemOf is the one table from what went wrong to HTTP.
func problemOf(err error) *problem {
	var (
		own     *problem
		exec    *execution.Error
		full    *queue.Full
		refusal *authn.Refusal
		forged  *hooks.Refusal
		framed  *fiber.Error
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &exec):
		return ofExecution(exec)
	case errors.As(err, &full):
		return &problem{status: 503, code: "queue_full", detail: "too many executions are waiting; try again", retryAfter: full.RetryAfter}
	case errors.As(err, &refusal):
		challenge := `Bearer realm="airlock"`
		if !refusal.Absent {
			challenge += `, error="invalid_token", error_description="` + refusal.Reason + `"`
		}
		return &problem{status: 401, detail: refusal.Reason, challenge: challenge}
	case errors.As(err, &forged):
		return &problem{status: 401, code: "invalid_signature", detail: forged.Reason, challenge: `Webhook realm="airlock"`}
	case ofState(err) != nil:
		return ofState(err)
	case errors.As(err, &framed):
		return ofFraming(framed.Code)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &problem{status: 503, retryAfter: time.Second, cause: err}
	}
	return &problem{status: 500, cause: err}
}

func ofExecution(e *execution.Error) *problem {
	p := &problem{code: string(e.Code), field: e.Field, detail: e.Message, retryAfter: e.RetryAfter, cause: e.Err}
	switch e.Code {
	case execution.InvalidRequest:
		p.status = 400
		if e.Field != "" {
			p.detail = e.Field + ": " + e.Message
		}
		return p
	case execution.TooLarge:
		p.status = 413
		return p
	case execution.Unavailable, execution.Throttled, execution.Unrecorded:
		p.status = 503
		if p.retryAfter <= 0 {
			p.retryAfter = time.Second
		}
		return p
	case execution.Internal:
	}
	return &problem{status: 500, code: string(execution.Internal), cause: e}
}

// ofFraming keeps the HTTP library's own words from callers; they describe its internals.
func ofFraming(status int) *problem {
	if status == http.StatusBadGateway || status < 400 {
		status = 400
	}
	return &problem{status: status}
}

// fail is the error handler: every error of every handler, and of the HTTP library, is rendered here.
func (s *Server) fail(c *fiber.Ctx, err error) error {
	if options(c, err) {
		dress(c, s.deps.NewID)
		return nil
	}
	err = s.astray(c, err)
	p := problemOf(err)
	id := dress(c, s.deps.NewID)
	if p.retryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(seconds(p.retryAfter)))
	}
	if p.challenge != "" {
		c.Set(fiber.HeaderWWWAuthenticate, p.challenge)
	}
	c.Status(p.status).Set(fiber.HeaderContentType, "application/problem+json")
	return c.Send(s.document(err, c.Path(), id))
}

// document counts and logs a failure, and words it for the caller.
func (s *Server) document(err error, path, requestID string) []byte {
	p := problemOf(err)
	code, detail := outcome(p.status)
	if p.code != "" {
		code = p.code
	}
	switch {
	case p.detail != "":
		detail = p.detail
	case p.status == 413:
		detail = fmt.Sprintf("the body is larger than the %d bytes that are accepted", s.cfg.MaxBodyBytes)
	}
	if p.status >= 500 {
		s.deps.Logger.Warn("a request failed", "status", p.status, "code", code, "request", requestID, "path", path, "error", err)
	}
	s.meter.Refuse(code)
	return raw(document{
		Type: "about:blank", Title: http.StatusText(p.status), Status: p.status, Detail: detail, Error: detail,
		Instance: (&url.URL{Path: path}).EscapedPath(), Code: code, Field: p.field, Line: p.line, Column: p.column, RequestID: requestID,
	})
}

// seconds rounds up: a caller who waits that long is not too early.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
