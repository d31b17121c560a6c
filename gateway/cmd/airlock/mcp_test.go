package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	client "github.com/airlock-run/airlock/gateway/client/go"
)

// agent connects the SDK's own client to airlock mcp as a process.
func agent(t testing.TB, progress chan<- string, environment []string, args ...string) *sdk.ClientSession {
	t.Helper()
	dir := t.TempDir()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = dir
	}
	cmd := exec.Command(os.Args[0], append([]string{"mcp"}, args...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append([]string{"AIRLOCK_TEST_AS_PROGRAM=1", "FUNCTION_PROCESSES=1",
		"AIRLOCK_CACHE_DIR=" + filepath.Join(cache, "airlock")}, environment...)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			if progress != nil {
				progress <- r.Params.Message
			}
		},
	})
	session, err := client.Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func call(t *testing.T, session *sdk.ClientSession, tool string, arguments map[string]any) (map[string]any, bool) {
	t.Helper()
	params := &sdk.CallToolParams{Name: tool, Arguments: arguments}
	params.SetProgressToken("of-the-test")
	result, err := session.CallTool(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	v, ok := result.StructuredContent.(map[string]any)
	if !ok {
		t.Fatalf("%v", result)
	}
	return v, result.IsError
}

// The same tools run real guests over stdio and through a gateway.
func TestMCP(t *testing.T) {
	t.Parallel()
	p := start(t, "API_KEY=sk-of-the-tests-here", "RATE_LIMIT_MAX_REQUESTS=1000")
	for name, connect := range map[string]func(*testing.T, chan<- string) *sdk.ClientSession{
		"local": func(t *testing.T, progress chan<- string) *sdk.ClientSession {
			return agent(t, progress, []string{"HOST=0.0.0.0"})
		},
		"server": func(t *testing.T, progress chan<- string) *sdk.ClientSession {
			return agent(t, progress, []string{"AIRLOCK_TOKEN=sk-of-the-tests-here"}, "--server", p.url)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			progress := make(chan string, 10)
			session := connect(t, progress)
			v, failed := call(t, session, "execute_code",
				map[string]any{"code": "console.log('seen'); return input.n * 2", "input": map[string]any{"n": 21}})
			if failed || v["result"] != 42.0 || v["status"] != "completed" {
				t.Fatal(v)
			}
			if got := <-progress; got != "seen" {
				t.Error(got)
			}
			record, failed := call(t, session, "get_execution", map[string]any{"id": v["id"]})
			if via := record["record"].(map[string]any)["via"]; failed || record["result"] != 42.0 || via != "mcp" {
				t.Error(record)
			}
			v, failed = call(t, session, "execute_code", map[string]any{"code": "null.x"})
			if !failed || v["status"] != "error" || v["exception"].(map[string]any)["name"] != "TypeError" {
				t.Error(v)
			}
			v, failed = call(t, session, "execute_code", map[string]any{"code": "for(;;);", "timeout": 100})
			if !failed || v["status"] != "timeout" {
				t.Error(v)
			}
			v, failed = call(t, session, "analyze_code", map[string]any{"code": "const = 1"})
			if failed || v["syntaxError"] == nil {
				t.Error(v)
			}
			stops(t, session)
		})
	}
}

// A cancelled call stops its guest: with one function process the next call has to wait for it.
func stops(t *testing.T, session *sdk.ClientSession) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "execute_code",
			Arguments: map[string]any{"code": "for(;;);", "policy": "agent"}})
		ended <- err
	}()
	cancel()
	if err := <-ended; err == nil {
		t.Error("a cancelled call has a result")
	}
	if v, failed := call(t, session, "execute_code", map[string]any{"code": "'next'"}); failed || v["result"] != "next" ||
		v["usage"].(map[string]any)["queueMs"].(float64) > 10_000 {
		t.Error(v)
	}
}

// The description of execute_code lists exactly the tools that code can call.
func TestMCPDeclaresTheGuest(t *testing.T) {
	t.Parallel()
	session := agent(t, nil, nil)
	var declared string
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if tool.Name == "execute_code" {
			declared = tool.Description
		}
	}
	var names []string
	for line := range strings.Lines(declared) {
		rest, ok := strings.CutPrefix(line, "declare ")
		if !ok {
			continue
		}
		_, name, _ := strings.Cut(rest, " ")
		// code declares output itself; secrets exists if the request names some.
		if name = strings.TrimRight(name[:strings.IndexAny(name, ":(<= {[")], " "); name != "" && name != "output" &&
			name != "secrets" {
			names = append(names, name)
		}
	}
	if len(names) < 5 {
		t.Fatal(names)
	}
	list, err := json.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	v, failed := call(t, session, "execute_code",
		map[string]any{"code": "input.filter(name => !(name in globalThis))", "input": json.RawMessage(list),
			"policy": "agent"})
	if missing, ok := v["result"].([]any); failed || !ok || len(missing) > 0 {
		t.Errorf("declared, and not there: %v", v["result"])
	}
}

func TestMCPRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		env  []string
		code int
		says string
	}{
		{[]string{"--server", "nonsense"}, nil, exitUsage, "--server"},
		{[]string{"--server", "http://gateway.example.com", "--token", "t"}, nil, exitUsage, "https"},
		{[]string{"--token", "t"}, nil, exitUsage, "--token"},
		{[]string{"--server", "http://127.0.0.1:1"}, nil, exitPlatform, "connect"},
		{nil, []string{"AUDIT_STORE=file:///proc/nothing"}, exitPlatform, "AUDIT_STORE"},
		{[]string{"extra"}, nil, exitUsage, "extra"},
	} {
		code, out, errs := command(t, env(c.env...), append([]string{"mcp"}, c.args...)...)
		if code != c.code || !strings.Contains(errs, c.says) || out != "" {
			t.Errorf("%v: %d %q %q", c.args, code, out, errs)
		}
	}
}

// A function that was saved over HTTP is invoked by an agent, through the proxy and beside the gateway.
func TestMCPInvokesSavedFunctions(t *testing.T) {
	t.Parallel()
	p := start(t, "RATE_LIMIT_MAX_REQUESTS=1000")
	c, err := client.New(client.Config{URL: p.url})
	if err != nil {
		t.Fatal(err)
	}
	saved, err := c.SaveFunction(t.Context(), "double", client.Definition{Code: "export default input => input.n * 2"})
	if err != nil || saved.Version != 1 {
		t.Fatal(saved, err)
	}
	if direct, err := c.Invoke(t.Context(), "double", client.Call{Input: json.RawMessage(`{"n":4}`)}); err != nil ||
		direct.Value.String() != "8" {
		t.Error(direct, err)
	}
	for _, session := range []*sdk.ClientSession{
		agent(t, nil, nil, "--server", p.url), agent(t, nil, []string{"AIRLOCK_STATE=" + filepath.Join(p.dir, "state")}),
	} {
		v, failed := call(t, session, "list_functions", map[string]any{})
		if items, _ := v["items"].([]any); failed || len(items) != 1 {
			t.Errorf("list_functions: %v", v)
		} else if name := items[0].(map[string]any)["name"]; name != "double" {
			t.Errorf("list_functions has %v, want double", name)
		}
		v, failed = call(t, session, "invoke_function", map[string]any{"name": "double", "input": map[string]any{"n": 21}})
		if failed || v["result"] != 42.0 {
			t.Errorf("invoke_function: %v", v)
		}
		if f, _ := v["function"].(map[string]any); f["name"] != "double" || f["version"] != 1.0 {
			t.Errorf("invoke_function: the function is %v, want version 1 of double", f)
		}
		if v, failed = call(t, session, "invoke_function", map[string]any{"name": "absent"}); !failed ||
			v["code"] != "not_found" {
			t.Error(v)
		}
	}
	if err := c.DeleteFunction(t.Context(), "double"); err != nil {
		t.Error(err)
	}
}

// Messages can be piped in: requests that arrive before the input ends are answered.
func TestMCPAnswersWhatWasPiped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = dir
	}
	cmd := exec.Command(os.Args[0], "mcp")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = []string{"AIRLOCK_TEST_AS_PROGRAM=1", "FUNCTION_PROCESSES=1",
		"AIRLOCK_CACHE_DIR=" + filepath.Join(cache, "airlock")}
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{` +
		`"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"6 * 7"}}}
`)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(string(out)), "\n"); len(lines) != 2 ||
		!strings.Contains(lines[0], `"id":1`) || !strings.Contains(lines[1], `"result":42`) {
		t.Errorf("%s", out)
	}
}
