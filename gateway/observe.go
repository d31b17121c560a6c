package gateway

import (
	"errors"
	"log/slog"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/meter"
)

// observe counts a request by method, route and status, and writes its line to the access log if there is one. The
// time is until the response begins: streams go on after it.
func (m *middleware) observe(c *fiber.Ctx) error {
	began := m.now()
	err := c.Next()
	took := m.now().Sub(began)
	status := c.Response().StatusCode()
	if err != nil {
		status = problemOf(err).Status
	}
	method, route := utils.CopyString(c.Method()), routeOf(c, err)
	m.requests.Observe(method, route, status, took)
	if m.accessLog == nil {
		return err
	}
	caller := api.CallerOf(c)
	m.accessLog.LogAttrs(c.UserContext(), slog.LevelInfo, "request",
		slog.String("method", method), slog.String("path", utils.CopyString(c.Path())), slog.String("route", route),
		slog.Int("status", status), slog.Float64("ms", api.Milliseconds(took)),
		slog.Int("bytesIn", max(c.Request().Header.ContentLength(), 0)),
		slog.String("address", utils.CopyString(c.IP())), slog.String("subject", caller.Subject),
		slog.String("tenant", caller.Tenant), slog.String("requestId", api.RequestID(c)),
		slog.String("execution", string(c.Response().Header.Peek(api.ExecutionID))),
		slog.String("trace", traceID(string(c.Response().Header.Peek(traceParent)))))
	return err
}

// countDelivery counts a delivery to a webhook by its outcome.
func (m *middleware) countDelivery(c *fiber.Ctx) error {
	err := c.Next()
	status := c.Response().StatusCode()
	if err != nil {
		status = problemOf(err).Status
	}
	outcome := meter.HookAnswered
	switch {
	case status >= fiber.StatusInternalServerError:
		outcome = meter.HookFailed
	case err != nil:
		outcome = meter.HookRefused
	case len(c.Response().Header.Peek(api.Replayed)) > 0:
		outcome = meter.HookRepeated
	case status == fiber.StatusAccepted:
		outcome = meter.HookAccepted
	}
	m.work.Delivery(outcome)
	return err
}

// routeOf returns the pattern of the route that served a request, or of the group that refused it before, such as /api
// without a credential. Paths that no route serves are all "none", so that callers cannot make up values.
func routeOf(c *fiber.Ctx, err error) string {
	var missed *fiber.Error
	if errors.As(err, &missed) && (missed.Code == fiber.StatusNotFound || missed.Code == fiber.StatusMethodNotAllowed) {
		return "none"
	}
	return c.Route().Path
}

// traceID returns the trace ID of a traceparent, "" if there is none.
func traceID(parent string) string {
	parts := strings.Split(parent, "-")
	if len(parts) != 4 {
		return ""
	}
	return parts[1]
}
