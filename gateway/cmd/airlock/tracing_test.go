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

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
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
	if hex.EncodeToString(request.TraceId) != traceID || hex.EncodeToString(request.ParentSpanId) != caller || string(run.ParentSpanId) != string(request.SpanId) || service != "airlock" {
		t.Errorf("%s: %v\n%v", service, request, run)
	}
	if text := run.String(); !strings.Contains(text, v["id"].(string)) || !strings.Contains(text, "completed") {
		t.Error(text)
	}
}

func TestTracingRefuses(t *testing.T) {
	t.Parallel()
	if _, _, err := openTracer(t.Context(), env("OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc")); err == nil || !strings.Contains(err.Error(), "http/protobuf") {
		t.Error(err)
	}
	for _, environment := range [][]string{nil, {"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_SDK_DISABLED=true"}} {
		if tracer, _, err := openTracer(t.Context(), env(environment...)); tracer != nil || err != nil {
			t.Error(tracer, err)
		}
	}
}
