package gateway

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"
	"go.opentelemetry.io/otel/trace"

	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/meter"
)

// middleware runs for every request before its route.
type middleware struct {
	// base is the context of every request. It ends when a shutdown has waited long enough.
	base   context.Context
	newID  func() string
	tracer trace.Tracer // may be nil
	now    func() time.Time
	// requests counts every request; accessLog, which may be nil, has a line for each.
	requests  *meter.Requests
	work      *meter.Work
	accessLog *slog.Logger
	// open says that the gateway asks for no credentials; origins may call it from web pages.
	open    bool
	origins []string
}

// prepare sets the context and the ID of the request, and the common headers of the response.
func (m *middleware) prepare(c *fiber.Ctx) error {
	c.SetUserContext(m.base)
	setCommonHeaders(c, m.newID)
	return c.Next()
}

// setCommonHeaders sets the headers that every response has, and returns the id of the request: the caller's own if
// it is short and plain, so that it can be logged and sent back. Calling it again changes nothing.
func setCommonHeaders(c *fiber.Ctx, newID func() string) string {
	if id := api.RequestID(c); id != "" {
		return id
	}
	id := utils.CopyString(c.Get(fiber.HeaderXRequestID))
	if id == "" || len(id) > 128 || strings.ContainsFunc(id, notInRequestID) {
		id = "req_" + strings.TrimPrefix(newID(), "exec_")
	}
	api.SetRequestID(c, id)
	h := &c.Response().Header
	h.Set(fiber.HeaderXRequestID, id)
	h.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	h.Set(fiber.HeaderXFrameOptions, "DENY")
	h.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	h.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set(fiber.HeaderCacheControl, "no-store")
	return id
}

func notInRequestID(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:=+/", r))
}

// guard protects a gateway that asks for no credentials. The loopback address keeps other machines out, but not the
// web pages in the user's own browser. guard recognizes those by a Host that is not a loopback name (a page of
// evil.example rebound to 127.0.0.1) and by an Origin, or Sec-Fetch-Site, that is neither this server nor configured.
// Where credentials are configured, pages cannot attach them, and guard lets every request pass.
func (m *middleware) guard(c *fiber.Ctx) error {
	if !m.open {
		return c.Next()
	}
	host := string(c.Request().Host())
	if !loopbackName(host) {
		return &api.Problem{
			Status: 403, Code: "foreign_host",
			Detail: "the Host header must name a loopback address, such as localhost or 127.0.0.1, " +
				"as long as no credential is configured",
		}
	}
	origin := c.Get(fiber.HeaderOrigin)
	if origin != "" {
		if origin == "http://"+host || slices.Contains(m.origins, origin) {
			return c.Next()
		}
		return api.ForeignOrigin()
	}
	switch c.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return c.Next()
	}
	reads := c.Method() == fiber.MethodGet || c.Method() == fiber.MethodHead
	if reads && c.Get("Sec-Fetch-Mode") == "navigate" {
		return c.Next()
	}
	return api.ForeignOrigin()
}

// loopbackName reports whether a Host header means this machine, whatever DNS says (RFC 6761 §6.3).
func loopbackName(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.Unmap().IsLoopback()
}
