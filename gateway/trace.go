package gateway

import (
	"context"
	"net/http"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
)

const traceParent = "traceparent"

// trace reads the trace context of a request (W3C Trace Context), begins a span if there is a tracer, and names the
// trace in the response. Without a tracer, the context of the caller is passed on unchanged. An invalid context
// counts as none.
func (m *middleware) trace(c *fiber.Ctx) error {
	given := c.Request().Header.PeekAll(traceParent)
	if len(given) == 0 && m.tracer == nil {
		return c.Next()
	}
	ctx := context.Background()
	if len(given) == 1 {
		ctx = contextOf(string(given[0]), c.Get("tracestate"))
	}
	if m.tracer == nil {
		setTrace(c, trace.SpanContextFromContext(ctx))
		return c.Next()
	}
	_, span := m.tracer.Start(ctx, c.Method(), trace.WithSpanKind(trace.SpanKindServer))
	defer span.End()
	setTrace(c, span.SpanContext())
	err := c.Next()
	if !span.IsRecording() {
		return err
	}
	status := c.Response().StatusCode()
	if err != nil {
		status = problemOf(err).Status
	}
	route := c.Route().Path
	span.SetName(c.Method() + " " + route)
	span.SetAttributes(
		attribute.String("http.request.method", c.Method()), attribute.String("http.route", route),
		attribute.Int("http.response.status_code", status),
	)
	if status >= 500 {
		span.SetStatus(codes.Error, http.StatusText(status))
	}
	return err
}

// setTrace sets the place of a request in its trace, for the response and for the executions that it causes.
func setTrace(c *fiber.Ctx, at trace.SpanContext) {
	if at.IsValid() {
		text := traceParentOf(at)
		api.SetTraceParent(c, text)
		c.Set(traceParent, text)
	}
}

// contextOf returns the trace context of two header fields. An invalid one is empty.
func contextOf(parent, state string) context.Context {
	return propagation.TraceContext{}.Extract(
		context.Background(), propagation.MapCarrier{traceParent: parent, "tracestate": state},
	)
}

func traceParentOf(at trace.SpanContext) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(context.Background(), at), carrier)
	return carrier[traceParent]
}

// startSpan begins the span of an execution and puts the submission below it. end ends the span with the outcome.
func (e *executor) startSpan(s api.Submission) (below api.Submission, end func(execution.Result, error)) {
	if e.tracer == nil {
		return s, func(execution.Result, error) {}
	}
	_, span := e.tracer.Start(contextOf(s.TraceParent, ""), "execute")
	s.TraceParent = traceParentOf(span.SpanContext())
	return s, func(result execution.Result, err error) {
		defer span.End()
		if !span.IsRecording() {
			return
		}
		span.SetAttributes(attribute.String("airlock.via", s.Via), attribute.String("airlock.tenant", s.Caller.Tenant))
		if err != nil {
			span.SetStatus(codes.Error, "the execution was not carried out")
			return
		}
		span.SetAttributes(
			attribute.String("airlock.execution.id", result.ID),
			attribute.String("airlock.execution.status", string(result.Status)),
			attribute.String("airlock.policy", result.Policy), attribute.Bool("airlock.cached", result.Cached),
			attribute.Float64("airlock.queue_ms", result.Usage.QueueMs),
			attribute.Float64("airlock.wall_ms", result.Usage.WallMs),
			attribute.Float64("airlock.cpu_ms", result.Usage.CPUMs),
			attribute.Int64("airlock.memory_bytes", result.Usage.MemoryBytes),
		)
		if result.Limit != nil {
			span.SetAttributes(attribute.String("airlock.limit", *result.Limit))
		}
	}
}
