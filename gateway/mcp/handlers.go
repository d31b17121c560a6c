package mcp

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/gateway/access"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/idempotency"
)

// Handlers serve the streamable HTTP transport at /mcp.
type Handlers struct {
	Server *Server
	Keys   *idempotency.Keys
	Turns  api.Turns
	// Streams and Sessions bound what clients hold open.
	Streams  *bounds.Pool
	Sessions *bounds.Leases
	// Origins are the exact origins whose pages may use the protocol, or "*".
	Origins      []string
	Heartbeat    time.Duration // between comments on a silent stream
	WriteTimeout time.Duration // for one event
	Logger       *slog.Logger
}

// Serve serves POST, GET and DELETE /mcp. As the protocol demands, it refuses a web page of an origin that is not
// configured, whatever its credentials. The protocol has no Idempotency-Key; here, a message that is repeated with
// one is carried out once and answered as before.
func (h *Handlers) Serve(c *fiber.Ctx) error {
	if origin := c.Get(fiber.HeaderOrigin); origin != "" {
		host := string(c.Request().Host())
		known := slices.Contains(h.Origins, origin) || slices.Contains(h.Origins, "*")
		if !known && origin != "http://"+host && origin != "https://"+host {
			return api.ForeignOrigin()
		}
	}
	if caller := api.CallerOf(c); !caller.May(authn.Execute) && !caller.May(authn.AuditRead) &&
		!caller.May(authn.Approve) {
		return api.MissingScope(authn.Execute)
	}
	leave, err := access.Enter(c, h.Streams, bounds.MCPStreams)
	if err != nil {
		return err
	}
	if err := h.respond(c, leave); err != nil {
		leave()
		return err
	}
	return nil
}

// respond responds to one request, and calls leave when the response has ended.
func (h *Handlers) respond(c *fiber.Ctx, leave func()) error {
	if c.Method() != fiber.MethodPost {
		return h.inSession(c, func() error { return h.bridge(c, &idempotency.Claim{}, leave) })
	}
	if err := api.RequireJSON(c); err != nil {
		return err
	}
	// A batch would count as one request however many calls it has. The protocol has no batches since 2025-06-18.
	if bytes.HasPrefix(bytes.TrimLeft(c.Request().Body(), " \t\r\n"), []byte("[")) {
		return api.Invalid("", "batches are not supported; send one message per request")
	}
	claim, err := h.Keys.Claim(c, api.CallerOf(c).Owner(), false)
	if err != nil {
		return err
	}
	if claim.Saved != nil {
		leave()
		return idempotency.Replay(c, claim.Saved)
	}
	if err := h.inSession(c, func() error { return h.bridge(c, claim, leave) }); err != nil {
		claim.Abandon()
		return err
	}
	return nil
}

// withCaller adds the caller of a request to the context of its calls, where ServeHTTP finds it.
func withCaller(
	ctx context.Context, c *fiber.Ctx, claim *idempotency.Claim, arguments []byte, decoded func(), long *longAnswer,
) context.Context {
	return context.WithValue(ctx, callerKey{}, Caller{
		Identity: api.CallerOf(c), IP: utils.CopyString(c.IP()), TraceParent: api.TraceParent(c), Refused: claim.Abandon,
		Arguments: arguments, Decoded: decoded, long: long,
	})
}

const sessionHeader = "Mcp-Session-Id"

// inSession counts the session that a request begins, uses or ends. The response says whether the request began one.
func (h *Handlers) inSession(c *fiber.Ctx, serve func() error) error {
	if id := utils.CopyString(c.Get(sessionHeader)); id != "" {
		h.Sessions.Touch(id)
		err := serve()
		if err == nil && c.Method() == fiber.MethodDelete && c.Response().StatusCode() < 300 {
			h.Sessions.End(id)
		}
		return err
	}
	if c.Method() != fiber.MethodPost || sessionless(c.Get("Mcp-Protocol-Version")) {
		return serve()
	}
	leave, err := access.Enter(c, h.Sessions, bounds.MCPSessions)
	if err != nil {
		return err
	}
	err = serve()
	if id := string(c.Response().Header.Peek(sessionHeader)); id != "" && err == nil {
		h.Sessions.Hold(id, leave)
	} else {
		leave()
	}
	return err
}
