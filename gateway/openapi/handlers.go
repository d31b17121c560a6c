package openapi

import (
	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/gateway/api"
)

// Handlers serve the description of the API.
type Handlers struct {
	document         *Document
	jsonTag, pageTag string
}

// NewHandlers returns the Handlers of a document.
func NewHandlers(d *Document) *Handlers { return &Handlers{d, api.Tag(d.JSON()), api.Tag(d.Page())} }

// JSON serves GET /openapi.json.
func (h *Handlers) JSON(c *fiber.Ctx) error {
	if api.NotModified(c, h.jsonTag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	return api.SendJSON(c, h.document.JSON())
}

// Page serves GET /docs: the description for people, on one page that loads and runs nothing.
func (h *Handlers) Page(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentSecurityPolicy, h.document.PagePolicy()) // a browser applies that of a 304, too
	if api.NotModified(c, h.pageTag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.Send(h.document.Page())
}
