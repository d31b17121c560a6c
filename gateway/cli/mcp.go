package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/gateway/mcp"
	"github.com/airlock-run/airlock/gateway/wiring"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/policy/outbound"
)

// mcpCommand serves agents over stdin and stdout.
func mcpCommand(con terminal.Console) *cobra.Command {
	var server, token string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the Model Context Protocol on stdin and stdout",
		Long: "Serve an agent on this machine over stdin and stdout, with the tools execute_code, analyze_code,\n" +
			"get_execution, list_functions and invoke_function.\n" +
			"\n" +
			"Without --server it runs code in its own function processes, with the settings of airlock serve that\n" +
			"concern execution (AUDIT_STORE, AUDIT_CHAIN_KEY, EGRESS_ALLOW, FUNCTION_PROCESSES, SANDBOX_MEMORY_MB,\n" +
			"AIRLOCK_CACHE_DIR) and the saved functions of AIRLOCK_STATE. With --server it forwards every call to a\n" +
			"gateway.",
		Example: "  claude mcp add airlock -- airlock mcp\n" +
			"  airlock mcp --server https://airlock.example.com --token \"$AIRLOCK_TOKEN\"",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			stdio := mcp.Stdio(io.NopCloser(con.Stdin), unclosed{terminal.Exact(con.Stdout)})
			if server != "" {
				return ProxyMCP(ctx, con, server, token, stdio)
			}
			if token != "" {
				return exit.With(exit.Usage, errors.New("--token: needs --server; a local sandbox requires no credential"))
			}
			return localMCP(ctx, con, stdio)
		},
	}
	cmd.Flags().StringVar(&server, "server", con.Getenv("AIRLOCK_SERVER"),
		"the gateway that receives the calls, such as https://airlock.example.com (AIRLOCK_SERVER)")
	cmd.Flags().StringVar(&token, "token", "", "token or API key for the gateway (AIRLOCK_TOKEN)")
	return cmd
}

// localMCP runs code of the agent in function processes of its own.
func localMCP(ctx context.Context, con terminal.Console, stdio sdk.Transport) error {
	getenv := wiring.ExecutionEnv(con.Getenv)
	set, err := settings.Read(getenv, time.Now)
	if err != nil {
		return exit.Wiring(err)
	}
	log := slog.New(slog.NewTextHandler(con.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return exit.Wiring(wiring.ServeMCP(ctx, getenv, set, log, stdio))
}

// ProxyMCP forwards everything that the agent on stdio sends to a gateway.
func ProxyMCP(ctx context.Context, con terminal.Console, server, token string, stdio sdk.Transport) error {
	token = tokenOf(con, token)
	u, err := url.Parse(server)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil {
		return notAddress(server)
	}
	if err := checkEncrypted(u, token); err != nil {
		return err
	}
	endpoint := strings.TrimSuffix(u.String(), "/")
	if !strings.HasSuffix(endpoint, "/mcp") {
		endpoint += "/mcp"
	}
	// A session and its stream may last as long as the agent.
	limits := outbound.Limits{Body: 32 << 20, Total: 15 * time.Minute, Stream: 24 * time.Hour}
	network := limits.Transport(outbound.Options{Proxy: http.ProxyFromEnvironment})
	client := outbound.Over(&authorized{network, token, u.Host})
	if err := mcp.Proxy(ctx, &sdk.StreamableClientTransport{Endpoint: endpoint, HTTPClient: client}, stdio,
		api.Version()); err != nil {
		return exit.With(exit.Platform, fmt.Errorf("--server %s: %w", server, err))
	}
	return nil
}

// authorized sends the token to the gateway only, and to no host that it redirects to.
type authorized struct {
	next  http.RoundTripper
	token string
	host  string
}

// RoundTrip implements http.RoundTripper.
func (a *authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.token != "" && r.URL.Host == a.host {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
	return a.next.RoundTrip(r)
}

// unclosed is standard output whose Close does nothing.
type unclosed struct{ io.Writer }

// Close does nothing.
func (unclosed) Close() error { return nil }
