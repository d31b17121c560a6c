package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/mcp"
	"github.com/airlock-run/airlock/gateway/openapi"
	"github.com/airlock-run/airlock/gateway/registry"
	"github.com/airlock-run/airlock/policy"
)

// gateway responds to every request with what it received.
type gateway struct{}

func (gateway) Execute(
	_ context.Context, caller mcp.Caller, request execution.Request, onLog func(execution.Log),
) (execution.Result, error) {
	if onLog != nil {
		onLog(execution.Log{Message: "a line"})
	}
	given, err := json.Marshal(request)
	return execution.Result{
		ID: "exec_0000000000", Status: execution.Completed, Result: given,
		Environment: execution.Environment{Policy: caller.Identity.Subject},
	}, err
}

func (gateway) Analyze(_ context.Context, _ mcp.Caller, request execution.Request) (json.RawMessage, error) {
	return json.Marshal(map[string]string{"policy": request.Code})
}

func (gateway) Execution(_ context.Context, _ mcp.Caller, id string) (json.RawMessage, error) {
	if id == "absent" {
		return nil, errors.New("an internal secret")
	}
	return json.Marshal(map[string]string{"id": id})
}

func (gateway) ListFunctions(_ context.Context, _ mcp.Caller, cursor string) (json.RawMessage, error) {
	return json.Marshal(map[string]any{"items": []string{}, "next": cursor})
}

func (gateway) InvokeFunction(
	ctx context.Context, caller mcp.Caller, call registry.Call, onLog func(execution.Log),
) (execution.Result, error) {
	result, err := gateway{}.Execute(ctx, caller, call.Request, onLog)
	result.Function = &execution.FunctionRef{Name: call.Name + call.Alias, Version: call.Version}
	return result, err
}

func (gateway) ListPaused(_ context.Context, _ mcp.Caller, cursor string) (json.RawMessage, error) {
	return json.Marshal(map[string]any{"items": []string{}, "next": cursor})
}

func (gateway) Asks(mcp.Caller, string) bool { return false }

func (gateway) CreateSession(_ context.Context, _ mcp.Caller, o api.SessionOptions) (json.RawMessage, error) {
	return json.Marshal(o)
}

func (gateway) ListSessions(_ context.Context, _ mcp.Caller, cursor string) (json.RawMessage, error) {
	return json.Marshal(map[string]any{"items": []string{}, "next": cursor})
}

func (gateway) DeleteSession(context.Context, mcp.Caller, string) error { return nil }

func (gateway) ExecuteIn(
	_ context.Context, _ mcp.Caller, session string, _ execution.Request, _ func(execution.Log),
) (execution.Result, error) {
	return execution.Result{Status: execution.Completed, ID: session}, nil
}

func (gateway) ResumeExecution(
	_ context.Context, _ mcp.Caller, id string, decisions []api.Decision,
) (json.RawMessage, error) {
	return json.Marshal(map[string]any{"id": id, "status": "completed", "result": decisions})
}

func explain(err error) mcp.Problem {
	var public *execution.Error
	if errors.As(err, &public) {
		return mcp.Problem{Code: string(public.Code), Field: public.Field, Error: public.Message}
	}
	return mcp.Problem{Code: "internal", Error: "the request failed inside the platform"}
}

func server(t testing.TB) *mcp.Server { return serverOf(t, gateway{}) }

func serverOf(t testing.TB, executor mcp.Executor) *mcp.Server {
	return serverWith(t, executor, gateway{})
}

func serverWith(t testing.TB, executor mcp.Executor, sessions mcp.Sessions) *mcp.Server {
	t.Helper()
	return serverLogging(t, executor, sessions, slog.New(slog.DiscardHandler))
}

func serverLogging(t testing.TB, executor mcp.Executor, sessions mcp.Sessions, log *slog.Logger) *mcp.Server {
	t.Helper()
	schemas, err := openapi.New("test")
	if err != nil {
		t.Fatal(err)
	}
	s, err := mcp.New(
		mcp.Config{
			Executor: executor, Functions: gateway{}, Approvals: gateway{}, Sessions: sessions,
			Explain: explain, Schemas: schemas, Version: "test", MaxBodyBytes: 1 << 20, Logger: log,
			Tiers: func() ([]policy.Tier, []string) {
				return policy.Default().WithPackages("dayjs", "lodash").Tiers(), nil
			},
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func local(t testing.TB) *sdk.ClientSession {
	t.Helper()
	return localOf(t, server(t))
}

func localOf(t testing.TB, s *mcp.Server) *sdk.ClientSession {
	t.Helper()
	near, far := sdk.NewInMemoryTransports()
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	caller := mcp.Caller{Identity: authn.Identity{Subject: "me", Scopes: []string{authn.Approve}}}
	go func() { ended <- s.Serve(ctx, far, caller) }()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, nil).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return session
}

// rareOptions are the members of a request that the schema of execute_code has under options.
const rareOptions = `"memory":"1mb","context":{"a":1},
	"tools":[{"name":"a:b","description":"d","inputSchema":{},"outputSchema":true,"url":"https://example.com"}],
	"limits":{"cpuMs":1,"outputBytes":1,"logEntries":1,"apiCalls":1},"seed":1,"priority":"low","debug":{"steps":true},
	"files":{"a.js":"1","b.bin":{"base64":"AA=="}},"hosts":["example.com"],"secrets":["A"]`

// Options are in their own object or, as in older clients, beside it, but never in both.
func TestOptions(t *testing.T) {
	t.Parallel()
	session := local(t)
	var given [2]any
	for i, arguments := range []string{
		`{"code":"1","input":1,"options":{` + rareOptions + `}}`, `{"code":"1","input":1,` + rareOptions + `}`,
	} {
		result, err := session.CallTool(
			t.Context(), &sdk.CallToolParams{Name: "execute_code", Arguments: json.RawMessage(arguments)},
		)
		if err != nil || result.IsError {
			t.Fatal(result, err)
		}
		given[i] = result.StructuredContent.(map[string]any)["result"]
	}
	if diff := cmp.Diff(given[0], given[1]); diff != "" {
		t.Error(diff)
	}
	for arguments, field := range map[string]string{
		`{"code":"1","options":{"seed":1},"seed":1}`: "options.seed", `{"code":"1","options":{"code":"2"}}`: "options.code",
		`{"code":"1","options":7}`: "options", `{"code":"1","options":{"seed":1,"seed":2}}`: "options.seed",
		`{"code":"1","options":{"options":{}}}`: "options", `{"code":"1","options":{"nope":1}}`: "nope",
	} {
		result, err := session.CallTool(
			t.Context(), &sdk.CallToolParams{Name: "execute_code", Arguments: json.RawMessage(arguments)},
		)
		if err != nil || !result.IsError {
			t.Errorf("%s: %v %v", arguments, result, err)
			continue
		}
		if got := result.StructuredContent.(map[string]any)["field"]; got != field {
			t.Errorf("%s: the field is %v, want %s", arguments, got, field)
		}
	}
}

// A list of all tools is short: models read it before each task.
func TestListIsShort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		sessions mcp.Sessions
		most     int // tiers and attached servers add their lines
	}{
		{"without sessions", nil, 9 << 10}, {"with sessions", gateway{}, 10_500},
	} {
		list, err := localOf(t, serverWith(t, gateway{}, c.sessions)).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > c.most {
			t.Errorf("%s: %d bytes; want at most %d", c.name, len(text), c.most)
		}
		t.Log(len(text))
	}
}

// The schemas that clients see compile, accept what the gateway accepts, and refuse what it refuses.
func TestSchemas(t *testing.T) {
	t.Parallel()
	good := map[string]string{
		"execute_code": `{"code":"1","language":"typescript","policy":"strict","timeout":10,"input":[1],` +
			`"session":"sess_0000000000","options":{` + rareOptions + `}}`,
		"analyze_code":    `{"code":"1","language":"javascript","policy":"agent"}`,
		"get_execution":   `{"id":"exec_0000000000"}`,
		"list_functions":  `{}`,
		"invoke_function": `{"name":"f","version":1,"input":{"a":null},"context":{"b":2}}`,
		"list_paused":     `{}`,
		"create_session":  `{"policy":"agent","maxAge":1000,"from":"sess_0000000000","step":0}`,
		"list_sessions":   `{}`,
		"delete_session":  `{"id":"sess_0000000000"}`,
		"resume_execution": `{"id":"exec_0000000000","decisions":[{"seq":1,"decision":"edit","args":{"a":1},` +
			`"reason":"r"}]}`,
	}
	bad := map[string]string{
		"execute_code": `{"code":"1","policies":"strict"}`, "analyze_code": `{"code":1}`, "get_execution": `{}`,
		"list_functions": `{"page":1}`, "invoke_function": `{"version":1}`, "list_paused": `{"page":1}`,
		"create_session": `{"step":"x"}`, "list_sessions": `{"page":1}`, "delete_session": `{"id":7}`,
		"resume_execution": `{"id":"exec_0000000000","decisions":[{"number":1}]}`,
	}
	session := local(t)
	seen := 0
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		seen++
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("in.json", tool.InputSchema); err != nil {
			t.Fatal(err)
		}
		schema, err := compiler.Compile("in.json")
		if err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		for _, top := range []string{"anyOf", "oneOf", "allOf", "$ref"} {
			if _, there := tool.InputSchema.(map[string]any)[top]; there {
				t.Errorf("%s has %s at the top, which providers of models refuse", tool.Name, top)
			}
		}
		for arguments, want := range map[string]bool{good[tool.Name]: true, bad[tool.Name]: false} {
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(arguments))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(v); (err == nil) != want {
				t.Errorf("%s: the schema says of %s: %v", tool.Name, arguments, err)
			}
			result, err := session.CallTool(
				t.Context(), &sdk.CallToolParams{Name: tool.Name, Arguments: json.RawMessage(arguments)},
			)
			if err != nil || result.IsError == want {
				t.Errorf("%s: the tool says of %s: %v %v", tool.Name, arguments, result, err)
			}
		}
	}
	if seen != 10 {
		t.Errorf("%d tools", seen)
	}
}

func TestInvokeFunction(t *testing.T) {
	t.Parallel()
	session := local(t)
	result, err := session.CallTool(
		t.Context(),
		&sdk.CallToolParams{Name: "invoke_function", Arguments: map[string]any{"name": "f", "alias": "@live", "input": 7}},
	)
	if err != nil || result.IsError {
		t.Fatal(result, err)
	}
	v := result.StructuredContent.(map[string]any)
	if f := v["function"].(map[string]any); f["name"] != "f@live" || v["result"].(map[string]any)["input"] != 7.0 ||
		v["policy"] != "me" {
		t.Error(v)
	}
	for arguments, field := range map[string]string{
		`{"name":""}`: "name", `{"name":"f","version":-1}`: "version", `{"name":"f","context":{"__proto__":1}}`: "context",
		`{"name":"f","version":"1"}`: "version", `{"name":"f","code":"1"}`: "",
	} {
		result, err := session.CallTool(
			t.Context(), &sdk.CallToolParams{Name: "invoke_function", Arguments: json.RawMessage(arguments)},
		)
		if err != nil || !result.IsError {
			t.Errorf("%s: %v %v", arguments, result, err)
			continue
		}
		v := result.StructuredContent.(map[string]any)
		if got, _ := v["field"].(string); v["code"] != "invalid_request" || !strings.HasPrefix(got, field) {
			t.Errorf("%s: %v", arguments, v)
		}
	}
}

// Internal errors are not shown to callers.
func TestInternalErrors(t *testing.T) {
	t.Parallel()
	result, err := local(t).CallTool(
		t.Context(), &sdk.CallToolParams{Name: "get_execution", Arguments: map[string]any{"id": "absent"}},
	)
	if err != nil || !result.IsError {
		t.Fatal(result, err)
	}
	if b, _ := json.Marshal(result); strings.Contains(string(b), "secret") {
		t.Errorf("%s", b)
	}
}

// The description of execute_code names the packages that each tier may import.
func TestPackagesInDescription(t *testing.T) {
	t.Parallel()
	list, err := local(t).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if tool.Name != "execute_code" {
			continue
		}
		var found []string
		for line := range strings.Lines(tool.Description) {
			if name, limits, ok := strings.Cut(line, ": "); ok && strings.HasPrefix(name, "- ") {
				_, packages, _ := strings.Cut(strings.TrimSpace(limits), "npm packages: ")
				found = append(found, strings.TrimPrefix(name, "- ")+" "+packages)
			}
		}
		want := []string{"strict ", "standard (default) dayjs, lodash", "extended dayjs, lodash", "agent dayjs, lodash"}
		if !slices.Equal(found, want) {
			t.Errorf("%q in\n%s", found, tool.Description)
		}
	}
}

// Without an authenticated caller, nothing is answered, whatever the request claims.
func TestMissingCaller(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(server(t))
	defer s.Close()
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		r, err := http.NewRequestWithContext(
			t.Context(), "POST", s.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`),
		)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{
			"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Authorization": {"Bearer recognised"}, "Mcp-Protocol-Version": {version},
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 500 {
			t.Errorf("%s: %d", version, res.StatusCode)
		}
	}
}

// Every tool answers any arguments with an object.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"code":"1"}`, `{"id":"exec_0000000000"}`, `{"name":"f","context":{"a":[]}}`, `[]`, `null`, `"x"`,
		`{"code":"1","code":"2"}`, `{"cursor":7}`,
		`{"code":"1","session":"sess_0000000000"}`, `{"code":"1","session":7}`,
	} {
		f.Add(seed)
	}
	session := local(f)
	tools := []string{"execute_code", "analyze_code", "get_execution", "list_functions", "invoke_function", "list_paused",
		"resume_execution", "create_session", "list_sessions", "delete_session"}
	f.Fuzz(func(t *testing.T, arguments string) {
		if !json.Valid([]byte(arguments)) {
			return // the protocol's own decoder refuses it
		}
		for _, tool := range tools {
			result, err := session.CallTool(
				context.Background(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)},
			)
			if err != nil {
				t.Fatalf("%s %s: %v", tool, arguments, err)
			}
			if _, ok := result.StructuredContent.(map[string]any); !ok || len(result.Content) != 1 {
				t.Fatalf("%s %s: %v", tool, arguments, result)
			}
		}
	})
}
