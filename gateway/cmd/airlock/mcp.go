package main

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
	"slices"
	"strings"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/mcp"
	"github.com/airlock-run/airlock/policy/outbound"
)

// mcpCommand serves agents over stdin and stdout.
func mcpCommand(con console) *cobra.Command {
	var server, token string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the Model Context Protocol on stdin and stdout",
		Long: "Serve agents on this machine over stdin and stdout: execute_code, analyze_code, get_execution, list_functions,\n" +
			"invoke_function.\n\n" +
			"Without --server it runs code with its own pool of function processes and the settings of airlock serve that\n" +
			"concern execution (AUDIT_STORE, AUDIT_CHAIN_KEY, EGRESS_ALLOW, FUNCTION_PROCESSES, SANDBOX_MEMORY_MB,\n" +
			"AIRLOCK_CACHE_DIR) and the saved functions of AIRLOCK_STATE. With --server it passes every call on to a gateway.",
		Example: "  claude mcp add airlock -- airlock mcp\n" +
			"  airlock mcp --server https://airlock.example.com --token \"$AIRLOCK_TOKEN\"",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			stdio := mcp.Stdio(io.NopCloser(con.stdin), unclosed{exact(con.stdout)})
			if server != "" {
				return proxyMCP(ctx, con, server, token, stdio)
			}
			if token != "" {
				return exit(exitUsage, errors.New("--token: is for --server; a local sandbox asks for no credential"))
			}
			return localMCP(ctx, con, stdio)
		},
	}
	cmd.Flags().StringVar(&server, "server", con.getenv("AIRLOCK_SERVER"), "the gateway to pass calls on to, such as https://airlock.example.com (AIRLOCK_SERVER)")
	cmd.Flags().StringVar(&token, "token", "", "its token or API key (AIRLOCK_TOKEN)")
	return cmd
}

// localMCP runs what agents send in function processes of its own.
func localMCP(ctx context.Context, con console, stdio sdk.Transport) (err error) {
	set, err := readSettings(con.executing, time.Now)
	if err != nil {
		return exit(exitUsage, err)
	}
	log := slog.New(slog.NewTextHandler(con.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	limitMemory(set, log)
	store, err := set.keeping.Open(ctx, set.auditStore, log)
	if err != nil {
		return exit(exitPlatform, err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	policy, err := openRules(con.executing)
	if err != nil {
		return exit(exitUsage, err)
	}
	defer func() { err = errors.Join(err, policy.close()) }()
	functions, err := openFleet(ctx, con.executing, set, policy, log)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, functions.close(closing))
	}()
	set.opened = policy.Hosts()
	reader, err := openReader(gateway.ReadersAtOnce(), log)
	if err != nil {
		return exit(exitPlatform, err)
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	attached, detach := set.attached.open(ctx, set.opened, log)
	defer detach()
	state, closeState, err := openState(ctx, set, policy.Quota)
	if err != nil {
		return exit(exitPlatform, err)
	}
	defer func() { err = errors.Join(err, closeState()) }()
	server, err := newServer(ctx, set, functions, policy, gateway.Deps{
		Reader: reader, Records: store, State: state, Attached: attached, Logger: log, Now: time.Now, NewID: newID,
	})
	if err != nil {
		return exit(exitUsage, err)
	}
	defer reloadOnHangUp(ctx, policy, set.attached, functions, log)()
	if err := server.ServeMCP(ctx, stdio); err != nil {
		return exit(exitPlatform, err)
	}
	return nil
}

// executing is the environment without what concerns serving to others: nothing here listens, or asks for credentials.
func (con console) executing(name string) string {
	if slices.Contains(forwarded, name) || slices.Contains(keeping, name) || slices.Contains(ofAWS, name) || strings.HasPrefix(name, "LAMBDA_") ||
		strings.HasPrefix(name, process.SecretPrefix) ||
		slices.Contains([]string{"AIRLOCK_POLICY_FILE", "AIRLOCK_STATE", "AUDIT_STORE", "FUNCTION_PROCESSES", "INVOKER", process.AttachedVariable}, name) {
		return con.getenv(name)
	}
	return ""
}

// proxyMCP passes everything on to a gateway.
func proxyMCP(ctx context.Context, con console, server, token string, stdio sdk.Transport) error {
	if token == "" {
		token = con.getenv("AIRLOCK_TOKEN")
	}
	u, err := url.Parse(server)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil {
		return exit(exitUsage, fmt.Errorf("--server: %q is not the address of a gateway; write it as https://airlock.example.com", server))
	}
	if token != "" && u.Scheme == "http" && !loopback(u.Hostname()) {
		return exit(exitUsage, errors.New("--server: a token is sent over https only, except to this machine"))
	}
	endpoint := strings.TrimSuffix(u.String(), "/")
	if !strings.HasSuffix(endpoint, "/mcp") {
		endpoint += "/mcp"
	}
	// A session may stay open as long as the agent's, and its stream with it.
	limits := outbound.Limits{Body: 32 << 20, Total: 15 * time.Minute, Stream: 24 * time.Hour}
	network := limits.Transport(outbound.Options{Proxy: http.ProxyFromEnvironment})
	client := outbound.Over(&authorized{network, token, u.Host})
	if err := mcp.Proxy(ctx, &sdk.StreamableClientTransport{Endpoint: endpoint, HTTPClient: client}, stdio, version()); err != nil {
		return exit(exitPlatform, fmt.Errorf("--server %s: %w", server, err))
	}
	return nil
}

// authorized sends the token to the gateway, and to no host that it redirects to.
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

// unclosed is standard output to one who would close it.
type unclosed struct{ io.Writer }

// Close does nothing.
func (unclosed) Close() error { return nil }
