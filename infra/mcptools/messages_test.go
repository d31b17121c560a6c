package mcptools_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/infra/mcptools"
	"github.com/airlock-run/airlock/policy/outbound"
)

// request is what a client asks. A message without an ID wants no answer.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// read reads a request, or refuses it.
func read(w http.ResponseWriter, r *http.Request) (asked request, ok bool) {
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&asked) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return asked, false
	}
	return asked, true
}

// sayer is a server with one tool, t. It sends a message before each answer, and answers calls of the tool with result.
func sayer(t *testing.T, message, result string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, ok := read(w, r)
		if !ok {
			return
		}
		if len(request.ID) == 0 {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		answer := map[string]string{
			"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},` +
				`"serverInfo":{"name":"x","version":"1"}}`,
			"tools/list": `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`, "tools/call": result,
		}[request.Method]
		w.Header().Set("Content-Type", "text/event-stream")
		if message != "" && request.Method != "initialize" { // before that, a message ends the session
			_, _ = io.WriteString(w, "data: "+message+"\n\n")
		}
		if answer == "" {
			_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32601}}\n\n", request.ID)
			return
		}
		_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", request.ID, answer)
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

// Whatever message a server sends of its own accord, the process lives, and the server's tools can be called.
func TestMessagesWithoutParameters(t *testing.T) {
	t.Parallel()
	for _, method := range []string{
		"notifications/elicitation/complete", "notifications/cancelled", "notifications/progress", "notifications/message",
		"notifications/tools/list_changed", "notifications/resources/updated", "notifications/subscriptions/acknowledged",
		"sampling/createMessage", "elicitation/create", "roots/list", "ping", "tools/call", "",
	} {
		for _, params := range []string{"", `,"params":null`, `,"params":{}`, `,"params":[null]`} {
			for _, id := range []string{"", `,"id":"x"`, `,"id":null`} {
				message := `{"jsonrpc":"2.0"` + id + `,"method":"` + method + `"` + params + "}"
				t.Run(message, func(t *testing.T) {
					t.Parallel()
					list := listed(t, `[{"namespace":"sums","url":"`+sayer(t, message, `{"content":[]}`)+`"}]`)
					c := mcptools.Open(t.Context(), list, mcptools.Limits().Transport(outbound.Options{}),
						slog.New(slog.DiscardHandler))
					t.Cleanup(c.Close)
					e := list.Begin()
					t.Cleanup(e.Close)
					if _, err := call(t, e, "t", "{}"); err != nil && strings.Contains(params, "{") {
						t.Error(err)
					}
				})
			}
		}
	}
}

// A result that the SDK cannot read is the error of the call.
func TestResultsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, result := range []string{
		`{"resultType":"input_required","inputRequests":{"a":null}}`,
		`{"resultType":"input_required","inputRequests":[null]}`,
		`{"resultType":"input_required","inputRequests":{"a":{"method":null}}}`, `{"content":[null]}`, `{"content":[{}]}`,
		`{"content":[{"type":"resource","resource":null}]}`, `{"content":[{"type":"image","data":"!"}]}`, `[]`, `null`, `1`,
	} {
		t.Run(result, func(t *testing.T) {
			t.Parallel()
			e := listed(t, `[{"namespace":"sums","url":"`+sayer(t, "", result)+`"}]`).Begin()
			t.Cleanup(e.Close)
			for range 2 {
				if out, err := call(t, e, "t", "{}"); err == nil && strings.Contains(out, "input_required") {
					t.Errorf("the result is %s", out)
				}
			}
		})
	}
}
