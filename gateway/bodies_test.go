package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/gateway"
)

// Only a request with code may have a long body, and little of that body may be anything but text.
func TestLongBodies(t *testing.T) {
	t.Parallel()
	s := kept(t, options{
		auth: tokens(t), reader: newFarReader(t), config: gateway.Config{MaxBodyBytes: 40_000, MaxDataBytes: 1000},
	})
	key := bearer(apiKey)
	text := func(n int) string { return `{"code":"` + strings.Repeat("/", n) + `"}` }
	program := func(n int, argument string) string {
		return `{"language":"js","version":"*","args":["` + argument + `"],"files":[{"content":"` + strings.Repeat("/", n) +
			`"}]}`
	}
	for _, c := range []struct {
		name, method, path, body, header string
		status                           int
	}{
		{"long code", "POST", "/api/execute", text(30_000), key, 200},
		{"long code to analyze", "POST", "/api/analyze", text(30_000), key, 200},
		{"a long function", "PUT", "/api/functions/long", text(30_000), key, 201},
		{"a long program", "POST", "/api/v2/execute", program(30_000, ""), key, 200},
		{"a program beyond the limit", "POST", "/api/v2/execute", program(40_000, ""), key, 413},
		{"a long program with long arguments", "POST", "/api/v2/execute", program(1, strings.Repeat("x", 2000)), key, 413},
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

// A step of a session may be as long as a request with code.
func TestLongSteps(t *testing.T) {
	t.Parallel()
	s, _ := consoles(t, options{config: gateway.Config{MaxBodyBytes: 40_000, MaxDataBytes: 1000}})
	session := want(t, s.do(t, "POST", "/api/sessions", `{}`), 201).json(t)["id"].(string)
	step, long := "/api/sessions/"+session, strings.Repeat("x", 2000)
	body := func(more string, n int) string { return `{` + more + `"code":"` + strings.Repeat("/", n) + `"}` }
	e2b := func(variable string) string {
		return `"context_id":"` + session + `","env_vars":{"A":"` + variable + `"},`
	}
	for _, c := range []struct {
		name, path, body string
		status           int
	}{
		{"a step", step + "/execute", body("", 30_000), 200},
		{"a step beyond the limit", step + "/execute", body("", 40_000), 413},
		{"a step with long input", step + "/execute", body(`"input":"`+long+`",`, 1), 413},
		{"code of E2B", "/api/e2b/execute", body(e2b(""), 30_000), 200},
		{"variables of E2B", "/api/e2b/execute", body(e2b(long), 1), 413},
		{"a copy", step + "/fork", body("", 2000), 413},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := s.do(t, "POST", c.path, c.body); got.StatusCode != c.status {
				t.Errorf("got %d %s, want %d", got.StatusCode, got.body, c.status)
			}
		})
	}
}

// Clients of E2B name their credential in headers of their own, for its routes alone.
func TestLongBodiesOfE2B(t *testing.T) {
	t.Parallel()
	s := kept(t, options{auth: tokens(t), config: gateway.Config{MaxBodyBytes: 40_000, MaxDataBytes: 1000}})
	body := `{"code":"` + strings.Repeat("/", 30_000) + `"}`
	for _, c := range []struct {
		path, header string
		status       int
	}{
		{"/api/e2b/execute", "X-Access-Token: " + apiKey, 501}, // a gateway without sessions, after the body was read
		{"/api/e2b/execute", "E2b-Traffic-Access-Token: " + apiKey, 501},
		{"/api/e2b/execute", "X-A: b", 401},
		{"/api/execute", "X-Access-Token: " + apiKey, 401},
	} {
		if got := s.do(t, "POST", c.path, body, c.header); got.StatusCode != c.status {
			t.Errorf("%s with %s: got %d %s, want %d", c.path, c.header, got.StatusCode, got.body, c.status)
		}
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
