package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/policy/audit"
)

// bank is a server whose tool asks which account to pay from, and how much. It remembers nothing between calls.
func bank(t *testing.T) string {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "bank", Version: "1"}, nil)
	ask := func(state, field, kind string) *sdk.CallToolResult {
		return &sdk.CallToolResult{RequestState: state, InputRequests: sdk.InputRequestMap{field: &sdk.ElicitParams{
			Mode: "form", Message: "What is the " + field + "\u202e?", RequestedSchema: map[string]any{
				"type": "object", "properties": map[string]any{field: map[string]any{"type": kind}}, "required": []any{field},
			},
		}}}
	}
	s.AddTool(&sdk.Tool{Name: "pay", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			text := func(format string, args ...any) *sdk.CallToolResult {
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf(format, args...)}}}
			}
			if can := r.ClientCapabilities(); can == nil || can.Elicitation == nil {
				return text("paid without asking"), nil
			}
			if r.Params.RequestState == "" {
				return ask("started", "account", "string"), nil
			}
			for field, response := range r.Params.InputResponses {
				given, ok := response.(*sdk.ElicitResult)
				if !ok || given.Action != "accept" {
					return text("not paid: %s", given.Action), nil
				}
				if field == "account" {
					return ask(fmt.Sprint(given.Content["account"]), "sum", "integer"), nil
				}
				return text("paid %v to %s from %s", given.Content["sum"], r.Params.Arguments, r.Params.RequestState), nil
			}
			return text("no answer"), nil
		})
	get := func(*http.Request) *sdk.Server { return s }
	server := httptest.NewServer(sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL
}

// A tool's server asks a person for input, twice. The execution waits for the answers while its gateway is killed.
func TestToolsAskForInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := filepath.Join(dir, "audit")
	environment := []string{
		"AUDIT_STORE=file://" + store, "AUDIT_CODE=keep", "RATE_LIMIT_MAX_REQUESTS=1000000", "EGRESS_ALLOW=127.0.0.1",
		`MCP_SERVERS=[{"namespace":"bank","url":"` + bank(t) + `"}]`,
	}
	p := start(t, environment...)
	begin := func(code string) (path string, v map[string]any) {
		t.Helper()
		status, v := p.post(t.Context(), t, "/api/execute", `{"code":`+quoted(code)+`}`)
		if status != http.StatusAccepted || v["status"] != "paused" {
			t.Fatal(status, v)
		}
		return "/api/executions/" + v["id"].(string), v
	}
	resume := func(path, decision string, want int) map[string]any {
		t.Helper()
		status, v := p.post(t.Context(), t, path+"/resume", `{"decisions":[`+decision+`]}`)
		if status != want {
			t.Fatal(status, v)
		}
		return v
	}
	path, v := begin(`const key = Math.random(); const r = await bank.pay({to: "Ada"}); return [r, key < 1]`)
	waiting := v["waiting"].([]any)[0].(map[string]any)
	delete(waiting, "expiresAt")
	if diff := gocmp.Diff(map[string]any{
		"seq": 1.0, "kind": "approval", "title": "bank:pay asks for input", "detail": `What is the account\u{202e}?`,
		"schema": map[string]any{
			"type": "object", "required": []any{"account"},
			"properties": map[string]any{"account": map[string]any{"type": "string"}},
		},
	}, waiting); diff != "" {
		t.Error(diff)
	}
	resume(path, `{"seq":1,"decision":"respond","value":{"account":7}}`, http.StatusBadRequest)
	killed(t, p)
	p = start(t, environment...)
	resume(path, `{"seq":1,"decision":"respond","value":{"account":"A1"}}`, http.StatusAccepted)
	killed(t, p)
	p = start(t, environment...)
	v = resume(path, `{"seq":2,"decision":"respond","value":{"sum":5}}`, http.StatusOK)
	if diff := gocmp.Diff([]any{`paid 5 to {"to":"Ada"} from A1`, true}, v["result"]); diff != "" {
		t.Error(diff, v)
	}
	path, _ = begin(`return await bank.pay({to: "Ada"})`)
	if v = resume(path, `{"seq":1,"decision":"reject"}`, http.StatusOK); v["result"] != "not paid: decline" {
		t.Error(v)
	}
	undecided := func(r audit.Record) bool { return r.Decision == nil }
	if n := replays(t, p, store, undecided); n < 5 {
		t.Errorf("%d records are replayed", n)
	}
	// A server learns that a call cannot wait.
	_, v = p.post(t.Context(), t, "/api/execute", `{"code":`+quoted(`return bank.pay.sync({to: "Ada"})`)+`}`)
	if v["result"] != "paid without asking" {
		t.Error(v["result"], v["error"])
	}
}
