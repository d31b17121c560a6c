package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/gateway/console"
	"github.com/airlock-run/airlock/gateway/wiring"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/policy"
)

func serveCommand(con terminal.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Serve the HTTP API",
		Long: "Serve the HTTP API with a pool of local function processes.\n\n" +
			"All settings are environment variables, checked at start. By default it serves on 127.0.0.1:3000 without\n" +
			"credentials, stores records in ./audit and functions and jobs in ./state.\n\n" + settings.Help() +
			"SIGHUP reloads the packages and the files of AIRLOCK_POLICY_FILE and MCP_SERVERS. SIGTERM or Ctrl-C lets\n" +
			"running executions finish; a second one exits at once.",
		Example: "  airlock serve\n" +
			"  PORT=8080 RATE_LIMIT_MAX_REQUESTS=1000 airlock serve\n" +
			"  HOST=0.0.0.0 API_KEY=$(openssl rand -hex 32) AUDIT_STORE=s3://bucket/records airlock serve",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, err := settings.Read(con.Getenv, time.Now)
			if err != nil {
				return exit.Wiring(err)
			}
			warnAbout(con, settings.Misspelt(os.Environ()))
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			g, err := wiring.Open(ctx, con.Getenv, set, con.Stderr)
			if err != nil {
				return exit.Wiring(err)
			}
			err = g.Run(ctx, func() { greet(con.Stdout, g) }, stop)
			return exit.Wiring(errors.Join(err, g.Close()))
		},
	}
}

// warnAbout prints warnings on standard error.
func warnAbout(con terminal.Console, lines []string) {
	for _, line := range lines {
		prefix := con.Paint(con.Stderr, terminal.Yellow, "airlock: warning:")
		_, _ = fmt.Fprintln(con.Stderr, prefix+" "+strings.ReplaceAll(line, "\n", `\n`))
	}
}

// greet prints where the gateway serves, under which rules, and how to try it.
func greet(w io.Writer, g *wiring.Gateway) {
	set := g.Settings
	who := "credentials required"
	credential := " -H \"Authorization: Bearer $API_KEY\""
	switch {
	case set.Auth.Open:
		who, credential = "no credentials: this machine only", ""
	case set.Auth.Config.APIKey == "":
		credential = " -H \"Authorization: Bearer $(airlock token)\""
	}
	hooks := ""
	if at := cmp.Or(set.Hooks.Host, set.Hooks.Address); at != "" {
		hooks = "  webhooks   on " + at + " alone\n"
	}
	_, _ = fmt.Fprintf(w, `airlock serves on http://%s (%s)
  policy     %s unless a request says otherwise (%s)
  records    %s
  functions  %s
  limit      %d requests per caller in %s (RATE_LIMIT_MAX_REQUESTS, RATE_LIMIT_WINDOW_MS)
  pages      %s
%s
try it:
  curl -s http://%s/api/execute%s -H 'Content-Type: application/json' \
    -d '{"code": "const fib = n => n < 2 ? n : fib(n-1) + fib(n-2); console.log(fib(10))"}'
`, g.Address(), who, policy.DefaultTier, strings.Join(g.Tiers(), ", "), set.AuditStore, g.Functions(), set.Rate.Max,
		set.Rate.Window, strings.Join(console.Paths(), ", "), hooks, g.Address(), credential)
}

// functionCommand serves as a function process of a local pool.
func functionCommand(con terminal.Console) *cobra.Command {
	return &cobra.Command{
		Use:    "function",
		Short:  "Run a function process (airlock serve starts these)",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := process.Serve(cmd.Context(), con.Getenv, con.Stdin, con.Stderr); err != nil {
				return exit.With(exit.Platform, err)
			}
			return nil
		},
	}
}

// scannerCommand serves as a scan worker of a gateway.
func scannerCommand(con terminal.Console) *cobra.Command {
	return &cobra.Command{
		Use:    "scanner",
		Short:  "Scan code for a gateway, over standard input and output",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := wiring.ServeScans(con.Stdin, terminal.Exact(con.Stdout)); err != nil {
				return exit.With(exit.Platform, err)
			}
			return nil
		},
	}
}
