package cli

import (
	"cmp"
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/gateway/cli/complete"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	client "github.com/airlock-run/airlock/gateway/client/go"
)

// sessionsTool holds what the commands for sessions share.
type sessionsTool struct{ gatewayTool }

// sessionsCommand manages the caller's sessions on a gateway.
func sessionsCommand(con terminal.Console) *cobra.Command {
	tool := &sessionsTool{gatewayTool{con: con}}
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "Create, list, fork and delete sessions of a gateway",
		Long: "Create, list, fork and delete your sessions of a gateway: the one of --server or AIRLOCK_SERVER, else\n" +
			"the one on this machine. What code declares in a session is there for its next steps: airlock run --session.\n\n" +
			exit.Codes,
		Example: "  airlock sessions create --policy agent\n" +
			"  airlock sessions list\n" +
			"  airlock sessions fork sess_01JD5Z6Q8V0000000000000000 --step 3\n" +
			"  airlock sessions delete sess_01JD5Z6Q8V0000000000000000",
		Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	tool.declare(cmd)
	cmd.AddCommand(tool.create(), tool.list(), tool.show(), tool.fork(), tool.delete())
	return cmd
}

// ids completes the IDs of sessions by asking the gateway.
func (s *sessionsTool) ids(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return sessionIDs(cmd.Context(), s.con, &s.gateway)
}

func sessionIDs(ctx context.Context, con terminal.Console, at *gatewayFlags) ([]string, cobra.ShellCompDirective) {
	c, err := at.client(con)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	items, _, err := c.Sessions(ctx, "")
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var ids []string
	for _, item := range items {
		ids = append(ids, item.ID)
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

func (s *sessionsTool) create() *cobra.Command {
	var o client.SessionOptions
	var age wallTime
	cmd := &cobra.Command{
		Use:     "create",
		Short:   "Create a session and print its ID",
		Example: "  airlock sessions create --policy agent --max-age 1h",
		Args:    cobra.NoArgs,
		RunE: with(&s.gatewayTool, func(ctx context.Context, c *client.Client, _ []string) (client.Session, error) {
			o.MaxAge = age.milliseconds()
			return c.NewSession(ctx, o)
		}, s.printID),
	}
	cmd.Flags().StringVar(&o.Policy, "policy", "", "the tier of all steps (default standard)")
	cmd.Flags().Var(&age, "max-age", "when the session expires: milliseconds, or a duration such as 1h (default a day)")
	complete.Policy(cmd, s.con)
	return cmd
}

func (s *sessionsTool) printID(made client.Session) error {
	_, err := fmt.Fprintln(s.con.Stdout, terminal.OneLine(made.ID))
	return err
}

func (s *sessionsTool) list() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List your sessions, oldest first",
		Example: "  airlock sessions list --json | jq -r '.[].id'",
		Args:    cobra.NoArgs,
		RunE: with(&s.gatewayTool, func(ctx context.Context, c *client.Client, _ []string) ([]client.Session, error) {
			return pages(ctx, c.Sessions)
		}, func(all []client.Session) error {
			w := tabwriter.NewWriter(s.con.Stdout, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "ID\tPOLICY\tSTEPS\tCHANGED\tEXPIRES")
			for _, one := range all {
				fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\n", terminal.OneLine(one.ID), terminal.OneLine(one.Policy), one.Steps,
					terminal.OneLine(one.ChangedAt), terminal.OneLine(one.ExpiresAt))
			}
			return w.Flush()
		}),
	}
}

func (s *sessionsTool) show() *cobra.Command {
	return &cobra.Command{
		Use:               "show ID",
		Short:             "Print the progress of a session, and which of its steps can be forked",
		Example:           "  airlock sessions show sess_01JD5Z6Q8V0000000000000000",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: s.ids,
		RunE: with(&s.gatewayTool, func(ctx context.Context, c *client.Client, args []string) (client.Session, error) {
			return c.Session(ctx, args[0])
		}, func(one client.Session) error {
			state := fmt.Sprintf("%d steps", one.Steps)
			if one.Running {
				state += ", another one runs"
			}
			if one.Steps > 0 {
				state += fmt.Sprintf(", forks from step %d", one.Earliest)
			}
			_, err := fmt.Fprintln(s.con.Stdout, terminal.OneLine(fmt.Sprintf("%s %s: %s, %d bytes, expires %s", one.ID,
				cmp.Or(one.Policy, "standard"), state, one.Bytes, one.ExpiresAt)))
			return err
		}),
	}
}

func (s *sessionsTool) fork() *cobra.Command {
	var step int
	cmd := &cobra.Command{
		Use:               "fork ID",
		Short:             "Create a session from the state of another after a step, and print its ID",
		Example:           "  airlock sessions fork sess_01JD5Z6Q8V0000000000000000 --step 3",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: s.ids,
	}
	cmd.RunE = with(&s.gatewayTool, func(ctx context.Context, c *client.Client, args []string) (client.Session, error) {
		if !cmd.Flags().Changed("step") {
			return c.ForkSession(ctx, args[0], nil)
		}
		return c.ForkSession(ctx, args[0], &step)
	}, s.printID)
	cmd.Flags().IntVar(&step, "step", 0, "the step that the fork continues (default the last)")
	return cmd
}

func (s *sessionsTool) delete() *cobra.Command {
	return &cobra.Command{
		Use:               "delete ID",
		Short:             "End a session and delete its state; its records stay",
		Example:           "  airlock sessions delete sess_01JD5Z6Q8V0000000000000000",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: s.ids,
		RunE: with(&s.gatewayTool, func(ctx context.Context, c *client.Client, args []string) (map[string]string, error) {
			return map[string]string{"deleted": args[0]}, c.DeleteSession(ctx, args[0])
		}, func(map[string]string) error { return nil }),
	}
}
