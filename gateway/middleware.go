package gateway

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"
)

// dressed gives every request its id and every answer its headers.
func (s *Server) dressed(c *fiber.Ctx) error {
	dress(c, s.deps.NewID)
	return c.Next()
}

type requestIDKey struct{}

// dress sets the headers all answers have and gives the request's id: the caller's own when it is short and plain, so
// that it can be logged and sent back as it is. Calling it again changes nothing.
func dress(c *fiber.Ctx, newID func() string) string {
	if id, ok := c.Locals(requestIDKey{}).(string); ok {
		return id
	}
	id := utils.CopyString(c.Get(fiber.HeaderXRequestID))
	if id == "" || len(id) > 128 || strings.ContainsFunc(id, notInID) {
		id = "req_" + strings.TrimPrefix(newID(), "exec_")
	}
	c.Locals(requestIDKey{}, id)
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

func notInID(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:=+/", r))
}

// guard protects a gateway that asks for no credentials: being on the loopback address keeps other machines out, but not
// the web pages open in the user's own browser. Those are recognised by a Host that is no loopback name (a page of
// evil.example rebound to 127.0.0.1) and by an Origin, or Sec-Fetch-Site, that is not this server and not configured.
// Where credentials are configured a page cannot attach them, and guard lets everything pass.
func (s *Server) guard(c *fiber.Ctx) error {
	if !s.deps.Auth.Open() {
		return c.Next()
	}
	host := string(c.Request().Host())
	if !loopbackName(host) {
		return &problem{status: 403, code: "foreign_host", detail: "the Host header must name a loopback address, such as localhost or 127.0.0.1, as long as no credential is configured"}
	}
	origin := c.Get(fiber.HeaderOrigin)
	if origin != "" {
		if origin == "http://"+host || slices.Contains(s.cfg.CORSOrigins, origin) {
			return c.Next()
		}
		return foreign()
	}
	switch c.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return c.Next()
	}
	if c.Get("Sec-Fetch-Mode") == "navigate" && (c.Method() == fiber.MethodGet || c.Method() == fiber.MethodHead) {
		return c.Next()
	}
	return foreign()
}

func foreign() error {
	return &problem{status: 403, code: "foreign_origin", detail: "this request comes from a web page of another origin; list the origin in CORS_ORIGINS, or configure a credential"}
}

// loopbackName reports whether a Host header means this machine whoever resolves it (RFC 6761 §6.3).
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
