package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/policy/audit"
)

// credentialed adds a header to every request.
type credentialed struct {
	next       http.RoundTripper
	credential string
}

func (c credentialed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if c.credential != "" {
		r.Header.Set("Authorization", "Bearer "+c.credential)
	}
	return c.next.RoundTrip(r)
}

// agent connects the SDK's own client. protocol is the version that it asks for; empty means its newest.
func (s *served) agent(
	t testing.TB, protocol, credential string, progress func(*sdk.ProgressNotificationClientRequest),
) *sdk.ClientSession {
	t.Helper()
	return s.agentWith(t, protocol, credential, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			if progress != nil {
				progress(r)
			}
		},
	})
}

// agentWith is agent with other options.
func (s *served) agentWith(t testing.TB, protocol, credential string, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o)
	transport := &sdk.StreamableClientTransport{
		Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: credentialed{s.client.Transport, credential}},
		MaxRetries: -1,
	}
	session, err := client.Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// use calls a tool and reads its structured content. Its one block of text repeats what a model needs of it.
func use(t testing.TB, session *sdk.ClientSession, name string, arguments any) (map[string]any, bool) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return content(t, result), result.IsError
}

func content(t testing.TB, result *sdk.CallToolResult) map[string]any {
	t.Helper()
	if len(result.Content) != 1 {
		t.Fatalf("%d blocks", len(result.Content))
	}
	text, ok := result.Content[0].(*sdk.TextContent)
	if !ok {
		t.Fatalf("a block of %T", result.Content[0])
	}
	var said map[string]any
	if err := json.Unmarshal([]byte(text.Text), &said); err != nil {
		t.Fatal(err)
	}
	structured, ok := result.StructuredContent.(map[string]any)
	if !ok {
		t.Fatalf("structured content is %T", result.StructuredContent)
	}
	cut, _ := said["truncated"].([]any)
	for name, value := range said {
		if slices.ContainsFunc(cut, func(c any) bool { return strings.HasPrefix(c.(string), name+": ") }) {
			if text := value.(string); len(text) < 1<<14-4 {
				t.Errorf("the text has %d bytes of the %s", len(text), name)
			}
			continue
		}
		if slices.Contains([]string{"at", "wrote", "truncated", "howToContinue"}, name) {
			continue
		}
		if diff := cmp.Diff(structured[name], value); diff != "" {
			t.Errorf("%s of the text differs from that of the content: %s", name, diff)
		}
	}
	for _, name := range []string{"result", "error", "output", "limit", "code", "field", "retryAfter", "items"} {
		v := structured[name]
		if empty := v == nil || v == ""; !empty && said[name] == nil {
			t.Errorf("the text does not say the %s: %s", name, text.Text)
		}
	}
	return structured
}

// The protocol's versions: the newest has no sessions, the older ones have them.
var protocols = []string{"", "2025-11-25", "2025-06-18"}

func TestAgents(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	for _, protocol := range protocols {
		session := s.agent(t, protocol, "", nil)
		tools, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range tools.Tools {
			names = append(names, tool.Name)
			if tool.Name == "execute_code" && !strings.Contains(tool.Description, "declare const input") {
				t.Errorf("execute_code does not say what code can call: %s", tool.Description)
			}
		}
		if got := strings.Join(names, " "); got != "analyze_code execute_code get_execution" {
			t.Errorf("%s: tools %s", protocol, got)
		}
		v, failed := use(t, session, "execute_code", map[string]any{"code": "input", "input": map[string]any{"n": 1}})
		if failed || v["status"] != "completed" || v["result"].(map[string]any)["n"] != 1.0 {
			t.Errorf("%s: %v", protocol, v)
		}
		v, failed = use(t, session, "analyze_code", map[string]any{"code": "eval('1')"})
		if failed || v["dangerAnalysis"] == nil || v["decision"] == nil {
			t.Errorf("%s: %v", protocol, v)
		}
		_, err = session.CallTool(
			t.Context(), &sdk.CallToolParams{Name: "invoke_function", Arguments: map[string]any{"name": "f"}},
		)
		if err == nil {
			t.Error("invoke_function is there without a store of functions")
		}
	}
	if r := s.do(t, "GET", "/api/audit/stats", ""); r.StatusCode != 200 {
		t.Error(r.Status)
	}
}

// A failure that an agent can correct is a result with isError.
func TestAgentFailures(t *testing.T) {
	t.Parallel()
	line := "boom"
	limit := "memory"
	s := serve(t, options{invoke: func(
		_ context.Context, inv execution.Invocation, _ func(execution.Log),
	) (execution.Reply, error) {
		if inv.Via != execution.ViaMCP {
			t.Errorf("via %s", inv.Via)
		}
		if inv.Request.Code == "lost" {
			return execution.Reply{}, &execution.Error{Code: execution.Unavailable, Message: "no function took it"}
		}
		return execution.Reply{
			Recorded: true, Result: execution.Result{ID: inv.ID, Status: execution.Failed,
				Failure: execution.Failure{Error: &line, Limit: &limit}},
		}, nil
	}})
	session := s.agent(t, "", "", nil)
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      map[string]any
	}{
		{
			"execute_code", map[string]any{"code": "throw 1"},
			map[string]any{"status": "error", "error": "boom", "limit": "memory"},
		},
		{
			"execute_code", map[string]any{"code": "process.binding('fs')", "policy": "strict"},
			map[string]any{"status": "blocked"},
		},
		{"execute_code", map[string]any{"code": "lost"}, map[string]any{"code": "unavailable", "retryAfter": 1.0}},
		{"execute_code", map[string]any{}, map[string]any{"code": "invalid_request", "field": "code"}},
		{"execute_code", map[string]any{"code": "1", "nope": 1}, map[string]any{"code": "invalid_request", "field": "nope"}},
		{
			"execute_code", map[string]any{"code": "1", "policy": "none-such"},
			map[string]any{"code": "invalid_request", "field": "policy"},
		},
		{"analyze_code", map[string]any{"code": 1}, map[string]any{"code": "invalid_request", "field": "code"}},
		{"get_execution", map[string]any{"id": "../../etc"}, map[string]any{"code": "invalid_request", "field": "id"}},
		{"get_execution", map[string]any{"id": 7}, map[string]any{"code": "invalid_request", "field": "id"}},
		{"get_execution", map[string]any{"id": "exec_00000000000"}, map[string]any{"code": "not_found"}},
	} {
		v, failed := use(t, session, c.tool, c.arguments)
		if !failed {
			t.Errorf("%s %v is no failure", c.tool, c.arguments)
		}
		for name, want := range c.want {
			if v[name] != want {
				t.Errorf("%s %v: %s is %v, want %v", c.tool, c.arguments, name, v[name], want)
			}
		}
	}
	if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "no_such_tool"}); err == nil {
		t.Error("an unknown tool is no protocol error")
	}
}

func TestAgentProgress(t *testing.T) {
	t.Parallel()
	for _, protocol := range protocols {
		second := make(chan struct{})
		s := serve(t, options{invoke: func(
			ctx context.Context, inv execution.Invocation, onLog func(execution.Log),
		) (execution.Reply, error) {
			onLog(execution.Log{Level: "log", Message: "one"})
			select {
			case <-second: // the caller sees the first line while the guest runs
			case <-ctx.Done():
			}
			onLog(execution.Log{Level: "log", Message: "two"})
			return echo(ctx, inv, nil)
		}})
		seen := make(chan string, 2)
		session := s.agent(t, protocol, "", func(r *sdk.ProgressNotificationClientRequest) {
			if seen <- r.Params.Message; r.Params.Progress == 1 {
				close(second)
			}
		})
		params := &sdk.CallToolParams{Name: "execute_code", Arguments: map[string]any{"code": "1"}}
		params.SetProgressToken("p1")
		result, err := session.CallTool(t.Context(), params)
		if err != nil || result.IsError {
			t.Fatal(protocol, err)
		}
		if a, b := <-seen, <-seen; a != "one" || b != "two" {
			t.Errorf("%s: %s, then %s", protocol, a, b)
		}
	}
}

// Cancelling stops the guest, and so does hanging up. The record says so.
func TestAgentCancels(t *testing.T) {
	t.Parallel()
	for _, protocol := range protocols {
		for _, hangUp := range []bool{false, true} {
			running := make(chan struct{})
			records := &ledger{added: make(chan audit.Record, 1)}
			s := serve(t, options{records: records, invoke: func(
				ctx context.Context, _ execution.Invocation, _ func(execution.Log),
			) (execution.Reply, error) {
				close(running)
				<-ctx.Done()
				return execution.Reply{}, ctx.Err()
			}})
			session := s.agent(t, protocol, "", nil)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := session.CallTool(
					ctx, &sdk.CallToolParams{Name: "execute_code", Arguments: map[string]any{"code": "for(;;);"}},
				)
				ended <- err
			}()
			<-running
			if hangUp {
				s.client.CloseIdleConnections()
				go func() { _ = session.Close() }()
			}
			cancel()
			if err := <-ended; err == nil {
				t.Error("a cancelled call has a result")
			}
			if r := <-records.added; r.Status != "cancelled" || r.Via != "mcp" {
				t.Errorf("recorded as %s via %s", r.Status, r.Via)
			}
		}
	}
}

func TestAgentReadsExecution(t *testing.T) {
	t.Parallel()
	s := serve(t, options{auth: authn.Config{APIKey: apiKey, Keys: hs256(t)}})
	mine := s.agent(t, "", token(t, "alice", "acme", "execute audit:read"), nil)
	v, failed := use(t, mine, "execute_code", map[string]any{"code": "process.binding('fs')", "policy": "strict"})
	if !failed {
		t.Fatal(v)
	}
	id := v["id"]
	for _, c := range []struct {
		credential     string
		found, records bool
	}{
		{token(t, "alice", "acme", "execute audit:read"), true, true},
		{token(t, "alice", "acme", "execute"), true, false},
		{token(t, "bob", "acme", "execute"), false, false},
		{token(t, "bob", "acme", "audit:read"), true, true},
		{token(t, "eve", "other", "execute audit:read"), false, false},
		{apiKey, true, true},
	} {
		got, failed := use(t, s.agent(t, "", c.credential, nil), "get_execution", map[string]any{"id": id})
		if c.found == failed {
			t.Errorf("%+v: failed %t: %v", c, failed, got)
		}
		if c.found && (got["id"] != id || got["status"] != "blocked") {
			t.Errorf("%+v: execution %v is %v, want %s to be blocked", c, got["id"], got["status"], id)
		}
		if has := got["record"] != nil; c.found && has != c.records {
			t.Errorf("%+v: has a record: %t", c, has)
		}
	}
	if got, failed := use(
		t, s.agent(t, "", token(t, "bob", "acme", "audit:read"), nil), "execute_code", map[string]any{"code": "1"},
	); !failed || got["code"] != "insufficient_scope" {
		t.Errorf("without the scope: %v", got)
	}
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// The endpoint has the same access rules as every other.
func TestAgentAccess(t *testing.T) {
	t.Parallel()
	const accept = "Accept: application/json, text/event-stream"
	s := serve(
		t,
		options{
			auth:   authn.Config{APIKey: apiKey, Keys: hs256(t)},
			config: gateway.Config{CORSOrigins: []string{"https://app.example.com"}},
		},
	)
	for _, c := range []struct {
		method, body string
		headers      []string
		status       int
	}{
		{"POST", hello, []string{accept}, 401},
		{"GET", "", []string{accept}, 401},
		{"DELETE", "", nil, 401},
		{"POST", hello, []string{accept, bearer(token(t, "a", "t", "priority"))}, 403},
		{"POST", hello, []string{accept, bearer(apiKey), "Origin: https://evil.example"}, 403},
		{"POST", hello, []string{accept, bearer(apiKey), "Content-Type: ", "Content-Type: text/plain"}, 415},
		{"POST", hello, []string{accept, bearer(apiKey), "Content-Encoding: gzip"}, 415},
		{"POST", hello, []string{bearer(apiKey), "Accept: text/html"}, 400},
		{"POST", "{", []string{accept, bearer(apiKey)}, 400},
		{"POST", " [" + hello + "]", []string{accept, bearer(apiKey)}, 400},
		{"POST", hello, []string{accept, bearer(apiKey), "Mcp-Session-Id: nobody"}, 404},
		{"GET", "", []string{accept, bearer(apiKey)}, 400},
		{"DELETE", "", []string{bearer(apiKey), "Mcp-Session-Id: nobody"}, 404},
		{"PUT", hello, []string{accept, bearer(apiKey)}, 405},
		{"POST", `"` + strings.Repeat("x", 1<<20) + `"`, []string{accept, bearer(apiKey)}, 413},
	} {
		s.do(t, c.method, "/mcp", c.body, c.headers...).problem(t, c.status)
	}
	a := s.do(
		t, "POST", "/mcp", hello, accept, bearer(token(t, "alice", "acme", "execute")), "Origin: https://app.example.com",
	)
	id := a.Header.Get("Mcp-Session-Id")
	a.headers(t, "Cache-Control", "no-store")
	if a.Header.Get("RateLimit-Limit") == "" {
		t.Error("there is no RateLimit-Limit")
	}
	if a.StatusCode != 200 || id == "" || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("%d %v\n%s", a.StatusCode, a.Header, a.body)
	}
	// A session belongs to its caller.
	list := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	for name, eve := range map[string]string{
		"another subject":                    token(t, "eve", "acme", "execute"),
		"the same subject of another tenant": token(t, "alice", "globex", "execute"), "the operator": apiKey,
	} {
		for _, request := range [][2]string{{"POST", list}, {"GET", ""}, {"DELETE", ""}} {
			theirs := s.do(t, request[0], "/mcp", request[1], accept, bearer(eve), "Mcp-Session-Id: "+id)
			detail, code := theirs.problem(t, 404)
			nobodys := s.do(t, request[0], "/mcp", request[1], accept, bearer(eve), "Mcp-Session-Id: nobody")
			if wantDetail, wantCode := nobodys.problem(t, 404); detail != wantDetail || code != wantCode {
				t.Errorf(
					"%s, %s: %q %q; an unknown session is answered %q %q", name, request[0], code, detail, wantCode, wantDetail,
				)
			}
		}
	}
	if a := s.do(
		t, "POST", "/mcp", list, accept, bearer(token(t, "alice", "acme", "execute")), "Mcp-Session-Id: "+id,
	); a.StatusCode != 200 {
		t.Error("its own caller:", a.StatusCode)
	}
	if a := s.do(
		t, "DELETE", "/mcp", "", bearer(token(t, "alice", "acme", "execute")), "Mcp-Session-Id: "+id,
	); a.StatusCode != 204 {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}

	open := serve(t, options{max: 2})
	open.do(t, "POST", "/mcp", hello, accept, "Host: evil.example").problem(t, 403)
	open.do(t, "POST", "/mcp", hello, accept, "Origin: https://evil.example").problem(t, 403)
	for range 2 {
		if a := open.do(t, "POST", "/mcp", hello, accept); a.StatusCode != 200 {
			t.Fatalf("%d %s", a.StatusCode, a.body)
		}
	}
	open.do(t, "POST", "/mcp", hello, accept).problem(t, 429)
	refused := want(t, open.do(t, "POST", "/mcp", messageFor("execute_code", `{"code":"1"}`), mcpHeaders...), 200).json(t)
	result, _ := refused["result"].(map[string]any)
	problem, _ := result["structuredContent"].(map[string]any)
	after, _ := problem["retryAfterMs"].(float64)
	members(t, refused, map[string]any{"id": 1.0})
	members(t, result, map[string]any{"isError": true})
	if problem["code"] != "rate_limited" || after < 1 || after > 61_000 {
		t.Errorf("a refused call: %v", refused)
	}
}

// A client that disappears stops its guest, also in the versions with sessions.
func TestAgentHangsUp(t *testing.T) {
	t.Parallel()
	running := make(chan struct{})
	records := &ledger{added: make(chan audit.Record, 1)}
	s := serve(t, options{records: records, invoke: func(
		ctx context.Context, _ execution.Invocation, _ func(execution.Log),
	) (execution.Reply, error) {
		close(running)
		<-ctx.Done()
		return execution.Reply{}, ctx.Err()
	}})
	const accept = "Accept: application/json, text/event-stream"
	session := "Mcp-Session-Id: " + s.do(t, "POST", "/mcp", hello, accept).Header.Get("Mcp-Session-Id")
	s.do(t, "POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, accept, session)
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	body := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"execute_code",` +
		`"arguments":{"code":"for(;;);"}}}`
	if _, err := fmt.Fprintf(
		conn,
		"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s\r\n%s\r\nContent-Length: %d\r\n\r\n%s",
		accept, session, len(body), body,
	); err != nil {
		t.Fatal(err)
	}
	<-running
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if r := <-records.added; r.Status != "cancelled" {
		t.Errorf("recorded as %s", r.Status)
	}
	if a := s.do(
		t, "POST", "/mcp", `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`, accept, session,
	); a.StatusCode != 200 {
		t.Errorf("the session did not outlive the call: %d %s", a.StatusCode, a.body)
	}
}

// Streams on which clients only wait do not delay a shutdown, and comments keep them alive.
func TestAgentsWaitForPlaces(t *testing.T) {
	t.Parallel()
	s := serve(t, options{config: gateway.Config{Streams: gateway.StreamsConfig{Heartbeat: 5 * time.Millisecond}}})
	const accept = "Accept: application/json, text/event-stream"
	session := s.do(t, "POST", "/mcp", hello, accept).Header.Get("Mcp-Session-Id")
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.url+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Mcp-Session-Id", session)
	res, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for alive := false; !alive; alive = lines.Text() == ": heartbeat" {
		if !lines.Scan() {
			t.Fatal(res.Status, lines.Err())
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	for lines.Scan() { // to its end
	}
	if ctx.Err() != nil {
		t.Error("the shutdown had to wait")
	}
}
