package gateway_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/authn"
)

// routeCase says what one route does with each kind of caller. {id} in it is a blocked execution of ann's, {job} one
// that never ends, {hooked} one that the hook of her function f began.
type routeCase struct {
	route string // as Routes names it
	path  string
	body  string
	scope string // what it needs; "" any caller, "-" nobody
	ok    int    // what ann, who has it, gets
	// others is the status for eve, who has the scopes in another tenant; 0 if the route concerns no tenant.
	others int
	bad    []try
}

// try is an invalid input; "" stands for the path or body of the route itself.
type try struct {
	path, body string
	status     int
	headers    []string
}

const (
	mcpHello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	long = "%00"
)

// bodies are invalid for every endpoint that takes JSON.
func bodies(more ...try) []try {
	deep := `{"code":"1","input":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`
	return append([]try{
		{body: `{`, status: 400}, {body: `[]`, status: 400}, {body: `null`, status: 400}, {body: `{"nope":1}`, status: 400},
		{body: "{\"code\":\"\xff\"}", status: 400},
		{body: `{"code":"1","code":"2"}`, status: 400}, {body: deep, status: 400}, {body: `{"code":"1"}{}`, status: 400},
		{body: `{"code":"` + strings.Repeat("x", 20_000) + `"}`, status: 413},
		{body: `{"code":"1"}`, status: 415, headers: []string{"Content-Encoding: gzip"}},
		{body: `{"code":"1"}`, status: 415, headers: []string{"Content-Type: ", "Content-Type: text/plain"}},
	}, more...)
}

func routeCases() []routeCase {
	queries := func(path string, bad ...string) []try {
		out := []try{{path: path + "?nope=1", status: 400}}
		for _, q := range bad {
			out = append(out, try{path: path + "?" + q, status: 400})
		}
		return out
	}
	return []routeCase{
		{route: "GET /healthz", path: "/healthz", scope: "-", ok: 200},
		{route: "GET /readyz", path: "/readyz", scope: "-", ok: 200},
		{route: "GET /openapi.json", path: "/openapi.json", scope: "-", ok: 200},
		{route: "GET /docs", path: "/docs", scope: "-", ok: 200},
		{route: "GET /metrics", path: "/metrics", ok: 200},
		{route: "POST /api/execute", path: "/api/execute", body: `{"code":"1"}`, scope: authn.Execute, ok: 200, bad: bodies(
			try{body: `{}`, status: 400}, try{body: `{"code":""}`, status: 400}, try{body: `{"code":"\u0000"}`, status: 400},
			try{body: `{"code":"1","timeout":-1}`, status: 400}, try{body: `{"code":"1","timeout":1e400}`, status: 400},
			try{body: `{"code":"1","memory":"1"}`, status: 400}, try{body: `{"code":"1","engine":"v8"}`, status: 400},
			try{body: `{"code":"1","context":{"__proto__":1}}`, status: 400}, try{body: `{"code":"1","seed":1.5}`, status: 400},
			try{body: `{"code":"1","priority":"highest"}`, status: 400},
			try{body: `{"code":"1","callback":"https://a.example"}`, status: 400},
			try{body: `{"code":"1"}`, status: 400, headers: []string{"Idempotency-Key: a b"}},
		)},
		{route: "POST /api/execute/stream", path: "/api/execute/stream", body: `{"code":"1"}`, scope: authn.Execute,
			ok: 200, bad: bodies(
				try{status: 400, headers: []string{"Last-Event-ID: x"}},
				try{status: 400, headers: []string{"Last-Event-ID: exec_0123456789:-1"}},
				try{status: 404, headers: []string{"Last-Event-ID: exec_0123456789:1"}},
			)},
		{route: "POST /api/executions/{id}/calls/{seq}", path: "/api/executions/{id}/calls/1", body: `{"value":1}`,
			scope: authn.Execute, ok: 404, others: 404, bad: []try{
				{path: "/api/executions/exec_0123456789/calls/1", status: 404},
				{path: "/api/executions/x/calls/x", status: 404},
				{path: "/api/executions/..%2f..%2fetc/calls/1", status: 404},
				{body: `{"value":"` + strings.Repeat("x", 20_000) + `"}`, status: 413},
			}}, // {id} is not streamed; caller_tools_test.go answers calls
		{
			route: "POST /api/analyze", path: "/api/analyze", body: `{"code":"1"}`, scope: authn.Execute, ok: 200, bad: bodies(),
		},
		{route: "GET /api/result/{id}", path: "/api/result/{id}", scope: authn.Execute, ok: 200, others: 404, bad: []try{
			{path: "/api/result/x", status: 404}, {path: "/api/result/" + long, status: 404},
			{path: "/api/result/..%2f..%2fetc", status: 404},
		}},
		{route: "DELETE /api/result/{id}", path: "/api/result/{job}", scope: authn.Execute, ok: 200, others: 404, bad: []try{
			{path: "/api/result/{id}", status: 409}, {path: "/api/result/exec_0123456789", status: 404},
		}},
		{
			route: "GET /api/executions", path: "/api/executions?status=paused", scope: authn.Execute, ok: 200,
			bad: queries("/api/executions", "status=done", "status=paused&limit=0", "status=paused&limit=201",
				"status=paused&cursor=x", "status=queued&limit=x", "status=running&cursor=x", "status="),
		},
		{route: "GET /api/executions/{id}", path: "/api/executions/{id}", scope: authn.Execute, ok: 200, others: 404,
			bad: []try{{path: "/api/executions/x", status: 404}, {path: "/api/executions/" + long, status: 404}}},
		{route: "DELETE /api/executions/{id}", path: "/api/executions/{job}", scope: authn.Execute, ok: 200, others: 404,
			bad: []try{{path: "/api/executions/{id}", status: 409}, {path: "/api/executions/x", status: 404}}},
		{route: "POST /api/executions/{id}/resume", path: "/api/executions/{id}/resume",
			body: `{"decisions":[{"seq":1,"decision":"approve"}]}`, scope: authn.Approve, ok: 404, others: 404,
			bad: bodies(try{body: `{"decisions":[]}`, status: 400}, try{body: `{"decisions":[{"seq":"1"}]}`, status: 400}),
		}, // {id} is not paused; waits_routes_test.go resumes executions
		{route: "POST /api/executions/{id}/events/{name}", path: "/api/executions/{id}/events/e", body: `{}`,
			scope: authn.Execute, ok: 404, others: 404, bad: []try{
				{body: `{`, status: 400}, {path: "/api/executions/x/events/e", status: 404},
				{status: 415, headers: []string{"Content-Encoding: gzip"}},
			}},
		{route: "POST /api/sessions", path: "/api/sessions", body: `{}`, scope: authn.Execute, ok: 201, bad: []try{
			{body: `{`, status: 400}, {body: `[]`, status: 400}, {body: `{"code":"1"}`, status: 400},
			{body: `{"step":0}`, status: 400},
			{body: `{"policy":"strict"}`, status: 400}, {body: `{"policy":"none"}`, status: 400},
			{body: `{"maxAge":0}`, status: 400}, {body: `{"maxAge":1e300}`, status: 400}, {body: `{"maxAge":"1"}`, status: 400},
			{status: 415, headers: []string{"Content-Encoding: gzip"}},
		}},
		{route: "GET /api/sessions", path: "/api/sessions", scope: authn.Execute, ok: 200,
			bad: queries("/api/sessions", "limit=0", "limit=201", "limit=x", "cursor=x", "cursor=exec_0123456789",
				"status=a")},
		{route: "GET /api/sessions/{id}", path: "/api/sessions/{session}", scope: authn.Execute, ok: 200, others: 404,
			bad: []try{{path: "/api/sessions/{id}", status: 404}, {path: "/api/sessions/" + long, status: 404}}},
		{route: "DELETE /api/sessions/{id}", path: "/api/sessions/{session}", scope: authn.Execute, ok: 204, others: 404,
			bad: []try{{path: "/api/sessions/{id}", status: 404}}},
		{route: "POST /api/sessions/{id}/execute", path: "/api/sessions/{session}/execute", body: `{"code":"1"}`,
			scope: authn.Execute, ok: 200, others: 404, bad: bodies(
				try{body: `{}`, status: 400}, try{body: `{"code":"1","policy":"extended"}`, status: 400},
				try{body: `{"code":"1","engine":"v8"}`, status: 400}, try{path: "/api/sessions/{id}/execute", status: 404},
			)},
		{route: "POST /api/sessions/{id}/fork", path: "/api/sessions/{session}/fork", scope: authn.Execute, ok: 201,
			others: 404, bad: []try{
				{body: `{"policy":"extended"}`, status: 400}, {body: `{"code":"1"}`, status: 400},
				{body: `{"step":1}`, status: 400}, {body: `{"step":-1}`, status: 400}, {body: `{"step":0.5}`, status: 400},
				{path: "/api/sessions/{id}/fork", status: 404},
			}},
		{route: "POST /api/e2b/v2/sandboxes", path: "/api/e2b/v2/sandboxes", body: `{"templateID":"a","timeout":60}`,
			scope: authn.Execute, ok: 201, bad: []try{
				{body: `{`, status: 400}, {body: `[]`, status: 400}, {body: `{"timeout":"1"}`, status: 400},
				{body: `{"timeout":1e300}`, status: 400}, {body: `{"envVars":{"a b":"c"}}`, status: 400},
			}},
		{route: "POST /api/e2b/sandboxes", path: "/api/e2b/sandboxes", body: `{"templateID":"a","timeout":60}`,
			scope: authn.Execute, ok: 201, bad: []try{
				{body: `{`, status: 400}, {body: `{"timeout":"1"}`, status: 400}, {body: `{"envVars":{"a b":"c"}}`, status: 400},
			}},
		{route: "DELETE /api/e2b/sandboxes/{id}", path: "/api/e2b/sandboxes/{session}", scope: authn.Execute, ok: 204,
			others: 404, bad: []try{{path: "/api/e2b/sandboxes/{id}", status: 404}}},
		{route: "POST /api/e2b/contexts", path: "/api/e2b/contexts", body: `{"language":"js"}`, scope: authn.Execute, ok: 200,
			bad: []try{{body: `{`, status: 400}, {body: `{"language":"python"}`, status: 400}}},
		{route: "GET /api/e2b/contexts", path: "/api/e2b/contexts", scope: authn.Execute, ok: 200},
		{route: "DELETE /api/e2b/contexts/{id}", path: "/api/e2b/contexts/{session}", scope: authn.Execute, ok: 204,
			others: 404, bad: []try{{path: "/api/e2b/contexts/" + long, status: 404}}},
		{route: "POST /api/e2b/contexts/{id}/restart", path: "/api/e2b/contexts/{session}/restart", scope: authn.Execute,
			ok: 204, others: 404, bad: []try{{path: "/api/e2b/contexts/{id}/restart", status: 404}}},
		{route: "POST /api/e2b/execute", path: "/api/e2b/execute", body: `{"code":"1","context_id":"{session}"}`,
			scope: authn.Execute, ok: 200, others: 404, bad: bodies(
				try{body: `{"code":"1"}`, status: 404}, try{body: `{"context_id":"{session}"}`, status: 400},
				try{body: `{"code":"1","language":"r"}`, status: 400},
				try{body: `{"code":"1","context_id":"a","language":"js"}`, status: 400},
				try{body: `{"code":"1","env_vars":{"a b":"c"}}`, status: 400},
			)},
		{route: "GET /api/v2/runtimes", path: "/api/v2/runtimes", scope: authn.Execute, ok: 200},
		{route: "POST /api/v2/execute", path: "/api/v2/execute", scope: authn.Execute, ok: 200,
			body: `{"language":"js","version":"*","files":[{"content":"1"}]}`, bad: bodies(
				try{body: `{"language":"python","version":"*","files":[{"content":"1"}]}`, status: 400},
				try{body: `{"language":"js","version":"*","files":[{"content":"1"}],"policy":"none"}`, status: 400},
				try{body: `{"language":"js","version":"*","files":[{"content":"1"}],"run_timeout":1e9}`, status: 400},
				try{body: `{"language":"js","version":"*","files":[{"name":"../a","content":"1"}]}`, status: 400},
			)},
		{route: "GET /api/engines", path: "/api/engines", ok: 200},
		{route: "GET /api/packages", path: "/api/packages", scope: authn.Execute, ok: 200},
		{route: "GET /api/packages.d.ts", path: "/api/packages.d.ts", scope: authn.Execute, ok: 200,
			bad: queries("/api/packages.d.ts", "policy=nope", "tier=strict", "policy=strict&policy=agent")},
		{route: "GET /api/policies", path: "/api/policies", ok: 200},
		{route: "GET /api/stats", path: "/api/stats", ok: 200},
		{
			route: "GET /api/tools", path: "/api/tools", scope: authn.Execute, ok: 200,
			bad: queries("/api/tools", "limit=0", "limit=101", "limit=x"),
		},
		{route: "GET /api/tools.d.ts", path: "/api/tools.d.ts", scope: authn.Execute, ok: 200},
		{
			route: "GET /api/metrics/executions", path: "/api/metrics/executions?window=1h", ok: 200,
			bad: queries("/api/metrics/executions", "window=0s", "window=x"),
		},
		{
			route: "GET /api/metrics/series", path: "/api/metrics/series", scope: authn.AuditRead, ok: 200,
			bad: queries("/api/metrics/series", "window=x", "step=-1s"),
		},
		{
			route: "GET /api/audit/executions", path: "/api/audit/executions?limit=1", scope: authn.AuditRead, ok: 200,
			bad: queries("/api/audit/executions", "limit=0", "limit=x", "limit=1&limit=2", "cursor=x", "since=x", "status=nope"),
		},
		{route: "GET /api/audit/execution/{id}", path: "/api/audit/execution/{id}", scope: authn.AuditRead, ok: 200,
			others: 404, bad: []try{
				{path: "/api/audit/execution/x", status: 404}, {path: "/api/audit/execution/exec_0123456789", status: 404},
			}},
		{route: "POST /api/audit/execution/{id}/replay", path: "/api/audit/execution/{id}/replay", scope: authn.AuditRead,
			ok: 409, others: 404, bad: []try{
				{path: "/api/audit/execution/x/replay", status: 404},
				{path: "/api/audit/execution/exec_0123456789/replay", status: 404},
			}}, // {id} was blocked: there is nothing to run again
		{
			route: "GET /api/audit/security-summary", path: "/api/audit/security-summary", scope: authn.AuditRead, ok: 200,
			bad: queries("/api/audit/security-summary", "since=x"),
		},
		{
			route: "GET /api/audit/stats", path: "/api/audit/stats", scope: authn.AuditRead, ok: 200,
			bad: queries("/api/audit/stats", "until=x", "limit=1"),
		},
		{route: "GET /api/audit/verification", path: "/api/audit/verification", scope: authn.AuditRead, ok: 200},
		{route: "POST /api/audit/verification", path: "/api/audit/verification", scope: authn.AuditReadAll},
		{
			route: "GET /api/live", path: "/api/live?view=dashboard", scope: authn.AuditRead, ok: 200,
			bad: queries("/api/live", "view=nope"),
		},
		{route: "GET /api/reports/execution/{id}", path: "/api/reports/execution/{id}?format=json", scope: authn.AuditRead,
			ok: 200, others: 404, bad: []try{
				{path: "/api/reports/execution/{id}?format=xml", status: 400},
				{path: "/api/reports/execution/{id}?nope=1", status: 400}, {path: "/api/reports/execution/x", status: 404},
			}},
		{
			route: "GET /api/functions", path: "/api/functions", scope: authn.Execute, ok: 200,
			bad: queries("/api/functions", "limit=0", "limit=501", "cursor=!", "cursor=Li4vLi4"),
		},
		{route: "PUT /api/functions/{name}", path: "/api/functions/f", body: `{"code":"2"}`, scope: authn.Functions,
			ok: 201, bad: bodies(
				try{path: "/api/functions/-f", status: 400}, try{path: "/api/functions/" + strings.Repeat("f", 65), status: 400},
				try{path: "/api/functions/a%2fb", status: 400},
				try{body: `{}`, status: 400}, try{body: `{"code":"1","input":1}`, status: 400},
				try{body: `{"code":"1","hook":{"scheme":"nope"}}`, status: 400},
				try{body: `{"code":"1","schedule":"nope"}`, status: 400}, try{body: `{"code":"1","env":{"a b":"c"}}`, status: 400},
			)},
		{
			route: "GET /api/functions/{name}", path: "/api/functions/f", scope: authn.Execute, ok: 200, others: 404,
			bad: append(
				queries("/api/functions/f", "version=0", "version=x"), try{path: "/api/functions/f?version=99", status: 404},
				try{path: "/api/functions/none", status: 404},
			),
		},
		{
			route: "DELETE /api/functions/{name}", path: "/api/functions/f", scope: authn.Functions, ok: 204, others: 404,
			bad: []try{{path: "/api/functions/none", status: 404}},
		},
		{route: "POST /api/functions/{name}/invoke", path: "/api/functions/f/invoke", body: `{"input":1}`,
			scope: authn.Execute, ok: 200, others: 404, bad: bodies(
				try{body: `{"version":0}`, status: 400}, try{body: `{"version":"1"}`, status: 400},
				try{body: `{"version":1,"alias":"a"}`, status: 400}, try{body: `{"alias":"none"}`, status: 404},
			)},
		{
			route: "POST /api/functions/{name}/rollback", path: "/api/functions/f/rollback", body: `{"alias":"live"}`,
			scope: authn.Functions, ok: 200, others: 404,
			bad: bodies(try{body: `{"alias":"none"}`, status: 404}, try{body: `{"alias":1}`, status: 400}),
		},
		{
			route: "GET /api/functions/{name}/hook", path: "/api/functions/f/hook", scope: authn.Execute, ok: 200, others: 404,
			bad: []try{{path: "/api/functions/none/hook", status: 404}},
		},
		{
			route: "PUT /api/functions/{name}/hook", path: "/api/functions/f/hook", body: `{"scheme":"none"}`,
			scope: authn.Functions, ok: 200, others: 404,
			bad: bodies(
				try{body: `{}`, status: 400}, try{body: `{"scheme":"nope"}`, status: 400},
				try{body: `{"scheme":"github"}`, status: 400}, try{body: `{"scheme":"github","secret":"short"}`, status: 400},
				try{body: `{"scheme":"none","alias":"gone"}`, status: 400}, try{body: `{"scheme":"none","async":1}`, status: 400},
				try{status: 412, headers: []string{`If-Match: "other"`}},
			),
		},
		{
			route: "DELETE /api/functions/{name}/hook", path: "/api/functions/f/hook", scope: authn.Functions, ok: 204,
			others: 404, bad: []try{{path: "/api/functions/none/hook", status: 404}},
		},
		{
			route: "POST /api/functions/{name}/hook/dry-run", path: "/api/functions/f/hook/dry-run", body: `{"sample":"json"}`,
			scope: authn.Functions, ok: 200, others: 404, bad: bodies(try{body: `{"sample":"none"}`, status: 400}),
		},
		{
			route: "POST /api/functions/{name}/hook/redeliver", path: "/api/functions/f/hook/redeliver",
			body: `{"execution":"{hooked}"}`, scope: authn.Functions, ok: 200, others: 404,
			bad: bodies(try{body: `{}`, status: 400}, try{body: `{"execution":"{id}"}`, status: 404}),
		},
		{
			route: "GET /api/functions/{name}/diff", path: "/api/functions/f/diff?from=1&to=2", scope: authn.Execute, ok: 200,
			others: 404, bad: queries("/api/functions/f/diff", "from=x&to=1", "from=0&to=1"),
		},
		{
			route: "GET /api/functions/{name}/versions", path: "/api/functions/f/versions", scope: authn.Execute, ok: 200,
			others: 404, bad: []try{{path: "/api/functions/none/versions", status: 404}},
		},
		{
			route: "GET /api/functions/{name}/versions/{version}", path: "/api/functions/f/versions/1", scope: authn.Execute,
			ok: 200, others: 404,
			bad: []try{
				{path: "/api/functions/f/versions/0", status: 400}, {path: "/api/functions/f/versions/9", status: 404},
				{path: "/api/functions/f/versions/x", status: 400},
			},
		},
		{
			route: "GET /api/functions/{name}/aliases", path: "/api/functions/f/aliases", scope: authn.Execute, ok: 200,
			others: 404,
		},
		{
			route: "GET /api/functions/{name}/aliases/{alias}", path: "/api/functions/f/aliases/live", scope: authn.Execute,
			ok: 200, others: 404, bad: []try{{path: "/api/functions/f/aliases/none", status: 404}},
		},
		{
			route: "PUT /api/functions/{name}/aliases/{alias}", path: "/api/functions/f/aliases/live", body: `{"version":1}`,
			scope: authn.Functions, ok: 200, others: 404,
			bad: bodies(
				try{body: `{}`, status: 400}, try{body: `{"version":99}`, status: 404}, try{body: `{"version":-1}`, status: 400},
			),
		},
		{
			route: "DELETE /api/functions/{name}/aliases/{alias}", path: "/api/functions/f/aliases/live", scope: authn.Functions,
			ok: 204, others: 404, bad: []try{{path: "/api/functions/f/aliases/none", status: 404}},
		},
		{route: "POST /hooks/{name}", path: "/hooks/open", body: `{}`, scope: "-", ok: 200, bad: []try{
			{path: "/hooks/none", status: 404}, {path: "/hooks/f", status: 404}, {path: "/hooks/..%2ff", status: 404},
			{status: 415, headers: []string{"Content-Encoding: gzip"}},
		}},
		{route: "POST /hooks/{tenant}/{name}", path: "/hooks/acme/f", body: `{}`, scope: "-", ok: 200, bad: []try{
			{path: "/hooks/other/f", status: 404}, {path: "/hooks/" + strings.Repeat("t", 200) + "/f", status: 404},
			{path: "/hooks/acme/f?%zz", status: 400},
		}},
		{route: "POST /mcp", path: "/mcp", body: mcpHello, scope: authn.Execute, ok: 200, bad: []try{
			{body: `[]`, status: 400}, {body: `{`, status: 400}, {body: `{}`, status: 400},
			{body: mcpHello, status: 415, headers: []string{"Content-Encoding: br"}},
			{body: mcpHello, status: 403, headers: []string{"Origin: https://evil.example"}},
			{body: mcpHello, status: 404, headers: []string{"Mcp-Session-Id: none"}},
		}},
		{route: "GET /mcp", path: "/mcp", scope: authn.Execute, bad: []try{{status: 400}}},
		{route: "DELETE /mcp", path: "/mcp", scope: authn.Execute, bad: []try{{status: 400}}},
	}
}

// prepared returns a server with everything that the routes refer to, and the replacer for their placeholders.
func prepared(t *testing.T) (*served, *strings.Replacer) {
	t.Helper()
	s := kept(t, options{auth: tokens(t), config: gateway.Config{MaxBodyBytes: 20_000, SnapshotKeys: snapshotKeys(t)}})
	ann := tenantToken(t, "ann", "acme", strings.Join(authn.Scopes(), " "))
	id := want(t, s.do(t, "POST", "/api/execute", code("eval('1')"), ann), 200).json(t)["id"].(string)
	want(t, s.do(t, "PUT", "/api/functions/f", code("1"), ann), 201)
	want(t, s.do(t, "PUT", "/api/functions/f", `{"code":"1+1","hook":{"scheme":"none"}}`, ann), 201)
	for _, version := range []string{"1", "2"} {
		want(t, s.do(t, "PUT", "/api/functions/f/aliases/live", `{"version":`+version+`}`, ann), 200)
	}
	want(t, s.do(t, "PUT", "/api/functions/open", `{"code":"1","hook":{"scheme":"none"}}`, bearer(apiKey)), 201)
	hooked := want(t, s.do(t, "POST", "/hooks/acme/f", `{}`), 200).Header.Get("X-Execution-Id")
	session := want(t, s.do(t, "POST", "/api/sessions", `{}`, ann), 201).json(t)["id"].(string)
	return s, strings.NewReplacer("{id}", id, "{hooked}", hooked, "{session}", session)
}

// status sends a request and reads only the status and headers, because a response may never end.
func (s *served) status(t *testing.T, method, path, body string, headers ...string) (int, string) {
	t.Helper()
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if value == "" {
			r.Header.Del(name)
			continue
		}
		r.Header.Add(name, value)
	}
	res, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode, res.Header.Get("Content-Type")
}

// Every route is in the table, and treats every caller as the table says.
func TestEveryRoute(t *testing.T) {
	t.Parallel()
	all := routeCases()
	for _, route := range serve(t, options{auth: tokens(t)}).Routes() {
		if !slices.ContainsFunc(all, func(d routeCase) bool { return d.route == route }) {
			t.Errorf("%s has no row in the table", route)
		}
	}
	for _, d := range all {
		t.Run(d.route, func(t *testing.T) {
			t.Parallel()
			d.judge(t)
		})
	}
}

func (d routeCase) judge(t *testing.T) {
	s, fill := prepared(t)
	method, _, _ := strings.Cut(d.route, " ")
	all := strings.Join(authn.Scopes(), " ")
	ann, eve := tenantToken(t, "ann", "acme", all), tenantToken(
		t, "eve", "other", strings.ReplaceAll(all, authn.AuditReadAll, ""),
	)
	if strings.Contains(d.path, "{job}") {
		// There is no place for it, and what waits is cancelled at once.
		id := want(t, s.do(t, "POST", "/api/execute", `{"code":"1"}`, ann, prefer), 202).json(t)["id"].(string)
		fill = strings.NewReplacer("{job}", id, "{id}", fill.Replace("{id}"))
		if a := s.do(t, "DELETE", "/api/result/"+id, "", eve); a.StatusCode != 404 {
			t.Errorf("eve gets %d", a.StatusCode)
		}
		if a := s.do(t, "DELETE", "/api/result/"+id, "", ann); a.StatusCode != 200 && a.StatusCode != 202 &&
			a.StatusCode != 409 {
			t.Errorf("ann gets %d", a.StatusCode)
		}
		d.ok, d.others = 0, 0
	}
	path, body := fill.Replace(d.path), fill.Replace(d.body)
	ask := func(who string, want int, path, body string, headers ...string) {
		t.Helper()
		got, kind := s.status(t, method, path, body, headers...)
		if got != want {
			t.Errorf("%s %s %.60s %v: %s gets %d, want %d", method, path, body, headers[1:], who, got, want)
		}
		wants := kind == "application/problem+json" || strings.HasPrefix(path, "/mcp") && kind == "application/json"
		if got >= 400 && method != "HEAD" && !wants {
			t.Errorf("%s %s: %s gets %d as %q", method, path, who, got, kind)
		}
	}
	const nobody = "X-Nobody: 1"
	if d.scope != "-" {
		ask("nobody", 401, path, body, nobody)
		ask("a forger", 401, path, body, bearer("x.y.z"))
	}
	if d.scope != "-" && d.scope != "" {
		other := authn.Priority
		ask("one without the scope", 403, path, body, tenantToken(t, "ann", "acme", other))
	}
	credential := ann
	if d.scope == "-" {
		credential = nobody
	}
	if d.others != 0 {
		ask("eve", d.others, path, body, eve)
	}
	for _, b := range d.bad {
		p, content := path, body
		if b.path != "" {
			p = fill.Replace(b.path)
		}
		if b.body != "" {
			content = fill.Replace(b.body)
		}
		ask("ann", b.status, p, content, append([]string{credential}, b.headers...)...)
	}
	if d.ok != 0 {
		ask("ann", d.ok, path, body, credential)
	}
}
