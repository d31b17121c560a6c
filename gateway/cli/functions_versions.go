package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/gateway/cli/terminal"
	client "github.com/airlock-run/airlock/gateway/client/go"
)

func (f *functionsTool) versions() *cobra.Command {
	return &cobra.Command{
		Use:               "versions NAME",
		Short:             "List the versions of a function, newest first",
		Example:           "  airlock functions versions greet",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.names,
		RunE: with(&f.gatewayTool, func(ctx context.Context, c *client.Client, args []string) ([]client.Version, error) {
			return c.Versions(ctx, args[0])
		}, func(all []client.Version) error {
			w := tabwriter.NewWriter(f.con.Stdout, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "VERSION\tCREATED\tBY\tBYTES\tSHA256\tALIASES")
			for _, v := range all {
				fmt.Fprintf(w, "%d\t%s\t%s\t%d\t%.12s\t%s\n", v.Version, terminal.OneLine(v.CreatedAt),
					terminal.OneLine(v.CreatedBy), v.CodeBytes, terminal.OneLine(v.CodeSHA256),
					terminal.OneLine(strings.Join(v.Aliases, " ")))
			}
			return w.Flush()
		}),
	}
}

func (f *functionsTool) diff() *cobra.Command {
	cmd := &cobra.Command{
		Use:               "diff NAME [FROM [TO]]",
		Short:             "Compare two versions: by default the latest and the one before it",
		Example:           "  airlock functions diff greet\n  airlock functions diff greet 1 3",
		Args:              cobra.RangeArgs(1, 3),
		ValidArgsFunction: f.names,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var ends [2]int
		for i, text := range args[1:] {
			n, err := versionArgument(text)
			if err != nil {
				return err
			}
			ends[i] = n
		}
		return with(&f.gatewayTool, func(ctx context.Context, c *client.Client, args []string) (client.Difference, error) {
			return c.Diff(ctx, args[0], ends[0], ends[1])
		}, f.show)(cmd, args)
	}
	return cmd
}

func versionArgument(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is not the number of a version; airlock functions versions NAME lists them", text)
	}
	return n, nil
}

// show prints a difference as a unified diff, fields before sources.
func (f *functionsTool) show(d client.Difference) error {
	out := f.con.Stdout
	if d.Same {
		_, err := fmt.Fprintf(out, "versions %d and %d are the same\n", d.From, d.To)
		return err
	}
	for _, field := range d.Fields {
		fmt.Fprintf(out, "%s: %s → %s\n", terminal.OneLine(field.Field), terminal.OneLine(string(field.From)),
			terminal.OneLine(string(field.To)))
	}
	for _, path := range slices.Sorted(maps.Keys(d.Files)) {
		for line := range strings.Lines(d.Files[path]) {
			colour := ""
			switch line[0] {
			case '+':
				colour = terminal.Green
			case '-':
				colour = terminal.Red
			}
			text := strings.TrimSuffix(line, "\n")
			if colour != "" {
				text = f.con.Paint(out, colour, text)
			}
			if _, err := fmt.Fprintln(out, text); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *functionsTool) alias() *cobra.Command {
	var drop bool
	cmd := &cobra.Command{
		Use:   "alias NAME [ALIAS [VERSION]]",
		Short: "List the aliases of a function, or create, move or delete one",
		Example: "  airlock functions alias greet\n" +
			"  airlock functions alias greet live 2\n" +
			"  airlock functions alias greet live --delete",
		Args:              cobra.RangeArgs(1, 3),
		ValidArgsFunction: f.names,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		version := 0
		switch {
		case drop && len(args) != 2:
			return fmt.Errorf("--delete: give the name of one alias")
		case !drop && len(args) == 2:
			return fmt.Errorf("give the version for the alias %q, or --delete", args[1])
		case len(args) == 3:
			var err error
			if version, err = versionArgument(args[2]); err != nil {
				return err
			}
		}
		return with(&f.gatewayTool, func(ctx context.Context, c *client.Client, args []string) ([]client.Alias, error) {
			if drop {
				return nil, c.DeleteAlias(ctx, args[0], args[1])
			}
			if version > 0 {
				a, err := c.SetAlias(ctx, args[0], args[1], version)
				return []client.Alias{a}, err
			}
			return c.Aliases(ctx, args[0])
		}, f.showAliases)(cmd, args)
	}
	cmd.Flags().BoolVar(&drop, "delete", false, "delete the alias; its version stays")
	return cmd
}

func (f *functionsTool) showAliases(all []client.Alias) error {
	for _, a := range all {
		before := ""
		if a.Previous > 0 {
			before = fmt.Sprintf(" (before: %d)", a.Previous)
		}
		if _, err := fmt.Fprintf(f.con.Stdout, "%s → version %d%s\n", terminal.OneLine(a.Alias), a.Version,
			before); err != nil {
			return err
		}
	}
	return nil
}

func (f *functionsTool) rollback() *cobra.Command {
	return &cobra.Command{
		Use:               "rollback NAME [ALIAS]",
		Short:             "Point an alias (default latest) where it pointed before",
		Example:           "  airlock functions rollback greet\n  airlock functions rollback greet live",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: f.names,
		RunE: with(&f.gatewayTool, func(ctx context.Context, c *client.Client, args []string) ([]client.Alias, error) {
			a, err := c.Rollback(ctx, args[0], append(args, "")[1])
			return []client.Alias{a}, err
		}, f.showAliases),
	}
}
