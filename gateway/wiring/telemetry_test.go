package wiring

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestTracingRefuses(t *testing.T) {
	t.Parallel()
	if _, _, err := openTracer(t.Context(), environment("OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317",
		"OTEL_EXPORTER_OTLP_PROTOCOL=grpc")); err == nil || !strings.Contains(err.Error(), "http/protobuf") {
		t.Error(err)
	}
	if _, err := sendMetrics(t.Context(), environment("OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317",
		"OTEL_METRICS_EXPORTER=prometheus"), prometheus.NewRegistry()); err == nil ||
		!strings.Contains(err.Error(), "OTEL_METRICS_EXPORTER") {
		t.Error(err)
	}
	for _, pairs := range [][]string{nil, {"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_SDK_DISABLED=true"}} {
		if tracer, _, err := openTracer(t.Context(), environment(pairs...)); tracer != nil || err != nil {
			t.Error(tracer, err)
		}
	}
}
