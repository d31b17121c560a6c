package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/policy/audit"
)

// The protocols of the shop.
const (
	shopNow    = "2026-07-28"
	shopBefore = "2025-11-25"
)

// shop is a server whose tools ask for input: order by two questions, and gift by one that it can do without. Before
// 2026-07-28 it asks while the call goes on; from then on, order asks with two forms at once.
func shop(protocol string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "shop", Version: "1"}, nil)
	form := func(field string) *sdk.ElicitParams {
		return &sdk.ElicitParams{Mode: "form", Message: "Which " + field + "?", RequestedSchema: map[string]any{
			"type": "object", "properties": map[string]any{field: map[string]any{"type": "string"}}, "required": []any{field},
		}}
	}
	text := func(format string, args ...any) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf(format, args...)}}}
	}
	orders := 0
	order := func(color, size *sdk.ElicitResult) *sdk.CallToolResult {
		if color.Action != "accept" || size.Action != "accept" {
			return text("not ordered: %s, %s", color.Action, size.Action)
		}
		orders++
		return text("order %d: %v, %v", orders, color.Content["color"], size.Content["size"])
	}
	object := json.RawMessage(`{"type":"object"}`)
	if protocol == shopNow {
		s.AddTool(&sdk.Tool{Name: "order", InputSchema: object},
			func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				color, ok := r.Params.InputResponses["color"].(*sdk.ElicitResult)
				size, both := r.Params.InputResponses["size"].(*sdk.ElicitResult)
				if ok && both {
					return order(color, size), nil
				}
				return &sdk.CallToolResult{
					InputRequests: sdk.InputRequestMap{"size": form("size"), "color": form("color")}, RequestState: "s",
				}, nil
			})
		return s
	}
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if method == "server/discover" {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "not found"}
			}
			return next(ctx, method, r)
		}
	})
	s.AddTool(&sdk.Tool{Name: "order", InputSchema: object},
		func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			color, err := r.Session.Elicit(ctx, form("color"))
			if err != nil {
				return nil, err
			}
			size := color
			if color.Action == "accept" {
				size, err = r.Session.Elicit(ctx, form("size"))
			}
			if err != nil {
				failed := text("%v", err)
				failed.IsError = true
				return failed, nil
			}
			return order(color, size), nil
		})
	s.AddTool(&sdk.Tool{Name: "gift", InputSchema: object},
		func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			paper, err := r.Session.Elicit(ctx, form("paper"))
			if err != nil {
				return text("wrapped in brown"), nil
			}
			return text("wrapped in %v", paper.Content["paper"]), nil
		})
	return s
}

// serveShop serves the shop over stdio. The test binary calls it if its arguments say so.
func serveShop(protocol string) int {
	if err := shop(protocol).Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// A server asks for input while its tool is called. A person answers with any of the three means, and the gateway is
// killed in between.
func TestServersAskDuringCalls(t *testing.T) {
	t.Parallel()
	node, noNode := exec.LookPath("node")
	modules, err := filepath.Abs(filepath.Join(repository, "gateway/client/typescript/node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, "@modelcontextprotocol/sdk")); err != nil {
		noNode = err
	}
	program, err := filepath.Abs(filepath.Join(repository, "gateway/client/published/mcp-shop.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	ours := func(protocol string) string {
		return fmt.Sprintf(`{"namespace":"shop","command":%q,"args":["shop",%q]}`, os.Args[0], protocol)
	}
	for _, c := range []struct {
		name   string
		server func(t *testing.T) string
		npm    bool
		forms  bool // both questions at once
	}{
		{"go-sdk, command, " + shopNow, func(*testing.T) string { return ours(shopNow) }, false, true},
		{"go-sdk, command, " + shopBefore, func(*testing.T) string { return ours(shopBefore) }, false, false},
		{"go-sdk, url, " + shopBefore, func(t *testing.T) string {
			s := shop(shopBefore)
			served := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
			t.Cleanup(func() { served.CloseClientConnections(); served.Close() })
			return `{"namespace":"shop","url":"` + served.URL + `"}`
		}, false, false},
		{"npm, command, 2025-06-18", func(*testing.T) string {
			return fmt.Sprintf(`{"namespace":"shop","command":%q,"args":[%q],"env":["MCP_MODULES"]}`, node, program)
		}, true, false},
		{"npm, url, 2025-06-18", func(t *testing.T) string {
			return `{"namespace":"shop","url":"` + npmShop(t, node, program, modules) + `"}`
		}, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.npm && noNode != nil {
				t.Skip("make clients installs the SDK: ", noNode)
			}
			testAnswers(t, c.server(t), modules, c.forms)
		})
	}
}

// npmShop starts the shop over HTTP and returns its URL.
func npmShop(t *testing.T, node, program, modules string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(address)
	cmd := exec.Command(node, program, port)
	cmd.Env, cmd.Stderr = []string{"MCP_MODULES=" + modules, "PATH=" + os.Getenv("PATH")}, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	until(t, "the shop to listen", func() bool {
		c, err := net.Dial("tcp", address)
		return err == nil && c.Close() == nil
	})
	return "http://" + address + "/mcp"
}

func testAnswers(t *testing.T, server, modules string, forms bool) {
	store := filepath.Join(t.TempDir(), "audit")
	environment := []string{
		"AUDIT_STORE=file://" + store, "AUDIT_CODE=keep", "RATE_LIMIT_MAX_REQUESTS=1000000", "EGRESS_ALLOW=127.0.0.1",
		"MCP_SERVERS=[" + server + "]", "MCP_MODULES=" + modules, "PATH=" + os.Getenv("PATH"),
	}
	p := start(t, environment...)
	begin := func(code, question string) string {
		t.Helper()
		status, v := p.post(t.Context(), t, "/api/execute", `{"code":`+quoted(code)+`}`)
		if status != http.StatusAccepted || !strings.Contains(fmt.Sprint(v["waiting"]), question) {
			t.Fatal(status, v)
		}
		return v["id"].(string)
	}
	over := func(status int, v map[string]any, want string) {
		t.Helper()
		if status != http.StatusOK || v["result"] != want {
			t.Errorf("%d %v, want %s", status, v, want)
		}
	}
	post := func(id, decision string) (int, map[string]any) {
		t.Helper()
		return p.post(t.Context(), t, "/api/executions/"+id+"/resume", `{"decisions":[`+decision+`]}`)
	}
	byAgent := func(id string, decision map[string]any) map[string]any {
		t.Helper()
		v, failed := call(t, agent(t, nil, nil, "--server", p.url), "resume_execution",
			map[string]any{"id": id, "decisions": []any{decision}})
		if failed {
			t.Fatal(v)
		}
		return v
	}
	byCommand := func(id, value string) map[string]any {
		t.Helper()
		code, out, errs := command(t, env("AIRLOCK_SERVER="+p.url), "approvals", "approve", id, "--value", value, "--json")
		var v map[string]any
		if err := json.Unmarshal([]byte(out), &v); code != 0 || err != nil {
			t.Fatal(code, out, errs)
		}
		return v
	}
	const code = `return await shop.order({})`
	if forms {
		const both = `{"color":{"color":"red"},"size":{"size":"XL"}}`
		id := begin(code, "color: Which color?\nsize: Which size?")
		if status, v := post(id, `{"seq":1,"decision":"respond","value":{"color":{"color":"red"}}}`); status != 400 {
			t.Error("half of an answer", status, v)
		}
		killed(t, p)
		p = start(t, environment...)
		status, v := post(id, `{"seq":1,"decision":"respond","value":`+both+`}`)
		over(status, v, "order 1: red, XL")
		over(200, byCommand(begin(code, "Which"), both), "order 2: red, XL")
		over(200, byAgent(begin(code, "Which"), map[string]any{"seq": 1, "decision": "respond", "value": map[string]any{
			"color": map[string]any{"color": "blue"}, "size": map[string]any{"size": "S"}}}), "order 3: blue, S")
		status, v = post(begin(code, "Which"), `{"seq":1,"decision":"reject"}`)
		over(status, v, "not ordered: decline, decline")
	} else {
		id := begin(code, "Which color?")
		killed(t, p)
		p = start(t, environment...)
		v := byAgent(id, map[string]any{"seq": 1, "decision": "respond", "value": map[string]any{"color": "red"}})
		if v["status"] != "paused" || !strings.Contains(fmt.Sprint(v["waiting"]), "Which size?") {
			t.Fatal(v)
		}
		v = byCommand(id, `{"size":"XL"}`)
		if got := fmt.Sprint(v["result"]); !strings.HasSuffix(got, ": red, XL") {
			t.Error(v)
		}
		status, v := post(begin(code, "Which color?"), `{"seq":1,"decision":"reject"}`)
		over(status, v, "not ordered: decline, decline")
		_, v = p.post(t.Context(), t, "/api/execute", `{"code":`+quoted(`return await shop.gift({})`)+`}`)
		over(200, v, "wrapped in brown")
		_, v = p.post(t.Context(), t, "/api/execute", `{"code":`+
			quoted(`try { shop.order.sync({}) } catch (e) { return e.message }`)+`}`)
		if got := fmt.Sprint(v["result"]); !strings.Contains(got, "cannot wait for input") &&
			!strings.Contains(got, "not support") {
			t.Error(v)
		}
	}
	last := true
	replays(t, p, store, func(r audit.Record) bool { // the newest execution that asked, which was rejected
		asked := r.Segment == 2 && last
		last = last && !asked
		return asked
	})
}
