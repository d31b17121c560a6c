package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/gateway"
)

// A request with code may have a long body; any other may not, and beside its text a long body holds little.
func TestLongBodies(t *testing.T) {
	t.Parallel()
	s := kept(t, options{
		auth: tokens(t), reader: newFarReader(t), config: gateway.Config{MaxBodyBytes: 40_000, MaxDataBytes: 1000},
	})
	key := bearer(apiKey)
	text := func(n int) string { return `{"code":"` + strings.Repeat("/", n) + `"}` }
	for _, c := range []struct {
		name, method, path, body, header string
		status                           int
	}{
		{"long code", "POST", "/api/execute", text(30_000), key, 200},
		{"long code to analyze", "POST", "/api/analyze", text(30_000), key, 200},
		{"a long function", "PUT", "/api/functions/long", text(30_000), key, 201},
		{"code beyond the limit", "POST", "/api/execute", text(40_000), key, 413},
		{"long code without a credential", "POST", "/api/execute", text(30_000), "X-A: b", 401},
		{"long input", "POST", "/api/execute", `{"code":"1","input":"` + strings.Repeat("x", 2000) + `"}`, key, 413},
		{"long values", "POST", "/api/execute", `{"code":"1","input":[0` + strings.Repeat(",0", 2000) + `]}`, key, 413},
		{"a long body without code", "POST", "/api/functions/long/invoke", text(2000), key, 413},
		{"a long message that is no call", "POST", "/mcp", text(2000), key, 413},
		{"a call beyond the limit", "POST", "/mcp", toolCall(1, strings.Repeat("/", 40_000)), key, 413},
		{"a long call without a credential", "POST", "/mcp", toolCall(1, strings.Repeat("/", 30_000)), "X-A: b", 401},
		{"a long body at no path", "POST", "/api/nowhere", text(2000), key, 413},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := s.do(t, c.method, c.path, c.body, c.header); got.StatusCode != c.status {
				t.Errorf("got %d %s, want %d", got.StatusCode, got.body, c.status)
			}
		})
	}
}

// A call of a tool may be as long as a request with code.
func TestLongCalls(t *testing.T) {
	t.Parallel()
	s := serve(t, options{config: gateway.Config{MaxBodyBytes: 4 << 20, MaxDataBytes: 1000}})
	const accept = "Accept: application/json, text/event-stream"
	session := "Mcp-Session-Id: " + want(t, s.do(t, "POST", "/mcp", mcpHello, accept), 200).Header.Get("Mcp-Session-Id")
	code := "1 //" + strings.Repeat("/", 2<<20)
	want(t, s.do(t, "POST", "/mcp", toolCall(1, code), accept, session), 200, "completed")
	input := strings.Replace(toolCall(2, "1"), `"code":`, `"input":"`+strings.Repeat("x", 2000)+`","code":`, 1)
	s.do(t, "POST", "/mcp", input, accept, session).problem(t, 413)
}

// Long bodies take places, which end with their requests.
func TestPlacesOfLongBodies(t *testing.T) {
	t.Parallel()
	s := serve(t, options{config: gateway.Config{MaxDataBytes: 1000}})
	for n := range 60 { // more than there are places
		body := fmt.Sprintf(`{"code":"1 //%s%d"}`, strings.Repeat("/", 2000), n)
		if got := s.do(t, "POST", "/api/execute", body); got.StatusCode != 200 {
			t.Fatalf("request %d: %d %s", n, got.StatusCode, got.body)
		}
	}
}
