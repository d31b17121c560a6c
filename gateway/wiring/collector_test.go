package wiring

import (
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/policy/outbound"
)

// TestCollectorClient: telemetry goes to the configured collector, whose certificate is checked, and not where the
// collector redirects it.
func TestCollectorClient(t *testing.T) {
	t.Parallel()
	var inside atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside.Add(1) }))
	t.Cleanup(elsewhere.Close)
	collector := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		case "/slow":
			<-t.Context().Done()
		}
	}))
	t.Cleanup(collector.Close)
	authority := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
		Bytes: collector.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func(pairs ...string) *http.Client {
		t.Helper()
		c, err := CollectorClient(environment(pairs...), "TRACES")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	post := func(c *http.Client, url string) (int, error) {
		res, err := c.Post(url, "application/x-protobuf", strings.NewReader("x"))
		if err != nil {
			return 0, err
		}
		return res.StatusCode, res.Body.Close()
	}
	endpoint, trusted := "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "OTEL_EXPORTER_OTLP_CERTIFICATE="+authority
	if status, err := post(open(endpoint, trusted), collector.URL); err != nil || status != 200 {
		t.Error(status, err)
	}
	if _, err := post(open(endpoint), collector.URL); err == nil {
		t.Error("an untrusted certificate is accepted")
	}
	if status, err := post(open(endpoint, trusted), collector.URL+"/away"); err != nil || status != 307 ||
		inside.Load() != 0 {
		t.Error("a redirect is followed:", status, err)
	}
	if _, err := post(open(endpoint, trusted), elsewhere.URL); !errors.Is(err, address.ErrRefused) {
		t.Error("another server of this machine:", err)
	}
	if _, err := post(open(endpoint, trusted, "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT=200"),
		collector.URL+"/slow"); !errors.Is(err, outbound.ErrTooSlow) {
		t.Error("a slow collector:", err)
	}
	for _, wrong := range []string{
		"OTEL_EXPORTER_OTLP_TIMEOUT=soon", "OTEL_EXPORTER_OTLP_TIMEOUT=-1", "OTEL_EXPORTER_OTLP_CERTIFICATE=/nowhere",
		"OTEL_EXPORTER_OTLP_CLIENT_KEY=/nowhere", "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE=/nowhere",
	} {
		name, _, _ := strings.Cut(wrong, "=")
		if _, err := CollectorClient(environment(wrong), "TRACES"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

func environment(settings ...string) func(string) string {
	return func(name string) string {
		for _, s := range settings {
			if value, ok := strings.CutPrefix(s, name+"="); ok {
				return value
			}
		}
		return ""
	}
}
