package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/gateway/mcp"
)

// impostor answers a proxy in place of a gateway: each request with the result of its method, if there is one, after a
// message of its own accord. %s in a result is the cursor that was asked for.
func impostor(ctx context.Context, t *testing.T, transport sdk.Transport, message string, results map[string]string) {
	t.Helper()
	conn, err := transport.Connect(ctx)
	if err != nil {
		t.Error(err)
		return
	}
	say := func(text string) bool {
		m, err := jsonrpc.DecodeMessage([]byte(text))
		return err == nil && conn.Write(ctx, m) == nil
	}
	for {
		m, err := conn.Read(ctx)
		if err != nil {
			return // the proxy has left
		}
		request, ok := m.(*jsonrpc.Request)
		if !ok || !request.IsCall() {
			continue
		}
		result, known := results[request.Method]
		if request.Method == "initialize" {
			result, known = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{}},`+
				`"serverInfo":{"name":"x","version":"1"}}`, true
		} else if message != "" {
			say(message)
		}
		var asked struct{ Cursor string }
		_ = json.Unmarshal(request.Params, &asked) // other requests have no cursor
		id, err := json.Marshal(request.ID.Raw())
		if err != nil {
			t.Error(err)
			return
		}
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, id)
		if known {
			answer = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, strings.ReplaceAll(result, "%s", asked.Cursor))
		}
		if !say(answer) {
			return
		}
	}
}

const (
	oneTool = `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`
	useTool = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}` + "\n"
)

// proxied returns what the client of a proxy is told, and how the proxy ended.
func proxied(t *testing.T, message string, results map[string]string, lines string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	near, far := sdk.NewInMemoryTransports()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		impostor(ctx, t, far, message, results)
	}()
	var out bytes.Buffer
	in := io.NopCloser(strings.NewReader(greeting + lines + ping))
	err := mcp.Proxy(ctx, near, mcp.Stdio(in, uncloseable{&out}), "test")
	cancel()
	<-ended
	return out.String(), err
}

// Whatever message a gateway sends of its own accord, the proxy lives, and the gateway's tools can be called.
func TestProxySurvivesMessages(t *testing.T) {
	t.Parallel()
	for _, method := range []string{
		"notifications/elicitation/complete", "notifications/cancelled", "notifications/progress", "notifications/message",
		"notifications/tools/list_changed", "notifications/resources/updated", "notifications/subscriptions/acknowledged",
		"sampling/createMessage", "elicitation/create", "roots/list", "ping", "tools/call",
	} {
		for _, rest := range []string{"", `,"params":null`, `,"params":{}`, `,"params":[null]`} {
			for _, id := range []string{"", `,"id":"x"`} {
				message := `{"jsonrpc":"2.0"` + id + `,"method":"` + method + `"` + rest + "}"
				t.Run(message, func(t *testing.T) {
					t.Parallel()
					told, err := proxied(t, message, map[string]string{
						"tools/list": oneTool, "tools/call": `{"content":[{"type":"text","text":"called"}]}`,
					}, useTool)
					if err == nil && !strings.Contains(told, "called") {
						t.Errorf("the client was told %s", told)
					}
				})
			}
		}
	}
}

// A result that the SDK cannot read is the error of the call, and the session goes on.
func TestProxySurvivesResults(t *testing.T) {
	t.Parallel()
	for _, result := range []string{
		`{"resultType":"input_required","inputRequests":{"a":null}}`,
		`{"resultType":"input_required","inputRequests":[null]}`,
		`{"resultType":"input_required","inputRequests":{"a":{"method":null}}}`, `{"content":[null]}`, `{"content":[{}]}`,
		`{"content":[{"type":"resource","resource":null}]}`, `{"content":[{"type":"image","data":"!"}]}`, `[]`, `null`, `1`,
		`{"content":[],"_meta":{"airlock/progress":1e300}}`, `{"content":[],"_meta":{"airlock/progress":-1}}`,
	} {
		t.Run(result, func(t *testing.T) {
			t.Parallel()
			told, err := proxied(t, "", map[string]string{
				"tools/list": oneTool, "tools/call": result, "resources/list": result,
			}, useTool+`{"jsonrpc":"2.0","id":3,"method":"resources/list"}`+"\n")
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(told, `"id":2,`) || !strings.Contains(told, `"id":3,`) {
				t.Errorf("the client was told %s", told)
			}
		})
	}
}

// A list of tools that has no end, or has tools that cannot be offered, is refused.
func TestProxyRefusesLists(t *testing.T) {
	t.Parallel()
	tools := func(schema string) string { return `{"tools":[{"name":"t","inputSchema":` + schema + `}]}` }
	for name, c := range map[string]struct{ list, says string }{
		"pages without end": {`{"nextCursor":"x","tools":[]}`, "pages"},
		"growing cursors":   {`{"nextCursor":"x%s","tools":[]}`, "pages"},
		"many tools": {`{"tools":[` + strings.Repeat(`{"name":"t","inputSchema":{"type":"object"}},`, 3000) +
			`{"name":"t","inputSchema":{"type":"object"}}]}`, "tools"},
		"no schema":      {`{"tools":[{"name":"t"}]}`, "cannot be offered"},
		"another schema": {tools(`{"type":"array"}`), "cannot be offered"},
		"no object":      {tools(`[1]`), "cannot be offered"},
		"schema null":    {tools(`null`), "cannot be offered"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := proxied(t, "", map[string]string{"tools/list": c.list}, "")
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v; want one that names %q", err, c.says)
			}
		})
	}
}
