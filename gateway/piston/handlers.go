package piston

import (
	"cmp"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/policy"
)

// Handlers serve /api/v2.
type Handlers struct {
	Executor api.Executor
	Turns    api.Turns
	// Validate returns the error of a submission that is not valid.
	Validate func(s api.Submission) error
	// Tier returns a tier by its name.
	Tier func(name string) (policy.Tier, bool)
	Now  func() time.Time
}

// read reads a request and lowers the limits of its tier. The request is then checked like any other.
func (h *Handlers) read(body []byte) (program, error) {
	p, err := decode(body)
	if err != nil {
		return p, err
	}
	tier, known := h.Tier(cmp.Or(p.request.Policy, policy.DefaultTier))
	if known {
		err = p.limitTo(tier)
	}
	if err != nil {
		return p, err
	}
	// The check runs on the request without the contents of its files: it concerns their paths only, and the contents
	// are far longer in JSON.
	whole, checked := p.request, p.request
	checked.Files = make(map[string]execution.File, len(whole.Files))
	for name := range whole.Files {
		checked.Files[name] = nil
	}
	p.request, err = execution.DecodeRequest(api.Raw(checked))
	p.request.CopyFiles(whole)
	return p, err
}

// Execute serves POST /api/v2/execute.
func (h *Handlers) Execute(c *fiber.Ctx) error {
	received := h.Now()
	if err := api.RequireJSON(c); err != nil {
		return err
	}
	p, err := api.Decode(c, h.Turns, h.read)
	if err != nil {
		return err
	}
	s := api.NewSubmission(c, p.request, received)
	if err := h.Validate(s); err != nil {
		return err
	}
	s.Waits = false // Piston has no way to continue
	ctx, release := api.RunContext(c)
	defer release()
	result, err := h.Executor.Execute(ctx, s)
	if err != nil {
		return err
	}
	c.Set(api.ExecutionID, result.ID)
	if result.Status == execution.Blocked {
		return &api.Problem{Status: 400, Code: "blocked", Detail: errorOf(result)}
	}
	return api.Send(c, responseOf(p.runtime, result))
}
