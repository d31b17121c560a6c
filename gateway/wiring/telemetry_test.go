package wiring

import (
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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

// What a collector says is in the log, with an end, and nowhere else.
func TestCollectorsText(t *testing.T) {
	said := "\x1b[2J\x1b]0;owned\a\u202e" + strings.Repeat("\u00e9", 300_000)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, said)
	}))
	t.Cleanup(collector.Close)
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stderr.Close() }()
	was := log.Writer()
	log.SetOutput(stderr)
	defer log.SetOutput(was)
	var logged strings.Builder
	logTelemetry(slog.New(slog.NewTextHandler(&logged, nil)))
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	tracer, flush, err := openTracer(t.Context(), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	_, span := tracer.Start(t.Context(), "a")
	span.End()
	flush(slog.New(slog.DiscardHandler))
	if written, err := os.ReadFile(stderr.Name()); err != nil || len(written) > 0 {
		t.Errorf("%.100q, %v", written, err)
	}
	text := logged.String()
	if !strings.Contains(text, "400 Bad Request") || len(text) > 2000 || strings.ContainsAny(text, "\x1b\a\u202e") {
		t.Errorf("%d bytes: %.1000q", len(text), text)
	}
}
