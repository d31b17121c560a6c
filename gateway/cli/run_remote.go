package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	client "github.com/airlock-run/airlock/gateway/client/go"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
)

// gatewayFlags holds the address and the credential of a gateway.
type gatewayFlags struct{ server, token string }

// declare adds the flags. fallback is the default gateway, or "".
func (g *gatewayFlags) declare(cmd *cobra.Command, con terminal.Console, fallback string) {
	server := con.Getenv("AIRLOCK_SERVER")
	if server == "" {
		server = fallback
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&g.server, "server", server,
		"the gateway to call, such as https://airlock.example.com (AIRLOCK_SERVER)")
	flags.StringVar(&g.token, "token", "", "token or API key for the gateway (AIRLOCK_TOKEN)")
}

// client returns a client for the flags. It never sends a credential in clear text to another machine.
func (g *gatewayFlags) client(con terminal.Console) (*client.Client, error) {
	token := g.token
	if token == "" {
		token = strings.TrimSpace(con.Getenv("AIRLOCK_TOKEN"))
	}
	u, err := url.Parse(g.server)
	if err == nil && token != "" && u.Scheme == "http" && !settings.Loopback(u.Hostname()) {
		return nil, exit.With(exit.Usage, errors.New("--server: a token is sent over https only, except to this machine"))
	}
	c, err := client.New(client.Config{URL: g.server, Token: token})
	if err != nil {
		return nil, exit.With(exit.Usage, fmt.Errorf("--server: %q is not the address of a gateway; write it as "+
			"https://airlock.example.com", g.server))
	}
	return c, nil
}

// executeThere returns an execute that runs on a gateway and follows the guest's output. paused, which may be nil, is
// called when the execution pauses; execute then waits for its end.
func executeThere(c *client.Client, paused func(id string)) execute {
	run := runThere(c)
	if paused == nil {
		return run
	}
	return func(ctx context.Context, request execution.Request, onLog func(level, text string)) (execution.Result, error) {
		result, err := run(ctx, request, onLog)
		if err != nil || result.Status != execution.Paused {
			return result, err
		}
		paused(result.ID)
		end, err := c.WaitForEnd(ctx, result.ID)
		if onLog != nil {
			for _, l := range end.Logs[min(len(result.Logs), len(end.Logs)):] {
				onLog(l.Level, l.Message+"\n")
			}
		}
		return end.Result, called(err)
	}
}

// executeStep returns an execute that runs on a gateway as the next step of a session. What the guest prints is printed
// at the end.
func executeStep(c *client.Client, session string) execute {
	return func(ctx context.Context, request execution.Request, onLog func(level, text string)) (execution.Result, error) {
		result, err := c.ExecuteStep(ctx, session, request)
		if onLog != nil {
			for _, l := range result.Logs {
				onLog(l.Level, l.Message+"\n")
			}
		}
		return result.Result, called(err)
	}
}

func runThere(c *client.Client) execute {
	return func(ctx context.Context, request execution.Request, onLog func(level, text string)) (execution.Result, error) {
		if onLog == nil {
			result, err := c.Execute(ctx, request)
			return result.Result, called(err)
		}
		result, err := c.ExecuteStream(ctx, request, func(chunk client.Chunk) { onLog(chunk.Level, chunk.Chunk) })
		return result.Result, called(err)
	}
}

// called returns the error of a call with advice for the user.
func called(err error) error {
	var p *client.Problem
	var network *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &p) && p.Status == 401:
		return fmt.Errorf("--server: %w; give --token or AIRLOCK_TOKEN", err)
	case errors.As(err, &p) && p.Status == 429 && p.RetryAfter > 0:
		return fmt.Errorf("--server: %w; try again in %s", err, p.RetryAfter)
	case errors.As(err, &p) && p.Field != "":
		return err
	case errors.As(err, &network) && network.Op == "dial":
		return fmt.Errorf("--server: nothing answers at %s (%w); is airlock serve running there?", network.Addr, network.Err)
	}
	return fmt.Errorf("--server: %w", err)
}
