package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/hooks"
	"github.com/airlock-run/airlock/gateway/httpconn"
)

// wrap puts the checks of this file before all routes.
func (s *Server) wrap(http *fasthttp.Server) {
	http.CloseOnShutdown = true
	http.HeaderReceived = s.bodies.Limit
	http.ExpectHandler = s.expect
	http.Handler = s.handler(http.Handler)
	refuse := http.ErrorHandler
	http.ErrorHandler = func(ctx *fasthttp.RequestCtx, err error) {
		httpconn.Linger(ctx)
		defer s.bodies.End(&ctx.Request.Header)
		if errors.Is(err, fasthttp.ErrBodyTooLarge) {
			s.refuse(ctx, s.tooLarge(&ctx.Request.Header))
			return
		}
		refuse(ctx, err)
	}
}

// handler returns the outermost handler. A panic costs one request, a request that parsers could read differently
// costs its connection, and an unknown method gets a problem document, too.
func (s *Server) handler(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		defer s.bodies.End(&ctx.Request.Header)
		defer func() {
			if r := recover(); r != nil {
				s.deps.Logger.Error("a handler panicked", "path", string(ctx.Path()), "panic", fmt.Sprint(r))
				ctx.Response.Reset()
				s.refuse(ctx, &api.Problem{Status: 500})
			}
		}()
		if bytes.HasPrefix(ctx.URI().PathOriginal(), []byte(hooks.PathPrefix)) {
			ctx.Request.Header.DelAllCookies() // nobody is logged in to a webhook
		}
		httpconn.ApplyForwardedFor(ctx, s.cfg.Proxies)
		header := &ctx.Request.Header
		if !httpconn.WellFormed(header) {
			ctx.SetConnectionClose()
			s.refuse(ctx, &api.Problem{Status: 400})
			return
		}
		expected := header.Peek(fiber.HeaderExpect)
		if len(expected) > 0 && !bytes.EqualFold(expected, []byte("100-continue")) {
			ctx.SetConnectionClose()
			s.refuse(ctx, &api.Problem{Status: 417})
			return
		}
		if (header.IsPost() || header.IsPut()) && header.ContentLength() == 0 && !httpconn.Framed(header) {
			// If there is a body nevertheless, it would look like the next request, wherever this one is refused.
			ctx.SetConnectionClose()
			httpconn.Linger(ctx)
		}
		if s.misplaced(ctx) {
			s.refuse(ctx, &api.Problem{Status: 404})
			return
		}
		switch string(ctx.Method()) {
		case fiber.MethodGet, fiber.MethodHead, fiber.MethodPost, fiber.MethodPut, fiber.MethodDelete,
			fiber.MethodOptions, fiber.MethodPatch, fiber.MethodTrace:
			next(ctx)
		default:
			ctx.SetConnectionClose() // anything could follow a CONNECT
			s.refuse(ctx, &api.Problem{Status: 501, Detail: "this method is not supported"})
		}
	}
}

// expect responds to "Expect: 100-continue" before the body is sent if the body would be refused.
func (s *Server) expect(ctx *fasthttp.RequestCtx) int {
	h := &ctx.Request.Header
	if n := h.ContentLength(); n <= s.cfg.MaxDataBytes || s.bodies.Holds(h) {
		return 100
	}
	p := s.tooLarge(h)
	s.refuse(ctx, p)
	return p.Status
}

// tooLarge returns the problem of a request whose body is longer than its head lets it be.
func (s *Server) tooLarge(h *fasthttp.RequestHeader) *api.Problem {
	p := &api.Problem{Status: s.bodies.Refused(h)}
	switch p.Status {
	case fiber.StatusLengthRequired:
		p.Detail = fmt.Sprintf("a body of more than %d bytes needs a Content-Length", s.cfg.MaxDataBytes)
	case fiber.StatusServiceUnavailable:
		p.Code, p.RetryAfter = "too_many", 10*time.Second
		p.Detail = "too many " + bounds.Of(bounds.LongBodies).What + "; try again"
	case fiber.StatusRequestEntityTooLarge:
		if !httpconn.TakesCode(string(h.Method()), string(h.RequestURI())) {
			p.Detail = fmt.Sprintf("the body is larger than the %d bytes that are accepted here", s.cfg.MaxDataBytes)
		}
	}
	return p
}

// checkData refuses a long body that is more than text: values cost this process far more to decode. It is middleware.
func (s *Server) checkData(c *fiber.Ctx) error {
	check := execution.CheckData
	if c.Path() == "/mcp" {
		check = execution.CheckCall
	}
	if len(c.Request().Body()) > s.cfg.MaxDataBytes {
		if err := check(c.Request().Body(), s.cfg.MaxDataBytes); err != nil {
			return err
		}
	}
	return c.Next()
}

// refuse responds to a request that never reached a route.
func (s *Server) refuse(ctx *fasthttp.RequestCtx, p *api.Problem) {
	httpconn.Linger(ctx)
	c := s.app.AcquireCtx(ctx)
	defer s.app.ReleaseCtx(c)
	if err := s.problems.respond(c, p); err != nil {
		s.deps.Logger.Error("a response could not be written", "error", err)
	}
}

// misplaced reports whether a request is for a webhook where none are served, or for something else where only
// webhooks are.
func (s *Server) misplaced(ctx *fasthttp.RequestCtx) bool {
	var hooksOnly bool
	switch {
	case s.cfg.Hooks.Host != "":
		hooksOnly = sameHost(string(ctx.Request.Header.Host()), s.cfg.Hooks.Host)
	case s.hooksApart.Load():
		hooksOnly = httpconn.HooksOnly(ctx.Conn())
	default:
		return false
	}
	return hooksOnly != hooksRequest(ctx)
}

// hooksRequest reports whether a request is below the path of webhooks, both as it was sent and as it was cleaned.
func hooksRequest(ctx *fasthttp.RequestCtx) bool {
	below := func(path []byte) bool { return bytes.HasPrefix(path, []byte(hooks.PathPrefix+"/")) }
	return below(ctx.URI().PathOriginal()) && below(ctx.Path())
}

// sameHost compares a Host header, without its port, with a name.
func sameHost(hostport, name string) bool {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		hostport = host
	}
	trim := func(s string) string { return strings.TrimSuffix(strings.Trim(s, "[]"), ".") }
	return strings.EqualFold(trim(hostport), trim(name))
}

// validHost reports whether host is a DNS name or an address, without a port.
func validHost(host string) bool {
	if net.ParseIP(strings.Trim(host, "[]")) != nil {
		return true
	}
	notInLabel := func(c rune) bool {
		return !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '-' || c == '_')
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(host, "."), ".") {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, notInLabel) {
			return false
		}
	}
	return len(host) <= 253
}
