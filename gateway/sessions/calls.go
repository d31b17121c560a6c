package sessions

import (
	"context"
	"errors"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/jobs"
)

// Make makes a session, or a fork of one, for the caller of a submission. It returns what POST /api/sessions responds
// with.
func (h *Handlers) Make(ctx context.Context, from api.Submission, o api.SessionOptions) (any, error) {
	job, err := h.make(ctx, from, o)
	if err != nil {
		return nil, err
	}
	return h.Sessions.viewOf(job), nil
}

// End ends a session of a caller.
func (h *Handlers) End(ctx context.Context, caller authn.Identity, ip, id string) error {
	job, err := h.find(ctx, caller, id)
	if err != nil {
		return err
	}
	by := execution.Caller{Subject: caller.Subject, Tenant: caller.Tenant, IP: utils.CopyString(ip)}
	err = h.Sessions.cfg.Cancel(ctx, job.ID, by)
	if errors.Is(err, jobs.ErrEnded) || errors.Is(err, execution.ErrNotFound) {
		return notFound()
	}
	return err
}

// Restart empties the state of a session of a caller.
func (h *Handlers) Restart(ctx context.Context, caller authn.Identity, id string) error {
	job, err := h.find(ctx, caller, id)
	if err != nil {
		return err
	}
	return h.Sessions.restart(ctx, job.ID)
}

// Begin makes a submission the next step of a session of its caller. release must be called when the step has ended.
func (h *Handlers) Begin(ctx context.Context, id string, s *api.Submission) (release func(), err error) {
	job, err := h.find(ctx, s.Caller, id)
	if err != nil {
		return nil, err
	}
	return h.begin(ctx, job, s)
}

const (
	defaultPage = 50
	longestPage = 200
)

// List serves GET /api/sessions?limit&cursor: the sessions of the caller, in the order in which they were made.
func (h *Handlers) List(c *fiber.Ctx) error {
	given, err := api.Query(c, "limit", "cursor")
	if err != nil {
		return err
	}
	limit, err := api.Limit(given, defaultPage, longestPage)
	if err != nil {
		return err
	}
	page, err := h.Page(c.UserContext(), api.CallerOf(c), given["cursor"], limit)
	if err != nil {
		return err
	}
	return api.Send(c, page)
}

// Page returns the sessions of a caller after a cursor, which is empty for the first page.
func (h *Handlers) Page(ctx context.Context, caller authn.Identity, after string, limit int) (any, error) {
	page := api.List[view]{Items: []view{}}
	if after != "" && !execution.ValidSessionID(after) {
		return page, api.Invalid("cursor", "is not one that this service issued")
	}
	after = max(after, execution.FirstSession)
	found, err := h.Sessions.cfg.Store.Paused(ctx, caller.Tenant, caller.Subject, after, limit+1)
	if err != nil {
		return page, err
	}
	if len(found) > limit {
		found = found[:limit]
		page.Next = &found[limit-1].ID
	}
	for _, job := range found {
		if caller.Owns(ownerOf(job)) && !h.Sessions.over(job) {
			page.Items = append(page.Items, h.Sessions.listed(job))
		}
	}
	return page, nil
}
