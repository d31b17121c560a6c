package gateway

import (
	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/gateway/authn"
)

// kept is a finished result as it was sent, and whose it is.
type kept struct {
	owner string
	body  []byte
	job   bool // the job of this execution knows more
}

// result is GET /api/result/{id}. A result is its caller's own: to others it does not exist, except to those who may
// read every tenant's records.
func (s *Server) result(c *fiber.Ctx) error {
	caller := callerOf(c)
	k, ok := s.kept.Get(utils.CopyString(c.Params("id")))
	if !ok || k.job || (k.owner != caller.Owner() && !caller.May(authn.AuditReadAll)) {
		return &problem{status: 404, detail: "there is no result with this id; the last results are kept for a while, the audit record for good"}
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(k.body)
}
