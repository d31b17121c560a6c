package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/hooks"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/mcp"
	"github.com/airlock-run/airlock/gateway/meter"
	"github.com/airlock-run/airlock/gateway/queue"
	"github.com/airlock-run/airlock/gateway/registry"
	"github.com/airlock-run/airlock/gateway/waits"
)

// problems renders, counts and logs failures. It is safe for concurrent use.
type problems struct {
	meter        *meter.Meter
	maxBodyBytes int
	newID        func() string
	// routes lists what is served, for requests that miss it.
	routes func() []string
	logger *slog.Logger
}

// problemDocument is that of RFC 9457. Its member error repeats detail, for clients that look for it there, and message
// does so for those of Piston and E2B.
type problemDocument struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail"`
	Instance  string `json:"instance"`
	Error     string `json:"error"`
	Message   string `json:"message,omitempty"`
	Code      string `json:"code"`
	Field     string `json:"field,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	RequestID string `json:"requestId"`
}

// defaultsOf returns the code and the detail of a status about which nothing more is known.
func defaultsOf(status int) (code, detail string) {
	switch status {
	case 400:
		return "bad_request", "the request is not valid HTTP/1.1"
	case 401:
		return "unauthenticated", "credentials are required"
	case 403:
		return "forbidden", "this is not allowed"
	case 404:
		return "not_found", "there is nothing at this path; GET /docs lists the routes"
	case 405:
		return "method_not_allowed", "the method is not supported at this path; see the Allow header"
	case 408:
		return "request_timeout", "the request arrived too slowly"
	case 409:
		return "conflict", "this is in conflict with another request"
	case 411:
		return "length_required", "a body with a Content-Length is required"
	case 412:
		return "precondition_failed", "a condition of the request does not hold"
	case 413:
		return "too_large", "the body is larger than is accepted here"
	case 415:
		return "unsupported_media_type", "send the body as application/json, without a content coding"
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

// problemOf returns the problem of an error. It is the one table from errors to HTTP.
func problemOf(err error) *api.Problem {
	var (
		own     *api.Problem
		exec    *execution.Error
		full    *queue.Full
		refusal *authn.Refusal
		forged  *hooks.Refusal
		http    *fiber.Error
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &exec):
		return executionProblem(exec)
	case errors.As(err, &full):
		detail := "too many executions are waiting; try again"
		if full.Waited > 0 {
			detail = full.Error() + "; try again"
		}
		return &api.Problem{Status: 503, Code: "queue_full", Detail: detail, RetryAfter: full.RetryAfter}
	case errors.As(err, &refusal):
		challenge := `Bearer realm="airlock"`
		if !refusal.Absent {
			challenge += `, error="invalid_token", error_description="` + refusal.Reason + `"`
		}
		return &api.Problem{Status: 401, Detail: refusal.Reason, Challenge: challenge}
	case errors.As(err, &forged):
		return &api.Problem{
			Status: 401, Code: "invalid_signature", Detail: forged.Reason, Challenge: `Webhook realm="airlock"`,
		}
	}
	if p := stateProblem(err); p != nil {
		return p
	}
	switch {
	case errors.As(err, &http):
		return httpProblem(http.Code)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &api.Problem{Status: 503, RetryAfter: time.Second, Cause: err}
	}
	return &api.Problem{Status: 500, Cause: err}
}

func executionProblem(e *execution.Error) *api.Problem {
	p := &api.Problem{Code: string(e.Code), Field: e.Field, Detail: e.Message, RetryAfter: e.RetryAfter, Cause: e.Err}
	switch e.Code {
	case execution.InvalidRequest:
		p.Status = 400
		if e.Field != "" {
			p.Detail = e.Field + ": " + e.Message
		}
		return p
	case execution.TooLarge:
		p.Status = 413
		return p
	case execution.Unavailable, execution.Throttled, execution.Unrecorded:
		p.Status = 503
		if p.RetryAfter <= 0 {
			p.RetryAfter = time.Second
		}
		return p
	case execution.Internal:
	}
	return &api.Problem{Status: 500, Code: string(execution.Internal), Cause: e}
}

// httpProblem drops the words of the HTTP library, which describe its internals.
func httpProblem(status int) *api.Problem {
	if status == http.StatusBadGateway || status < 400 {
		status = 400
	}
	return &api.Problem{Status: status}
}

// stateProblem returns the problem of what the state refused, or nil for any other error.
func stateProblem(err error) *api.Problem {
	var (
		missing  *registry.Missing
		conflict *registry.Conflict
		changed  *registry.Changed
		quota    *execution.QuotaError
		fault    *execution.StoreError
		unfit    *waits.Refusal
	)
	switch {
	case errors.As(err, &missing):
		return &api.Problem{Status: 404, Detail: missing.What}
	case errors.As(err, &conflict):
		return &api.Problem{Status: 409, Detail: conflict.Reason}
	case errors.As(err, &changed):
		return &api.Problem{Status: 412, Detail: changed.Reason}
	case errors.As(err, &quota):
		return quotaProblem(quota)
	case errors.Is(err, execution.ErrContentLost): // to repeat the request does not help
		return &api.Problem{
			Status: 409, Code: "content_lost", Cause: err,
			Detail: "a part of what was stored is lost or damaged, so this cannot go on; it can be cancelled or deleted",
		}
	case errors.As(err, &fault):
		return faultProblem(fault)
	case errors.Is(err, execution.ErrNotKept):
		return &api.Problem{
			Status: 501, Code: "stateless",
			Detail: "this gateway keeps neither jobs nor schedules: no process would run them later",
		}
	case errors.Is(err, execution.ErrFull):
		return &api.Problem{
			Status: 503, Code: "queue_full", Detail: "too many jobs are waiting", Hint: "try again",
			RetryAfter: 5 * time.Second,
		}
	case errors.As(err, &unfit):
		return unfitProblem(unfit)
	case errors.Is(err, jobs.ErrEnded):
		return &api.Problem{
			Status: 409, Code: "ended", Detail: "the execution has ended; there is nothing to cancel",
		}
	}
	return nil
}

// unfitProblem returns the problem of a decision that does not apply to a paused execution.
func unfitProblem(e *waits.Refusal) *api.Problem {
	if e.Invalid {
		return &api.Problem{Status: 400, Code: string(execution.InvalidRequest), Detail: e.Reason}
	}
	return &api.Problem{Status: 409, Code: "not_waiting", Detail: e.Reason}
}

// quotaProblem returns 507 if only deleting makes room, and 429 if waiting does. Both name the quota, its use, and
// what to do.
func quotaProblem(e *execution.QuotaError) *api.Problem {
	unit := "bytes"
	if e.Quota == execution.QuotaSchedules {
		unit = "functions with a schedule"
	}
	detail := fmt.Sprintf("the tenant's storage quota %q is used up: %d of %d %s", e.Quota, e.Used, e.Limit, unit)
	if e.After > 0 {
		return &api.Problem{
			Status: 429, Code: "storage_quota", RetryAfter: e.After,
			Detail: detail, Hint: "stored data expires: see Retry-After, or have the operator raise quota.storage",
		}
	}
	return &api.Problem{
		Status: 507, Code: "storage_quota", Detail: detail,
		Hint: "delete some, or have the operator raise quota.storage",
	}
}

// faultProblem returns the problem of a store that does not work. Each code has a runbook in OPERATIONS.md.
func faultProblem(e *execution.StoreError) *api.Problem {
	const soon, later = time.Second, time.Minute
	switch e.Fault {
	case execution.StoreFull:
		return &api.Problem{
			Status: 507, Code: "store_full", Detail: "the disk of the state is full",
			Hint: api.NothingChanged, Cause: e,
		}
	case execution.StoreBusy:
		return &api.Problem{
			Status: 503, Code: "store_busy", RetryAfter: soon, Cause: e,
			Detail: "another process holds the lock of the state", Hint: api.NothingChanged,
		}
	case execution.StoreCorrupt:
		return &api.Problem{
			Status: 503, Code: "store_corrupt", RetryAfter: later, Cause: e,
			Detail: "the state is damaged; it is neither read nor written",
		}
	case execution.StoreReadOnly:
		return &api.Problem{
			Status: 503, Code: "store_read_only", RetryAfter: later, Cause: e,
			Detail: "the state cannot be written to", Hint: api.NothingChanged,
		}
	case execution.StoreLost:
	}
	return &api.Problem{
		Status: 503, Code: "store_lost", RetryAfter: later, Cause: e,
		Detail: "the state cannot be reached, or its disk is failing", Hint: api.NothingChanged,
	}
}

// notStored returns the problem of code that ran and whose state could not be stored. Clients do not repeat its status
// by themselves: the code would run again.
func notStored(what string, err error) *api.Problem {
	if why := problemOf(err).Detail; why != "" {
		what += ": " + why
	}
	return &api.Problem{Status: 500, Code: "not_stored", Detail: what, Cause: err}
}

// respond renders every error of every handler and of the HTTP library. It is the error handler.
func (p *problems) respond(c *fiber.Ctx, err error) error {
	id := setCommonHeaders(c, p.newID)
	if answeredOptions(c, err) {
		return nil
	}
	err = p.explainMiss(c, err)
	found := problemOf(err)
	if found.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(api.Seconds(found.RetryAfter)))
	}
	if found.Challenge != "" {
		c.Set(fiber.HeaderWWWAuthenticate, found.Challenge)
	}
	c.Status(found.Status).Set(fiber.HeaderContentType, "application/problem+json")
	return c.Send(p.document(err, c.Path(), id))
}

// document counts and logs a failure, and returns its problem document.
func (p *problems) document(err error, path, requestID string) []byte {
	found := problemOf(err)
	code, detail := p.wordsOf(found)
	p.count(found, code, err, "a request failed", "request", requestID, "path", path)
	message := ""
	if strings.HasPrefix(path, "/api/v2/") || strings.HasPrefix(path, "/api/e2b/") {
		message = detail
	}
	return api.Raw(problemDocument{
		Message: message,
		Type:    "about:blank", Title: http.StatusText(found.Status), Status: found.Status, Detail: detail, Error: detail,
		Instance: (&url.URL{Path: path}).EscapedPath(), Code: code,
		Field: found.Field, Line: found.Line, Column: found.Column, RequestID: requestID,
	})
}

// explain counts and logs a failure, and returns what the caller of a tool may know of it.
func (p *problems) explain(err error) mcp.Problem {
	found := problemOf(err)
	code, detail := p.wordsOf(found)
	p.count(found, code, err, "a tool call failed")
	return mcp.Problem{
		Code: code, Field: found.Field, Error: detail, RetryAfter: api.Seconds(found.RetryAfter),
		RetryAfterMs: found.RetryAfter.Milliseconds(),
	}
}

// detail returns the sentence that the problem document of an error has.
func (p *problems) detail(err error) string {
	_, detail := p.wordsOf(problemOf(err))
	return detail
}

// wordsOf returns the code and the detail of a problem.
func (p *problems) wordsOf(found *api.Problem) (code, detail string) {
	code, detail = defaultsOf(found.Status)
	if found.Code != "" {
		code = found.Code
	}
	switch {
	case found.Detail != "":
		detail = found.Detail
	case found.Status == 413:
		detail = fmt.Sprintf("the body is larger than the %d bytes that are accepted", p.maxBodyBytes)
	}
	if found.Hint != "" {
		detail += "; " + found.Hint
	}
	return code, detail
}

func (p *problems) count(found *api.Problem, code string, err error, message string, about ...any) {
	if found.Status >= 500 {
		p.logger.Warn(message, append([]any{"status", found.Status, "code", code, "error", err}, about...)...)
	}
	p.meter.Refuse(code)
}
