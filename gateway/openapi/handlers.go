package openapi

import (
	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/gateway/api"
)

// Handlers serve the description of the API.
type Handlers struct {
	document *Document
	tag      string
}

// NewHandlers returns the Handlers of a document.
func NewHandlers(d *Document) *Handlers { return &Handlers{d, api.Tag(d.JSON())} }

// JSON serves GET /openapi.json.
func (h *Handlers) JSON(c *fiber.Ctx) error {
	if api.NotModified(c, h.tag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	return api.SendJSON(c, h.document.JSON())
}
