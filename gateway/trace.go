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
)

const traceParent = "traceparent"

type traceKey struct{}

// traced takes the trace context of a request (W3C Trace Context), begins a span where there is a tracer, and says in the
// answer by which trace it can be found. Without a tracer the caller's own context is passed on as it came; one that is
// not valid is none.
func (s *Server) traced(c *fiber.Ctx) error {
	given := c.Request().Header.PeekAll(traceParent)
	if len(given) == 0 && s.deps.Tracer == nil {
		return c.Next()
	}
	ctx := context.Background()
	if len(given) == 1 {
		ctx = received(string(given[0]), c.Get("tracestate"))
	}
	if s.deps.Tracer == nil {
		s.follow(c, trace.SpanContextFromContext(ctx))
		return c.Next()
	}
	_, span := s.deps.Tracer.Start(ctx, c.Method(), trace.WithSpanKind(trace.SpanKindServer))
	defer span.End()
	s.follow(c, span.SpanContext())
	err := c.Next()
	if !span.IsRecording() {
		return err
	}
	status := c.Response().StatusCode()
	if err != nil {
		status = problemOf(err).status
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

// follow keeps a request's place in its trace, for the answer and for what it causes.
func (s *Server) follow(c *fiber.Ctx, at trace.SpanContext) {
	if at.IsValid() {
		text := written(at)
		c.Locals(traceKey{}, text)
		c.Set(traceParent, text)
	}
}

// traceOf is a request's place in its trace as a traceparent, or empty.
func traceOf(c *fiber.Ctx) string {
	text, _ := c.Locals(traceKey{}).(string)
	return text
}

// received reads a trace context; one that is not valid gives an empty context.
func received(parent, state string) context.Context {
	return propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{traceParent: parent, "tracestate": state})
}

func written(at trace.SpanContext) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(context.Background(), at), carrier)
	return carrier[traceParent]
}

// span begins the span of an execution and puts the job below it. end tells it what the execution came to.
func (s *Server) span(job Job) (below Job, end func(execution.Result, error)) {
	if s.deps.Tracer == nil {
		return job, func(execution.Result, error) {}
	}
	_, span := s.deps.Tracer.Start(received(job.TraceParent, ""), "execute")
	job.TraceParent = written(span.SpanContext())
	return job, func(result execution.Result, err error) {
		defer span.End()
		if !span.IsRecording() {
			return
		}
		span.SetAttributes(attribute.String("airlock.via", job.Via), attribute.String("airlock.tenant", job.Caller.Tenant))
		if err != nil {
			span.SetStatus(codes.Error, "the execution was not carried out")
			return
		}
		span.SetAttributes(
			attribute.String("airlock.execution.id", result.ID), attribute.String("airlock.execution.status", string(result.Status)),
			attribute.String("airlock.policy", result.Policy), attribute.Bool("airlock.cached", result.Cached),
			attribute.Float64("airlock.queue_ms", result.Usage.QueueMs), attribute.Float64("airlock.wall_ms", result.Usage.WallMs),
			attribute.Float64("airlock.cpu_ms", result.Usage.CPUMs), attribute.Int64("airlock.memory_bytes", result.Usage.MemoryBytes),
		)
		if result.Limit != nil {
			span.SetAttributes(attribute.String("airlock.limit", *result.Limit))
		}
	}
}
