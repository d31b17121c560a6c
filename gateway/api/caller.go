package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/gateway/authn"
)

type (
	callerKey      struct{}
	requestIDKey   struct{}
	traceParentKey struct{}
)

// SetCaller records who makes a request.
func SetCaller(c *fiber.Ctx, caller authn.Identity) { c.Locals(callerKey{}, caller) }

// CallerOf returns the authenticated caller of a request. Without one, it returns an identity that may do nothing.
func CallerOf(c *fiber.Ctx) authn.Identity {
	caller, _ := c.Locals(callerKey{}).(authn.Identity)
	return caller
}

// Need returns a handler that lets only callers with a scope pass.
func Need(scope string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if !CallerOf(c).May(scope) {
			return MissingScope(scope)
		}
		return c.Next()
	}
}

// SetRequestID records the id of a request.
func SetRequestID(c *fiber.Ctx, id string) { c.Locals(requestIDKey{}, id) }

// RequestID returns the id of a request, which is empty before the first middleware has run.
func RequestID(c *fiber.Ctx) string {
	id, _ := c.Locals(requestIDKey{}).(string)
	return id
}

// SetTraceParent records the place of a request in its trace.
func SetTraceParent(c *fiber.Ctx, traceParent string) { c.Locals(traceParentKey{}, traceParent) }

// TraceParent returns the place of a request in its trace as a traceparent (W3C Trace Context), or "".
func TraceParent(c *fiber.Ctx) string {
	text, _ := c.Locals(traceParentKey{}).(string)
	return text
}
