package main

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	metricscollector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Spans reach a collector: the request's below the caller's, the execution's below the request's.
func TestTracing(t *testing.T) {
	t.Parallel()
	const traceID, caller = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	var mu sync.Mutex
	spans := map[string]*tracepb.Span{}
	service := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			unpacked, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = unpacked
		}
		b, err := io.ReadAll(body)
		var sent collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(b, &sent)
		}
		if r.URL.Path == "/v1/metrics" {
			return
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Error(r.URL.Path, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, of := range sent.ResourceSpans {
			for _, a := range of.Resource.Attributes {
				if a.Key == "service.name" {
					service = a.Value.GetStringValue()
				}
			}
			for _, scope := range of.ScopeSpans {
				for _, span := range scope.Spans {
					spans[span.Name] = span
				}
			}
		}
	}))
	t.Cleanup(server.Close)
	p := start(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL)
	status, v := p.post(t.Context(), t, "/api/execute", `{"code":"1+1"}`, "Traceparent: 00-"+traceID+"-"+caller+"-01")
	if status != 200 {
		t.Fatal(status, v)
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	request, run := spans["POST /api/execute"], spans["execute"]
	if request == nil || run == nil {
		t.Fatalf("spans: %v", spans)
	}
	for _, c := range []struct{ name, got, want string }{
		{"the trace", hex.EncodeToString(request.TraceId), traceID},
		{"the parent of the request", hex.EncodeToString(request.ParentSpanId), caller},
		{"the parent of the run", hex.EncodeToString(run.ParentSpanId), hex.EncodeToString(request.SpanId)},
		{"the service", service, "airlock"},
	} {
		if c.got != c.want {
			t.Errorf("%s is %s, want %s", c.name, c.got, c.want)
		}
	}
	if text := run.String(); !strings.Contains(text, v["id"].(string)) || !strings.Contains(text, "completed") {
		t.Error(text)
	}
}

// The metrics that Prometheus reads reach a collector too, the last ones at the end.
func TestMetricsAreSent(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	found := map[string]*metricspb.Metric{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		var sent metricscollector.ExportMetricsServiceRequest
		if err == nil {
			err = proto.Unmarshal(b, &sent)
		}
		if err != nil || r.URL.Path != "/v1/metrics" {
			t.Error(r.URL.Path, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, of := range sent.ResourceMetrics {
			for _, scope := range of.ScopeMetrics {
				for _, m := range scope.Metrics {
					found[m.Name] = m
				}
			}
		}
	}))
	t.Cleanup(server.Close)
	p := start(t, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT="+server.URL+"/v1/metrics", "OTEL_EXPORTER_OTLP_COMPRESSION=none")
	if status, v := p.post(t.Context(), t, "/api/execute", `{"code":"1+1"}`); status != 200 {
		t.Fatal(status, v)
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	executions, durations := found["airlock_executions_total"], found["airlock_execution_duration_seconds"]
	for _, name := range []string{"airlock_executions_total", "airlock_execution_duration_seconds", "airlock_places",
		"go_goroutines"} {
		if found[name] == nil {
			t.Fatalf("%s is missing among %d metrics", name, len(found))
		}
	}
	ended := map[string]float64{}
	for _, point := range executions.GetSum().GetDataPoints() {
		ended[point.Attributes[0].Value.GetStringValue()] = point.GetAsDouble()
	}
	want := map[string]float64{"completed": 1, "error": 0, "timeout": 0, "blocked": 0, "cancelled": 0}
	if diff := cmp.Diff(want, ended); diff != "" { // one for each status, from the start
		t.Errorf("executions by their end (-want +got):\n%s", diff)
	}
	if points := durations.GetHistogram().GetDataPoints(); len(points) != 1 || points[0].Count != 1 {
		t.Error(durations)
	}
}
