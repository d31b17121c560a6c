package cli

import (
	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/gateway/wiring"
)

// functionCommand serves as a function process of a local pool.
func functionCommand(con terminal.Console) *cobra.Command {
	return &cobra.Command{
		Use:    "function",
		Short:  "Be a function process (airlock serve starts these)",
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
		Short:  "Read code for a gateway, on standard input and output",
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
