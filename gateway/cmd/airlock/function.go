package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/process"
)

// functionCommand is one function process of this machine's pool.
func functionCommand(getenv func(string) string, stderr io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:    "function",
		Short:  "Be a function process (airlock serve starts these)",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := process.Serve(cmd.Context(), getenv, cmd.InOrStdin(), stderr); err != nil {
				return exit(exitPlatform, err)
			}
			return nil
		},
	}
}
