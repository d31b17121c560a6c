package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// mcpHeaders make a message of the protocol complete in itself, without a session.
var mcpHeaders = []string{"Accept: application/json, text/event-stream", "Mcp-Protocol-Version: 2026-07-28"}

// messageFor is a message that calls a tool with the body of an execution request.
func messageFor(tool, arguments string) string {
	const protocol = "io.modelcontextprotocol/"
	meta := `{"` + protocol + `protocolVersion":"2026-07-28","` + protocol + `clientInfo":{"name":"t","version":"1"},"` +
		protocol + `clientCapabilities":{}}`
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments +
		`,"_meta":` + meta + `}}`
}

// small is a function whose results are short, so that only the request is measured.
func small(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error) {
	reply, err := encodedEcho(ctx, inv, onLog)
	reply.Result.Result = json.RawMessage("1")
	return reply, err
}

// A message of an agent and a delivery of a webhook cost the gateway's own process no more than a request of the API.
func TestOwnCostsOfMessagesAndDeliveries(t *testing.T) {
	s := kept(t, options{reader: newFarReader(t), invoke: small})
	want(t, s.do(t, "PUT", "/api/functions/h", `{"code":"1","hook":{"scheme":"none"}}`), 201)
	for _, body := range costlyRequests() {
		for _, tool := range []string{"execute_code", "analyze_code"} {
			headers := append([]string{"Mcp-Method: tools/call", "Mcp-Name: " + tool}, mcpHeaders...)
			s.bounded(t, "POST", "/mcp", messageFor(tool, body), headers...)
		}
		s.bounded(t, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping","params":`+body+`}`, mcpHeaders...)
		s.bounded(t, "POST", "/hooks/h", body)
		s.bounded(t, "POST", "/hooks/h", strings.TrimSuffix(body, "}"))
	}
}

// A delivery may hold any bytes. JSON escapes many of them, and an event holds them once or twice.
func TestOwnCostsOfTextDeliveries(t *testing.T) {
	s := kept(t, options{reader: newFarReader(t), invoke: small})
	want(t, s.do(t, "PUT", "/api/functions/h", `{"code":"1","hook":{"scheme":"none"}}`), 201)
	const full = 1<<20 - 400
	for _, part := range []string{"\x01", "\"", "\n", "\\", "a=\x01&", "\xff", "\xff\x01", "\u2028", "<", `"\u2028",`} {
		s.bounded(t, "POST", "/hooks/h", strings.Repeat(part, full/len(part)))
	}
	for _, part := range []string{`\"`, `\\`, `\n`, `\u0001`, `\ud800`, "\u2028", "<", "/"} {
		s.bounded(t, "POST", "/hooks/h", `["`+strings.Repeat(part, full/len(part)-2)+`"]`)
	}
	for part, status := range map[string]int{"\x01": 413, "\"": 413, "x\n": 200, "é": 200} {
		want(t, s.do(t, "POST", "/hooks/h", strings.Repeat(part, full/len(part))), status)
	}
}

// Long messages and deliveries take turns: while others wait for a caller's turn to end, another tenant's request is
// answered.
func TestMessagesAndDeliveriesTakeTurns(t *testing.T) {
	t.Parallel()
	s := costServer(t)
	want(t, s.do(t, "PUT", "/api/functions/h", `{"code":"1","hook":{"scheme":"none"}}`), 201)
	long := `{"code":"1","input":"` + strings.Repeat("x", 64<<10) + `"}`
	client := &http.Client{Timeout: 5 * time.Minute}
	var all sync.WaitGroup
	for range 50 { // more than there are places: a turn that is not released blocks the later ones forever
		for path, body := range map[string]string{
			"/mcp": messageFor("execute_code", long), "/hooks/h": long, "/mcp?x": "{" + long,
			"/mcp?": `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + long + `}`,
		} {
			all.Go(func() {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+path, strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set("Content-Type", "application/json")
				for _, h := range mcpHeaders {
					name, value, _ := strings.Cut(h, ": ")
					r.Header.Set(name, value)
				}
				res, err := client.Do(r)
				if err != nil {
					t.Errorf("%s: %v", path, err)
					return
				}
				if err := res.Body.Close(); err != nil || res.StatusCode >= 500 {
					t.Errorf("%s: %d %v", path, res.StatusCode, err)
				}
			})
		}
	}
	all.Wait()
	want(t, s.do(t, "POST", "/api/execute", long), 200)
}
