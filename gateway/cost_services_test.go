package gateway_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/bounds"
)

// A new version of a function costs no more than another request, and neither does reading it or what has changed.
func TestOwnCostsOfVersions(t *testing.T) {
	s := costServer(t)
	requests := costlyRequests()
	read := func(path string) {
		t.Helper()
		s.within(t, "GET "+path, ownTime, 1<<20, func() time.Duration { return s.cost(t, "GET", path, "") })
	}
	for _, name := range []string{
		"four files of letters", "four files of markup", "four files of line separators", "a thousand files",
	} {
		saved := 0
		save := func() time.Duration { // a content that was not saved before
			saved++
			body := strings.Replace(requests[name], `"1"`, fmt.Sprintf(`"%d"`, saved), 1)
			took, status := s.once(t, "PUT", "/api/functions/f", body, "application/json")
			if status != 200 && status != 201 {
				t.Fatalf("%s: %d", name, status)
			}
			return took - s.transport(t, body)
		}
		first := func() time.Duration { // the quota has no room for all tries
			s.do(t, "DELETE", "/api/functions/f", "")
			return save()
		}
		s.within(t, "a version with "+name, ownTime, 16<<20, first)
		s.within(t, "another with "+name, ownTime, 16<<20, func() time.Duration {
			first()
			return save()
		})
		read("/api/functions/f/versions/1")
		read("/api/functions/f/versions/2")
	}
	for i, each := range []string{"a%d\n", "%d\n"} {
		path := fmt.Sprintf("/api/functions/g%d", i)
		for version := range 2 {
			var text strings.Builder
			for line := range 400_000 {
				fmt.Fprintf(&text, each, line*7919%(3-version))
			}
			body, err := encodeJSON(map[string]string{"code": text.String()})
			if err != nil {
				t.Fatal(err)
			}
			want(t, s.do(t, "PUT", path, body), 201)
		}
		read(path + "/diff")
	}
}

// A request of Piston costs the gateway's own process no more than a request of the API.
func TestOwnCostsOfPiston(t *testing.T) {
	s := kept(t, options{reader: newFarReader(t), invoke: small})
	const full = 1<<20 - 400
	repeat := strings.Repeat
	head := `{"language":"js","version":"*",`
	file := func(content string) string { return head + `"files":[{"content":"` + content + `"}]}` }
	four := func(text string) string { // files of almost 4 MiB
		text = `{"content":"` + repeat(text, 4<<20/len(text)-200) + `"}`
		return head + `"files":[` + text + "," + strings.Replace(text, "{", `{"name":"b",`, 1) + "," +
			strings.Replace(text, "{", `{"name":"c",`, 1) + "," + strings.Replace(text, "{", `{"name":"d",`, 1) + "]}"
	}
	for _, body := range []string{
		four("x"), four("aé"), four("<"), four("\u2028"), four("😀"),
		file(repeat("f(1234, 'text', a.b);", full/21-10)),
		file(repeat(`f(1234, 'text', a.b);\n`, full/23-10)),
		file(repeat(`\u0001\n`+repeat("x", 16), 40_000)),
		file("1") + repeat(" ", full-200),
		head + `"files":[{"content":"1"},{"name":"a","encoding":"base64","content":"` + repeat("AAAA", full/4-40) + `"}]}`,
		head + `"files":[{"content":"1"},{"name":"a","encoding":"hex","content":"` + repeat("00", full/2-80) + `"}]}`,
		head + `"files":[{"content":"1"}` + repeat(`,{"name":"a","content":""}`, full/26-10) + `]}`,
		head + `"files":[{"content":"1"}` + repeat(`,0`, full/2-60) + `]}`,
		head + `"files":[{"content":"1"}],"run_timeout":[0` + repeat(",0", full/2-80) + `]}`,
		head + `"files":[{"content":"1"}],"compile_timeout":[[]` + repeat(",[]", full/3-80) + `]}`,
		head + `"files":[{"content":"1"}],"args":[""` + repeat(`,""`, full/3-80) + `]}`,
		`{"language":"js","files":[{"content":"1"}],"version":"` + repeat("1||", full/3-80) + `"}`,
		head + `"files":[{"content":"1"}],"stdin":"` + repeat(`\u0001`, full/6-80) + `"}`,
		head + `"files":[{"content":"1"}],"x":[0` + repeat(",0", full/2-80) + `]}`,
	} {
		s.bounded(t, "POST", "/api/v2/execute", body)
	}
}

// A request of E2B's client costs the gateway's own process no more than a request of the API.
func TestOwnCostsOfInterpreter(t *testing.T) {
	step := func(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error) {
		reply, err := small(ctx, inv, onLog)
		reply.Result.Snapshot, reply.Result.EngineBuild = []byte("s"), "b"
		return reply, err
	}
	s := kept(t, options{
		reader: newFarReader(t), invoke: step, config: gateway.Config{SnapshotKeys: snapshotKeys(t)},
	})
	session := "E2b-Sandbox-Id: " + strings.TrimPrefix(s.session(t, "{}"), "/api/sessions/")
	const full = 1<<20 - 400
	repeat := strings.Repeat
	var names strings.Builder
	for i := range 75_000 {
		fmt.Fprintf(&names, `"%x":"",`, i)
	}
	object := "{" + strings.TrimSuffix(names.String(), ",") + "}"
	for _, path := range []string{"/api/e2b/v2/sandboxes", "/api/e2b/contexts", "/api/e2b/execute"} {
		for _, members := range []string{
			`"envVars":` + object, `"env_vars":` + object, `"envs":` + object, `"x":` + object,
			`"x":"` + repeat(`\u0001`, full/6-80) + `"`,
			`"x":[0` + repeat(",0", full/2-80) + `]`,
			`"x":[{}` + repeat(",{}", full/3-80) + `]`,
			`"language":"` + repeat("x", full-80) + `"`,
			`"templateID":"` + repeat("x", full-80) + `"`,
			`"context_id":"` + repeat("x", full-80) + `"`,
			`"code":"` + repeat("f(1234, 'text', a.b);", full/21-10) + `"`,
			`"code":"` + repeat(`\u0001\n`+repeat("x", 16), 40_000) + `"`,
		} {
			s.bounded(t, "POST", path, "{"+members+"}", session)
		}
	}
	for _, code := range []string{repeat("f(1234, 'text', a.b);", 4<<20/21-10), repeat("x", 16<<20-400)} {
		s.bounded(t, "POST", "/api/e2b/execute", `{"code":"`+code+`"}`, session)
	}
}

// A caller has no more contexts and sandboxes than sessions.
func TestContextsAreBounded(t *testing.T) {
	t.Parallel()
	s, _ := consoles(t, options{auth: tokens(t)})
	ann := tenantToken(t, "ann", "acme", "execute")
	for range bounds.Of(bounds.Sessions).Most {
		want(t, s.do(t, "POST", "/api/e2b/contexts", `{}`, ann), 200)
	}
	want(t, s.do(t, "POST", "/api/e2b/contexts", `{}`, ann), 507, "storage_quota")
	want(t, s.do(t, "POST", "/api/e2b/v2/sandboxes", `{}`, ann), 507, "storage_quota")
	want(t, s.do(t, "POST", "/api/e2b/contexts", `{}`, tenantToken(t, "bob", "acme", "execute")), 200)
}

// Requests whose numbers, names, headers, schedules or cursors are as odd as they can be cost the gateway's own process
// no more than a request of the API, on every route.
func TestOwnCostsOfOddRequests(t *testing.T) {
	const full = 1<<20 - 400
	repeat := strings.Repeat
	s := costServer(t)
	many := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	cursor := base64.RawURLEncoding.EncodeToString([]byte(`{"d":"2026-01-01","l":1,"h":[` + repeat("1,", 300) + `1]}`))
	for _, c := range []struct {
		method, path, body string
		headers            []string
	}{
		{"POST", "/api/execute", `{"code":"1","input":[` + repeat("1e999999,", full/9) + `0]}`, nil},
		{"POST", "/api/execute", `{"code":"1","input":` + repeat("9", full) + `}`, nil},
		{"POST", "/api/execute", `{"code":"1","timeout":0.` + repeat("9", full) + `}`, nil},
		{"POST", "/api/execute", `{"code":"1","input":{"` + repeat("k", full) + `":1}}`, nil},
		{"POST", "/api/execute", `{"code":"1","input":{` + many(`"\u0061%x":0,`, 50_000) + `"b":0}}`, nil},
		{"POST", "/api/execute", `{"code":"1","input":` + repeat("[", full/2) + repeat("]", full/2) + `}`, nil},
		{"POST", "/api/execute", `{"code":"1","input":"` + repeat("e\u0301", full/3) + `"}`, nil},
		{"POST", "/api/execute", `{"code":"1","limits":{` + many(`"a%x":0,`, 80_000) + `"b":0}}`, nil},
		{"POST", "/api/execute", `{"code":"1","tools":[{"name":"t","url":"http://a.b/","inputSchema":{"allOf":[` +
			repeat(`{"$ref":"#"},`, 40_000) + `{}]}}]}`, nil},
		{"POST", "/api/execute", `{"code":"1"}`, []string{"Prefer: " + repeat("wait=1,", 1000)}},
		{"POST", "/api/analyze", `{"code":"` + repeat("/(a+)+$/;", full/9) + `"}`, nil},
		{"POST", "/api/analyze", `{"code":"x=` + repeat("'a'+", full/4) + `1"}`, nil},
		{"PUT", "/api/functions/c", `{"code":"1","schedule":{"cron":"` + repeat("0-59/1,", full/7) + `0 * * * *"}}`, nil},
		{"PUT", "/api/functions/d", `{"code":"1","schedule":{"cron":"0 0 30 2 *"}}`, nil},
		{"PUT", "/api/functions/e", `{"code":"1","hook":{"scheme":"none","headers":[` + many(`"x-%d",`, 60_000) +
			`"a"]}}`, nil},
		{"POST", "/api/v2/execute", `{"language":"javascript","version":"*","files":[{"content":"1"}],"args":[` +
			repeat(`"a",`, full/4-50) + `"b"]}`, nil},
		{"POST", "/api/v2/execute", `{"language":"javascript","version":"*","files":[` +
			many(`{"name":"f%d.js","content":"1"},`, 25_000) + `{"content":"1"}]}`, nil},
		{"POST", "/api/sessions", `{"policy":"` + repeat("a", full) + `"}`, nil},
		{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
			`"clientInfo":{"name":"a","version":"1"},"capabilities":{"experimental":{` + many(`"%x":{},`, 80_000) + `"z":{}}}}}`,
			mcpHeaders},
		{"POST", "/mcp", "[" + repeat(`{"jsonrpc":"2.0","method":"notifications/initialized"},`, full/60) + "{}]",
			mcpHeaders},
		{"GET", "/api/audit/executions?cursor=" + cursor, "", nil},
		{"GET", "/api/audit/executions?" + many("a%d=%%41&", 600), "", nil},
		{"GET", "/api/policies", "", []string{"Authorization: Bearer " + repeat(".", 6000)}},
		{"GET", "/api/policies", "", []string{"If-None-Match: " + repeat(`"a",`, 1500)}},
		{"GET", "/api/policies", "", []string{"X-Forwarded-For: " + repeat("1.1.1.1,", 800)}},
		{"GET", "/api/policies", "", []string{"Accept: " + repeat("a/b,", 300)}},
	} {
		s.bounded(t, c.method, c.path, c.body, c.headers...)
	}
}
