package gateway

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/webhook"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/policy/audit"
)

// tenantOf is whose records a caller reads: its own tenant's, or everybody's ("").
func tenantOf(caller authn.Identity) string {
	if caller.May(authn.AuditReadAll) {
		return ""
	}
	return caller.Tenant
}

// tenantFor is tenantOf for a caller who asks for one tenant, or for none ("").
func tenantFor(caller authn.Identity, wanted string) (string, error) {
	if len(wanted) > 256 {
		return "", bad("tenant", "is too long")
	}
	own := tenantOf(caller)
	if wanted != "" && own != "" && wanted != own {
		return "", &problem{status: 403, detail: "these credentials read the records of their own tenant only"}
	}
	return cmp.Or(own, wanted), nil
}

// seen is a record as somebody reads it who reads the records of one tenant: the record before it in its chain may be
// another's.
func seen(record audit.Record, tenant string) audit.Record {
	if tenant != "" {
		record.Chain.PrevID = ""
	}
	if record.Via == execution.ViaHook {
		record.Request = webhook.RequestWithoutCredentials(record.Request)
	}
	return record
}

// auditRecord is GET /api/audit/execution/{id}.
func (s *Server) auditRecord(c *fiber.Ctx) error {
	record, err := s.recordFor(c)
	if err != nil {
		return err
	}
	return s.send(c, record)
}

// auditList is GET /api/audit/executions.
func (s *Server) auditList(c *fiber.Ctx) error {
	q, err := auditQuery(c)
	if err != nil {
		return err
	}
	page, err := s.deps.Records.List(s.base, q)
	if err != nil {
		if q.Cursor != "" && errors.Is(err, audit.ErrCursor) {
			return bad("cursor", "is not one that this service gave out")
		}
		return unreadable(err)
	}
	answer := list[audit.Record]{Items: make([]audit.Record, len(page.Items))}
	for i, record := range page.Items {
		answer.Items[i] = seen(record, tenantOf(callerOf(c)))
	}
	if page.Next != "" {
		answer.Next = &page.Next
	}
	return s.send(c, answer)
}

func unreadable(err error) error {
	return &problem{status: 503, code: "unavailable", detail: "the audit store cannot be read now; try again", retryAfter: 5 * time.Second, cause: err}
}

func bad(field, message string) error {
	return &execution.Error{Code: execution.InvalidRequest, Field: field, Message: message}
}

// query gives the parameters of a request, each at most once and none unknown.
func query(c *fiber.Ctx, known ...string) (map[string]string, error) {
	values, err := url.ParseQuery(string(c.Request().URI().QueryString()))
	if err != nil {
		return nil, bad("", "the query string does not parse")
	}
	given := make(map[string]string, len(values))
	for name, v := range values {
		if !slices.Contains(known, name) {
			return nil, bad(name, "is not a known parameter; accepted here: "+strings.Join(known, ", "))
		}
		if len(v) > 1 {
			return nil, bad(name, "is given more than once")
		}
		if v[0] != "" {
			given[name] = v[0]
		}
	}
	return given, nil
}

func auditQuery(c *fiber.Ctx) (audit.Query, error) {
	given, err := query(c, "limit", "cursor", "status", "policy", "tenant", "since", "until")
	if err != nil {
		return audit.Query{}, err
	}
	q := audit.Query{Cursor: given["cursor"], Status: given["status"], Policy: given["policy"]}
	if q.Tenant, err = tenantFor(callerOf(c), given["tenant"]); err != nil {
		return audit.Query{}, err
	}
	if v, ok := given["limit"]; ok {
		if q.Limit, err = strconv.Atoi(v); err != nil || q.Limit < 1 || q.Limit > 500 {
			return audit.Query{}, bad("limit", "must be a whole number from 1 to 500")
		}
	}
	if err := checkStatus(q.Status); err != nil {
		return audit.Query{}, err
	}
	if len(q.Policy) > 64 || len(q.Cursor) > 1024 {
		return audit.Query{}, bad("", "policy or cursor is too long")
	}
	if q.Since, err = moment(given, "since"); err != nil {
		return audit.Query{}, err
	}
	if q.Until, err = moment(given, "until"); err != nil {
		return audit.Query{}, err
	}
	if !q.Since.IsZero() && !q.Until.IsZero() && q.Until.Before(q.Since) {
		return audit.Query{}, bad("until", "must not be before since")
	}
	return q, nil
}

// checkStatus refuses what is no status of a record, other than none.
func checkStatus(status string) error {
	statuses := []string{string(execution.Completed), string(execution.Failed), string(execution.TimedOut), string(execution.Blocked), string(execution.Cancelled)}
	if status != "" && !slices.Contains(statuses, status) {
		return bad("status", "must be one of "+strings.Join(statuses, ", "))
	}
	return nil
}

// moment reads a time, or a day, which starts at midnight UTC.
func moment(given map[string]string, name string) (time.Time, error) {
	v, ok := given[name]
	if !ok {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, v); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, bad(name, "must be a time such as 2025-01-31T12:00:00Z, or a day such as 2025-01-31")
}
