package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	client "github.com/airlock-run/airlock/gateway/client/go"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
)

// gatewayFlags holds the address and the credential of a gateway.
type gatewayFlags struct{ server, token string }

// declare adds the flags. fallback is the default gateway, or "".
func (g *gatewayFlags) declare(cmd *cobra.Command, con terminal.Console, fallback string) {
	flags := cmd.PersistentFlags()
	flags.StringVar(&g.server, "server", cmp.Or(con.Getenv("AIRLOCK_SERVER"), fallback),
		"the gateway to call, such as https://airlock.example.com (AIRLOCK_SERVER)")
	flags.StringVar(&g.token, "token", "", "token or API key for the gateway (AIRLOCK_TOKEN)")
}

// client returns a client for the flags. It never sends a credential in clear text to another machine.
func (g *gatewayFlags) client(con terminal.Console) (*client.Client, error) {
	token := tokenOf(con, g.token)
	if u, err := url.Parse(g.server); err == nil {
		if err := checkEncrypted(u, token); err != nil {
			return nil, err
		}
	}
	c, err := client.New(client.Config{URL: g.server, Token: token})
	if err != nil {
		return nil, notAddress(g.server)
	}
	return c, nil
}

// tokenOf returns the token of a flag, or of AIRLOCK_TOKEN if the flag is empty.
func tokenOf(con terminal.Console, flag string) string {
	return cmp.Or(flag, strings.TrimSpace(con.Getenv("AIRLOCK_TOKEN")))
}

// checkEncrypted refuses a gateway to which a token would be sent in clear text.
func checkEncrypted(server *url.URL, token string) error {
	if token != "" && server.Scheme == "http" && !settings.Loopback(server.Hostname()) {
		return exit.With(exit.Usage, errors.New("--server: a token is sent over https only, except to this machine"))
	}
	return nil
}

// notAddress returns the error of a --server that is not the address of a gateway.
func notAddress(server string) error {
	return exit.With(exit.Usage, fmt.Errorf("--server: %q is not the address of a gateway; write it as "+
		"https://airlock.example.com", server))
}

// gatewayTool holds what the commands share that call a gateway.
type gatewayTool struct {
	con     terminal.Console
	gateway gatewayFlags
	json    bool
}

// declare adds the flags of a command whose default gateway is the one on this machine.
func (g *gatewayTool) declare(cmd *cobra.Command) {
	g.gateway.declare(cmd, g.con, "http://127.0.0.1:"+cmp.Or(g.con.Getenv("PORT"), "3000"))
	cmd.PersistentFlags().BoolVar(&g.json, "json", false, "print the gateway's response as JSON")
}

// pages returns the items of all pages that next returns, from the first, whose cursor is "".
func pages[T any](ctx context.Context, next func(context.Context, string) ([]T, string, error)) ([]T, error) {
	all := []T{}
	for cursor := ""; ; {
		items, after, err := next(ctx, cursor)
		if err != nil {
			return nil, err
		}
		if all = append(all, items...); after == "" {
			return all, nil
		}
		cursor = after
	}
}

// with returns a RunE that calls fn with a client of the gateway. It prints the result as JSON if --json is set, and
// with say otherwise.
func with[T any](f *gatewayTool, fn func(ctx context.Context, c *client.Client, args []string) (T, error),
	say func(T) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := f.gateway.client(f.con)
		if err != nil {
			return err
		}
		ctx, stop := terminal.Interruptible(cmd.Context())
		defer stop()
		v, err := fn(ctx, c, args)
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			err = called(err)
			return exit.With(platformCode(err), err)
		}
		if f.json {
			err = printJSON(f.con.Stdout, v)
		} else {
			err = say(v)
		}
		if err != nil {
			return exit.With(exit.Platform, fmt.Errorf("print the answer: %w", err))
		}
		return nil
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
