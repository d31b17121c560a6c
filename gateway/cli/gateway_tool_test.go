package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/gateway/mcp"
)

// The proxy of agents reads AIRLOCK_TOKEN as all other commands do: without the line end of the file it came from.
func TestProxyTrimsTheToken(t *testing.T) {
	t.Parallel()
	sent := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case sent <- r.Header.Get("Authorization"):
		default:
		}
		http.Error(w, "no", http.StatusForbidden)
	}))
	defer server.Close()
	con := terminal.Console{Getenv: env("AIRLOCK_TOKEN=secret\n")}
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"a","version":"1"}}}` + "\n"
	agent := mcp.Stdio(io.NopCloser(strings.NewReader(hello)), unclosed{io.Discard})
	err := ProxyMCP(t.Context(), con, server.URL, "", agent)
	if exit.Code(err) == exit.Usage {
		t.Fatal(err)
	}
	select {
	case got := <-sent:
		if got != "Bearer secret" {
			t.Errorf("the gateway received %q", got)
		}
	default:
		t.Errorf("nothing was sent: %v", err)
	}
}
