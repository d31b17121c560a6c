package records

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/webhook"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/policy/audit"
)

// A Store has the audit record of every execution. It may be an [Index] and a [ChainVerifier], too. It is safe for
// concurrent use.
type Store interface {
	// Get returns a record, or audit.ErrNotFound.
	Get(ctx context.Context, id string) (audit.Record, error)
	// List returns the records that a query selects, newest first. The error is audit.ErrCursor for a cursor that no List
	// returned.
	List(ctx context.Context, q audit.Query) (audit.Page, error)
}

// Handlers serve /api/audit, /api/reports and /api/metrics.
type Handlers struct {
	Records  Store
	Replayer Replayer
	Verifier *Verifier
	Now      func() time.Time
}

// TenantOf returns the tenant whose records a caller reads: its own, or "" for all tenants.
func TenantOf(caller authn.Identity) string {
	if caller.May(authn.AuditReadAll) {
		return ""
	}
	return caller.Tenant
}

// TenantFor returns the tenant like TenantOf, for a caller who asks for the records of one tenant, or of none in
// particular ("").
func TenantFor(caller authn.Identity, wanted string) (string, error) {
	if len(wanted) > 256 {
		return "", api.Invalid("tenant", "is too long")
	}
	own := TenantOf(caller)
	if wanted != "" && own != "" && wanted != own {
		return "", &api.Problem{Status: 403, Detail: "these credentials read the records of their own tenant only"}
	}
	return cmp.Or(own, wanted), nil
}

// ViewOf returns a record as a reader of one tenant's records ("" for all) sees it. The previous record of the chain
// may be another tenant's.
func ViewOf(record audit.Record, tenant string) audit.Record {
	if tenant != "" {
		record.Chain.PrevID = ""
	}
	if record.Via == execution.ViaHook {
		record.Request = webhook.RequestWithoutCredentials(record.Request)
	}
	return record
}

// Get serves GET /api/audit/execution/{id}.
func (h *Handlers) Get(c *fiber.Ctx) error {
	record, err := h.record(c)
	if err != nil {
		return err
	}
	body, err := audit.AppendRead(nil, record)
	if err != nil {
		return fmt.Errorf("encode a record: %w", err)
	}
	return api.SendJSON(c, append(body, '\n'))
}

// record returns the record that the path names. The record of another tenant looks like none.
func (h *Handlers) record(c *fiber.Ctx) (audit.Record, error) {
	missing := api.NotFound("there is no record with this id")
	id := api.Param(c, "id")
	if !execution.ValidID(id) {
		return audit.Record{}, missing
	}
	record, err := h.Records.Get(c.UserContext(), id)
	if errors.Is(err, audit.ErrNotFound) {
		return audit.Record{}, missing
	}
	if errors.Is(err, audit.ErrAltered) {
		return audit.Record{}, &api.Problem{
			Status: 500, Code: "record_altered", Detail: "the record was changed after it was written; it cannot be trusted",
			Hint: "have the operator run airlock audit verify", Cause: err,
		}
	}
	if err != nil {
		return audit.Record{}, api.RecordsUnavailable(err)
	}
	tenant := TenantOf(api.CallerOf(c))
	if tenant != "" && record.Caller.Tenant != tenant {
		return audit.Record{}, missing
	}
	return ViewOf(record, tenant), nil
}

// List serves GET /api/audit/executions.
func (h *Handlers) List(c *fiber.Ctx) error {
	q, err := listQuery(c)
	if err != nil {
		return err
	}
	page, err := h.Records.List(c.UserContext(), q)
	if err != nil {
		if q.Cursor != "" && errors.Is(err, audit.ErrCursor) {
			return api.Invalid("cursor", "is not one that this service issued")
		}
		return api.RecordsUnavailable(err)
	}
	body := []byte(`{"items":[`)
	for i, record := range page.Items {
		if i > 0 {
			body = append(body, ',')
		}
		if body, err = audit.AppendRead(body, ViewOf(record, TenantOf(api.CallerOf(c)))); err != nil {
			return fmt.Errorf("encode a record: %w", err)
		}
	}
	next := "null"
	if page.Next != "" {
		next = string(api.Raw(page.Next))
	}
	return api.SendJSON(c, append(body, `],"next":`+next+"}\n"...))
}

// longestPage is the largest number of records of a page. The store has a default.
const longestPage = 500

func listQuery(c *fiber.Ctx) (audit.Query, error) {
	given, err := api.Query(c,
		"limit", "cursor", "status", "policy", "tenant", "function", "since", "until",
	)
	if err != nil {
		return audit.Query{}, err
	}
	q := audit.Query{
		Cursor: given["cursor"], Status: given["status"], Policy: given["policy"], Function: given["function"],
	}
	if q.Tenant, err = TenantFor(api.CallerOf(c), given["tenant"]); err != nil {
		return audit.Query{}, err
	}
	if q.Limit, err = api.Limit(given, 0, longestPage); err != nil {
		return audit.Query{}, err
	}
	if err := CheckStatus(q.Status); err != nil {
		return audit.Query{}, err
	}
	if len(q.Policy) > 64 || len(q.Function) > 64 || len(q.Cursor) > 1024 {
		return audit.Query{}, api.Invalid("", "policy, function or cursor is too long")
	}
	if q.Since, err = timeParam(given, "since"); err != nil {
		return audit.Query{}, err
	}
	if q.Until, err = timeParam(given, "until"); err != nil {
		return audit.Query{}, err
	}
	if !q.Since.IsZero() && !q.Until.IsZero() && q.Until.Before(q.Since) {
		return audit.Query{}, api.Invalid("until", "must not be before since")
	}
	return q, nil
}

// CheckStatus refuses what is neither empty nor the status of a record.
func CheckStatus(status string) error {
	statuses := []string{
		string(execution.Completed), string(execution.Failed), string(execution.TimedOut), string(execution.Blocked),
		string(execution.Cancelled), string(execution.Paused), string(execution.Expired), audit.DecidedStatus,
	}
	if status != "" && !slices.Contains(statuses, status) {
		return api.Invalid("status", "must be one of "+strings.Join(statuses, ", "))
	}
	return nil
}

// timeParam reads a time, or a day, which stands for midnight UTC.
func timeParam(given map[string]string, name string) (time.Time, error) {
	v, ok := given[name]
	if !ok {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, v); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, api.Invalid(name, "must be a time such as 2025-01-31T12:00:00Z, or a day such as 2025-01-31")
}
