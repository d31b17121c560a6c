package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/policy/audit"
)

// keepingServer is a gateway that records the code and the request of every execution itself.
func keepingServer(t testing.TB) *served {
	t.Helper()
	store, err := filerecords.Open(t.TempDir(), filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	redactor, err := audit.NewRedactor(audit.RedactConfig{Secrets: []string{apiKey, secret}})
	if err != nil {
		t.Fatal(err)
	}
	return kept(t, options{
		config: gateway.Config{KeepCode: true}, reader: newFarReader(t), store: store, redact: redactor.Apply,
		invoke: func(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error) {
			reply, err := small(ctx, inv, onLog)
			reply.Recorded = false
			return reply, err
		},
	})
}

// keptBytes is the size of a code that a record may keep at the cost of any other request. SECURITY-MODEL says what
// more costs.
const keptBytes = 1 << 20

// keptCodes are codes that cost the search for secrets, the encoding or the writing of a record most.
func keptCodes() map[string]string {
	out := map[string]string{}
	for _, size := range []int{keptBytes / 2, keptBytes} {
		for _, piece := range []string{
			"f(1234, 'text', a.b);\n", "aé", "\x01", "\"", "key=", "a://b:c@", "password='abcd' ", "?key=a&", apiKey + " ",
			"-----BEGIN eyJ bearer BASIC AKIA aws ghp_ xox k_live_ AIza sk- npm_ glpat- SG. hf_ ya29. key= ://",
		} {
			out[fmt.Sprintf("%d bytes of %q", size, piece)] = strings.Repeat(piece, size/len(piece))
		}
	}
	return out
}

// The record of an execution costs no more than another request if up to a megabyte of code is kept, whatever it is.
func TestOwnCostsOfKeptCode(t *testing.T) {
	s := keepingServer(t)
	for _, code := range keptCodes() {
		body, err := encodeJSON(map[string]string{"code": code})
		if err != nil {
			t.Fatal(err)
		}
		s.bounded(t, "POST", "/api/execute", body)
		body, err = encodeJSON(map[string]any{"code": "1", "files": map[string]string{"a.js": code}})
		if err != nil {
			t.Fatal(err)
		}
		s.bounded(t, "POST", "/api/execute", body)
	}
	for _, body := range costlyRequests() {
		s.bounded(t, "POST", "/api/execute", body)
	}
}

// BenchmarkOwnCostsOfKeptCode reports the worst cases of records with code.
func BenchmarkOwnCostsOfKeptCode(b *testing.B) {
	s := keepingServer(b)
	for name, code := range keptCodes() {
		body, err := encodeJSON(map[string]string{"code": code})
		if err != nil {
			b.Fatal(err)
		}
		files, err := encodeJSON(map[string]any{"code": "1", "files": map[string]string{"a.js": code}})
		if err != nil {
			b.Fatal(err)
		}
		for shape, body := range map[string]string{"code": body, "files": files} {
			b.Run(shape+"/"+name, func(b *testing.B) {
				best := ownTime * 100
				for b.Loop() {
					best = min(best, s.spent(b, "POST", "/api/execute", body, "application/json"))
				}
				b.ReportMetric(float64(best.Microseconds())/1000, "own-cpu-ms/op")
			})
		}
	}
}
