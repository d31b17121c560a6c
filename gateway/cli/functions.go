package cli

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	client "github.com/airlock-run/airlock/gateway/client/go"
)

// functionsTool holds what the commands for saved functions share.
type functionsTool struct{ gatewayTool }

// functionsCommand manages the saved functions of a gateway.
func functionsCommand(con terminal.Console) *cobra.Command {
	tool := &functionsTool{gatewayTool{con: con}}
	cmd := &cobra.Command{
		Use:   "functions",
		Short: "Save, run and version functions of a gateway",
		Long: "Save, run and version functions of a gateway: the one of --server or AIRLOCK_SERVER, else the one on this " +
			"machine.\n" +
			"Saving creates an immutable version and moves the alias latest. Aliases can be moved, and moved back.\n\n" +
			exit.Codes,
		Example: "  airlock functions put greet greet.js --policy strict\n" +
			"  airlock functions invoke greet --input '{\"name\": \"Ada\"}'\n" +
			"  airlock functions diff greet 1 2\n" +
			"  airlock functions alias greet live 1\n" +
			"  airlock functions rollback greet live",
		Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	tool.declare(cmd)
	cmd.AddCommand(tool.list(), tool.get(), tool.put(), tool.delete(), tool.invoke(), tool.versions(), tool.diff(),
		tool.alias(), tool.rollback())
	return cmd
}

// names completes function names by asking the gateway.
func (f *functionsTool) names(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	c, err := f.gateway.client(f.con)
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	items, err := pages(cmd.Context(), c.Functions)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, item := range items {
		names = append(names, item.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (f *functionsTool) list() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the functions by name",
		Example: "  airlock functions list --json | jq -r '.[].name'",
		Args:    cobra.NoArgs,
		RunE: with(&f.gatewayTool, func(ctx context.Context, c *client.Client, _ []string) ([]client.Function, error) {
			return pages(ctx, c.Functions)
		}, func(all []client.Function) error {
			w := tabwriter.NewWriter(f.con.Stdout, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tLATEST\tCREATED")
			for _, item := range all {
				fmt.Fprintf(w, "%s\t%d\t%s\n", terminal.OneLine(item.Name), item.Version, terminal.OneLine(item.CreatedAt))
			}
			return w.Flush()
		}),
	}
}

func (f *functionsTool) get() *cobra.Command {
	var version int
	var alias string
	cmd := &cobra.Command{
		Use:               "get NAME",
		Short:             "Print the code of a function, or with --json everything",
		Example:           "  airlock functions get greet --alias live\n  airlock functions get greet --version 1 --json",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.names,
		RunE: with(&f.gatewayTool, func(ctx context.Context, c *client.Client, args []string) (client.Saved, error) {
			return c.Function(ctx, args[0], version, alias)
		}, func(saved client.Saved) error {
			if len(saved.Files) > 0 {
				return printJSON(f.con.Stdout, saved.Files)
			}
			_, err := fmt.Fprintln(terminal.OfGuests(f.con.Stdout), saved.Code)
			return err
		}),
	}
	versionFlags(cmd, &version, &alias)
	return cmd
}

func versionFlags(cmd *cobra.Command, version *int, alias *string) {
	cmd.Flags().IntVar(version, "version", 0, "version number (default the latest)")
	cmd.Flags().StringVar(alias, "alias", "", "use the version that this alias points to")
	cmd.MarkFlagsMutuallyExclusive("version", "alias")
}

func (f *functionsTool) delete() *cobra.Command {
	return &cobra.Command{
		Use:               "delete NAME",
		Short:             "Delete a function with all its versions",
		Example:           "  airlock functions delete greet",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.names,
		RunE: with(&f.gatewayTool, func(ctx context.Context, c *client.Client, args []string) (map[string]string, error) {
			return map[string]string{"deleted": args[0]}, c.DeleteFunction(ctx, args[0])
		}, func(map[string]string) error { return nil }),
	}
}

func (f *functionsTool) invoke() *cobra.Command {
	var call client.Call
	var input string
	cmd := &cobra.Command{
		Use:   "invoke NAME",
		Short: "Run a function and wait",
		Long: "Run a function and wait. The console is printed when it ends, then the result as JSON.\n\n" +
			exit.Codes,
		Example: "  airlock functions invoke greet --input '{\"name\": \"Ada\"}'\n  airlock functions invoke " +
			"greet --alias live --input @event.json --json",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.names,
	}
	var result execution.Result
	ask := with(&f.gatewayTool, func(ctx context.Context, c *client.Client, args []string) (execution.Result, error) {
		waited := f.con.Progress("running")
		defer waited()
		invoked, err := c.Invoke(ctx, args[0], call)
		result = invoked.Result
		return result, err
	}, func(result execution.Result) error {
		for _, l := range result.Logs {
			echo(f.con, l.Level, l.Message+"\n")
		}
		return (&runFlags{}).print(f.con, result)
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var err error
		if call.Input, err = jsonFlag("--input", input, f.con.Stdin); err != nil {
			return err
		}
		if err := ask(cmd, args); err != nil {
			return err
		}
		return outcome(result, f.json)
	}
	cmd.Flags().StringVar(&input, "input", "", "the code's input as JSON, or @FILE")
	versionFlags(cmd, &call.Version, &call.Alias)
	return cmd
}
