package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveLedger serves an MCP server over stdio. The test binary calls it if its argument says so.
func serveLedger() int {
	s := sdk.NewServer(&sdk.Implementation{Name: "ledger", Version: "1"}, nil)
	type entry struct {
		Amount int `json:"amount"`
	}
	type balance struct {
		Total   int    `json:"total"`
		Process int    `json:"process"`
		Token   string `json:"token"`
	}
	total := 0
	sdk.AddTool(s, &sdk.Tool{Name: "add", Description: "Add an amount to the ledger."},
		func(_ context.Context, _ *sdk.CallToolRequest, in entry) (*sdk.CallToolResult, balance, error) {
			total += in.Amount
			return nil, balance{total, os.Getpid(), os.Getenv("LEDGER")}, nil
		})
	if err := s.Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// ledgerServer returns the setting that attaches the ledger.
func ledgerServer() []string {
	return []string{
		fmt.Sprintf(`MCP_SERVERS=[{"namespace":"ledger","command":%q,"args":["ledger"],"secret":"LEDGER"}]`, os.Args[0]),
		"AIRLOCK_SECRET_LEDGER=of-the-ledger", "RATE_LIMIT_MAX_REQUESTS=10000", "PATH=" + os.Getenv("PATH"),
	}
}

// Code calls the tools of a server that is a command, over every interface; its process ends with the gateway.
func TestServerThatIsACommand(t *testing.T) {
	t.Parallel()
	environment := ledgerServer()
	p := start(t, environment...)
	run := func(path, code string) map[string]any {
		t.Helper()
		status, v := p.post(t.Context(), t, path, `{"code":`+quoted(code)+`}`)
		if status != 200 {
			t.Error(status, v)
		}
		return v
	}
	var process float64
	for n, path := range []string{"/api/execute", "/api/v2/execute"} {
		if path == "/api/v2/execute" {
			const program = `ledger.add({amount: 2}).then(b => console.log(b.total, b.token))`
			status, v := p.post(t.Context(), t, path,
				`{"language":"js","version":"*","files":[{"content":`+quoted(program)+`}]}`)
			if out := fmt.Sprint(v["run"]); status != 200 || !strings.Contains(out, "stdout:4 [secret]") {
				t.Error(status, out)
			}
			continue
		}
		v := run(path, `return await ledger.add({amount: 2})`)
		got, ok := v["result"].(map[string]any)
		if !ok || got["total"] != float64(2*(n+1)) || got["token"] != "[secret]" {
			t.Fatal(v)
		}
		if calls := v["apiCallCount"]; calls != 1.0 {
			t.Fatalf("%v calls are counted", calls)
		}
		process = got["process"].(float64)
	}
	v := run("/api/execute", `try { await ledger.add({amount: "x"}) } catch (e) { return e.message }`)
	if got := fmt.Sprint(v["result"]); !strings.HasPrefix(got, "tool ledger:add: ") {
		t.Error(got)
	}
	if v := run("/api/execute", `(await tools.search("ledger"))[0].call`); v["result"] != "ledger.add" {
		t.Error(v)
	}
	const both = `(await ledger.add({amount: 0})).total + (await tools.search("amount")).length`
	if v := run("/api/execute", both); v["result"] != 5.0 {
		t.Error(v)
	}
	// The ways to the tools are there again when an execution continues.
	status, v := p.post(t.Context(), t, "/api/execute", `{"policy":"agent","code":`+quoted(
		`const n = (await tools.search("ledger")).length; await airlock.waitForEvent("go"); `+
			`return n + (await tools.search("ledger")).length + (await ledger.add({amount: 0})).total`)+`}`)
	if status != 202 {
		t.Fatal(status, v)
	}
	path := "/api/executions/" + v["id"].(string)
	if status, v := p.post(t.Context(), t, path+"/events/go", `{}`); status != 202 && status != 200 {
		t.Fatal(status, v)
	}
	until(t, "the execution to continue", func() bool {
		v = nil
		if err := json.Unmarshal([]byte(get(t, p.url+path)), &v); err != nil {
			t.Fatal(err)
		}
		return v["status"] != "paused" && v["status"] != "queued" && v["status"] != "running"
	})
	if v["result"] != 6.0 {
		t.Error(v)
	}
	if parts := readiness(t, p); parts != `"mcp":"ok"` {
		t.Error(parts)
	}
	session := agent(t, nil, environment)
	result, failed := call(t, session, "execute_code", map[string]any{"code": "(await ledger.add({amount: 1})).total"})
	if failed || result["result"] != 1.0 {
		t.Error("the gateway of an agent over stdio has no server of its own", result)
	}
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
	until(t, "the process of the server to end", func() bool { return syscall.Kill(int(process), 0) != nil })
}

// readiness returns what GET /readyz says of the attached servers.
func readiness(t *testing.T, p *program) string {
	t.Helper()
	res, err := http.Get(p.url + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		t.Fatal(res.StatusCode, err)
	}
	_, rest, _ := strings.Cut(string(body), `"mcp":`)
	state, _, _ := strings.Cut(rest, ",")
	return `"mcp":` + strings.TrimSuffix(strings.TrimSpace(state), "}")
}

// If the command of a server ends, code, GET /readyz and doctor say so. Functions on Lambda cannot have such a server.
func TestCommandThatEnds(t *testing.T) {
	t.Parallel()
	environment := []string{`MCP_SERVERS=[{"namespace":"crm","command":"false"}]`, "RATE_LIMIT_MAX_REQUESTS=1000",
		"PATH=" + os.Getenv("PATH")}
	const why = "the server of crm cannot be reached: its command ended (exit status 1)"
	p := start(t, environment...)
	if _, v := p.post(t.Context(), t, "/api/execute",
		`{"code":"await crm.find({name: 'Ada'})"}`); v["error"] != "Error: tool crm:find: "+why {
		t.Error(v["error"])
	}
	if parts := readiness(t, p); parts != `"mcp":"degraded"` {
		t.Error(parts)
	}
	code, out, _ := command(t, env(append(environment, "PORT=0")...), "doctor")
	if code != exitPlatform || !strings.Contains(out, "MCP_SERVERS: crm: "+why) {
		t.Error(code, out)
	}
	code, _, errs := command(t, env(append(environment, "PORT=0", "INVOKER=lambda")...), "serve")
	if code != exitUsage || !strings.Contains(errs, "cannot call a server with a command") {
		t.Error(code, errs)
	}
}
