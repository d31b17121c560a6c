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
		config: gateway.Config{KeepCode: keptBytes}, reader: newFarReader(t), store: store, redact: redactor.Apply,
		invoke: func(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error) {
			reply, err := small(ctx, inv, onLog)
			reply.Recorded = false
			return reply, err
		},
	})
}

// keptBytes is the default size of a request that a record may keep, as JSON.
const keptBytes = 768 << 10

// keptRequests are requests that cost the search for secrets, the encoding or the writing of a record most, in the size
// that a record keeps at most, and in half of it.
func keptRequests() map[string]string {
	out := map[string]string{}
	for _, size := range []int{keptBytes / 2, keptBytes - 100} {
		for _, piece := range []string{
			"f(1234, 'text', a.b);\n", "aé", "\x01", "\"", "a\u2028", "key=", "a://b:c@", "password='abcd' ", "?key=a&",
			apiKey + " ",
			"-----BEGIN eyJ bearer BASIC AKIA aws ghp_ xox k_live_ AIza sk- npm_ glpat- SG. hf_ ya29. key= ://",
		} {
			text := strings.Repeat(piece, size/(execution.Request{Code: piece}.RecordedBytes(keptBytes)-len(`{"code":""}`)))
			for shape, request := range map[string]map[string]any{
				"code": {"code": text}, "entry": {"entry": "a.js", "files": map[string]string{"a.js": text}},
				"file":  {"code": "1", "files": map[string]string{"a.js": text}},
				"input": {"code": "1", "input": text}, "name": {"code": "1", "input": map[string]string{text: ""}},
			} {
				body, err := encodeJSON(request)
				if err != nil {
					panic(err) // strings always encode
				}
				out[fmt.Sprintf("%s/%d bytes of %q", shape, size, piece)] = body
			}
		}
	}
	repeat := strings.Repeat
	for shape, value := range map[string]string{
		"numbers": `[0` + repeat(",0", keptBytes/2-20) + `]`, "objects": `[{}` + repeat(",{}", keptBytes/3-20) + `]`,
		"passwords": `[{}` + repeat(`,{"password":"abcdef"}`, keptBytes/22-20) + `]`,
	} {
		out[shape] = `{"code":"1","input":` + value + `}`
	}
	return out
}

// The record of an execution costs no more than another request if it keeps the request, whatever that is. A request
// that is larger than what it keeps is refused.
func TestOwnCostsOfKeptCode(t *testing.T) {
	s := keepingServer(t)
	for name, body := range keptRequests() {
		if took, status := s.once(t, "POST", "/api/execute", body, "application/json"); status != 200 {
			t.Errorf("%s: %d after %v", name, status, took)
		}
		s.bounded(t, "POST", "/api/execute", body)
	}
	for _, body := range costlyRequests() {
		s.bounded(t, "POST", "/api/execute", body)
	}
}

// Where records keep the request, one that is too large for its record runs nowhere, and neither does a saved function.
func TestKeptRequestsAreBounded(t *testing.T) {
	t.Parallel()
	const most = 20_000
	store := opened(t)
	start := func(keep int) *served {
		return serve(t, options{state: store, records: &ledger{}, config: gateway.Config{
			KeepCode: keep, SnapshotKeys: snapshotKeys(t),
		}})
	}
	s := start(most)
	s.do(t, "PUT", "/api/functions/f", `{"code":"1","hook":{"scheme":"none"}}`)
	session := s.session(t, "{}")
	id := strings.TrimPrefix(session, "/api/sessions/")
	for piece, written := range map[string]int{"x": 1, `\u0001`: 6, "\u2028": 6} {
		text := "1" + strings.Repeat(piece, 20_100/written)
		file := `{"code":"1","files":{"a.js":"` + text + `"}}`
		agent := append([]string{"Mcp-Method: tools/call", "Mcp-Name: execute_code"}, mcpHeaders...)
		for _, door := range []struct {
			method, path, body string
			headers            []string
		}{
			{"POST", "/api/execute", `{"code":"` + text + `"}`, nil},
			{"POST", "/api/execute", `{"code":"1","input":"` + text + `"}`, nil},
			{"POST", "/api/execute", `{"code":"1","context":{"a":"` + text + `"}}`, nil},
			{"POST", "/api/execute", `{"code":"1","args":["` + text + `"]}`, nil},
			{"POST", "/api/execute", file, nil},
			{"POST", "/api/execute", file, []string{"Prefer: respond-async"}},
			{"POST", "/api/execute/stream", file, nil},
			{"POST", session + "/execute", file, nil},
			{"POST", "/api/v2/execute", `{"language":"js","version":"*","files":[{"content":"` + text + `"}]}`, nil},
			{"POST", "/api/e2b/execute", `{"code":"` + text + `","context_id":"` + id + `"}`, nil},
			{"POST", "/mcp", messageFor("execute_code", file), agent},
			{"POST", "/api/functions/f/invoke", `{"input":"` + text + `"}`, nil},
			{"POST", "/api/functions/f/invoke", `{"input":"` + text + `"}`, []string{"Prefer: respond-async"}},
			{"POST", "/hooks/f", text, nil},
			{"PUT", "/api/functions/g", file, nil},
		} {
			a := s.do(t, door.method, door.path, door.body, door.headers...)
			status := 413
			if door.path == "/mcp" { // the tool fails
				status = 200
			}
			if a.StatusCode != status {
				t.Errorf("%s %s: %d", door.method, door.path, a.StatusCode)
			}
			for _, what := range []string{"takes at least ", "at most 20000", "AUDIT_CODE_BYTES"} {
				if !strings.Contains(string(a.body), what) {
					t.Errorf("%s %s: %.300s does not say %q", door.method, door.path, a.body, what)
				}
			}
			if n := s.records.count(); n > 0 {
				t.Fatalf("%s %s: %d records", door.method, door.path, n)
			}
		}
	}
	fits := `{"code":"1","files":{"a.js":"` + strings.Repeat("x", most-100) + `"}}`
	want(t, s.do(t, "POST", "/api/execute", fits), 200)
	want(t, s.do(t, "POST", "/api/analyze", `{"code":"'`+strings.Repeat("x", most)+`'"}`), 200)
	want(t, start(0).do(t, "PUT", "/api/functions/g", `{"code":"1//`+strings.Repeat("x", most)+`"}`), 201)
	want(t, s.do(t, "POST", "/api/functions/g/invoke", ""), 413, "AUDIT_CODE_BYTES")
	want(t, start(2*most).do(t, "POST", "/api/functions/g/invoke", ""), 200)
}

// BenchmarkOwnCostsOfKeptCode reports the worst cases of records with code.
func BenchmarkOwnCostsOfKeptCode(b *testing.B) {
	s := keepingServer(b)
	for name, body := range keptRequests() {
		b.Run(name, func(b *testing.B) {
			best := ownTime * 100
			for b.Loop() {
				best = min(best, s.spent(b, "POST", "/api/execute", body, "application/json"))
			}
			b.ReportMetric(float64(best.Microseconds())/1000, "own-cpu-ms/op")
		})
	}
}
