package wiring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/airlock-run/airlock/gateway/api"
)

// lastSending bounds the sending of what is left at the end.
const lastSending = 5 * time.Second

// telemetry reports whether a signal (TRACES or METRICS) is sent: if OTEL_EXPORTER_OTLP_ENDPOINT or
// OTEL_EXPORTER_OTLP_<signal>_ENDPOINT is set, unless OTEL_SDK_DISABLED or OTEL_<signal>_EXPORTER=none disables it.
// The SDK reads all other settings under their usual names.
func telemetry(getenv func(string) string, signal string) (bool, error) {
	own := "OTEL_EXPORTER_OTLP_" + signal
	if getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && getenv(own+"_ENDPOINT") == "" ||
		getenv("OTEL_SDK_DISABLED") == "true" {
		return false, nil
	}
	switch exporter := "OTEL_" + signal + "_EXPORTER"; getenv(exporter) {
	case "", "otlp":
	case "none":
		return false, nil
	default:
		return false, fmt.Errorf("%s: must be otlp or none; got %q", exporter, getenv(exporter))
	}
	for _, name := range []string{own + "_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if p := getenv(name); p != "" && p != "http/protobuf" {
			return false, fmt.Errorf("%s: must be http/protobuf; got %q", name, p)
		}
	}
	return true, nil
}

// longestFault bounds an error of the exporters in the log. They quote what a collector says.
const longestFault = 500

// logTelemetry sends the errors of the exporters to log. Their default is stderr, where a collector's text would be
// written as it is.
func logTelemetry(log *slog.Logger) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		text := err.Error()
		if len(text) > longestFault {
			text = strings.ToValidUTF8(text[:longestFault], "") + "…"
		}
		log.Warn("telemetry was not sent", "error", text)
	}))
}

// aboutThis returns the description of this service for a collector.
func aboutThis(ctx context.Context) (*resource.Resource, error) {
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "airlock"),
			attribute.String("service.version", api.Version())),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return about, nil
}

// openTracer returns a tracer that sends spans by OTLP over HTTP, and a func that flushes it. The tracer is nil if no
// spans are to be sent.
func openTracer(ctx context.Context, getenv func(string) string) (trace.Tracer, func(*slog.Logger), error) {
	idle := func(*slog.Logger) {}
	if wanted, err := telemetry(getenv, "TRACES"); !wanted {
		return nil, idle, err
	}
	client, err := CollectorClient(getenv, "TRACES")
	if err != nil {
		return nil, idle, err
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithHTTPClient(client))
	if err != nil {
		return nil, idle, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	about, err := aboutThis(ctx)
	if err != nil {
		return nil, idle, errors.Join(err, exporter.Shutdown(ctx))
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return provider.Tracer("github.com/airlock-run/airlock/gateway"), flushing(ctx, "spans", provider.Shutdown), nil
}

// sendMetrics sends the metrics of /metrics by OTLP over HTTP too, every OTEL_METRIC_EXPORT_INTERVAL (a minute). It
// returns a func that sends them a last time.
func sendMetrics(ctx context.Context, getenv func(string) string, from prometheus.Gatherer) (func(*slog.Logger),
	error) {
	idle := func(*slog.Logger) {}
	if wanted, err := telemetry(getenv, "METRICS"); !wanted {
		return idle, err
	}
	client, err := CollectorClient(getenv, "METRICS")
	if err != nil {
		return idle, err
	}
	exporter, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithHTTPClient(client))
	if err != nil {
		return idle, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	about, err := aboutThis(ctx)
	if err != nil {
		return idle, errors.Join(err, exporter.Shutdown(ctx))
	}
	reader := sdkmetric.NewPeriodicReader(exporter,
		sdkmetric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(from))))
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithResource(about))
	return flushing(ctx, "metrics", provider.Shutdown), nil
}

// flushing returns a func that sends the rest.
func flushing(ctx context.Context, what string, shutdown func(context.Context) error) func(*slog.Logger) {
	return func(log *slog.Logger) {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSending)
		defer cancel()
		if err := shutdown(ending); err != nil {
			log.Warn("the last "+what+" could not be sent", "error", err)
		}
	}
}
