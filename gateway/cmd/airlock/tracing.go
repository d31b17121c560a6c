package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// openTracer gives what makes spans and sends them off by OTLP over HTTP, and what flushes it at the end. Without
// OTEL_EXPORTER_OTLP_ENDPOINT (or …_TRACES_ENDPOINT) the tracer is nil: nothing is made. All other settings of
// OpenTelemetry are read by its SDK under their usual names.
func openTracer(ctx context.Context, getenv func(string) string) (trace.Tracer, func(*slog.Logger), error) {
	idle := func(*slog.Logger) {}
	if getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" || getenv("OTEL_SDK_DISABLED") == "true" {
		return nil, idle, nil
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if p := getenv(name); p != "" && p != "http/protobuf" {
			return nil, idle, fmt.Errorf("%s: must be http/protobuf; got %q", name, p)
		}
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, idle, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "airlock"), attribute.String("service.version", version())),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, idle, errors.Join(fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err), exporter.Shutdown(ctx))
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	flush := func(log *slog.Logger) {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if err := provider.Shutdown(ending); err != nil {
			log.Warn("the last spans could not be sent", "error", err)
		}
	}
	return provider.Tracer("github.com/airlock-run/airlock/gateway"), flush, nil
}
