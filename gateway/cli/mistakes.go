package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/airlock-run/airlock/gateway/wiring/settings"
)

// didYouMean returns a suggestion to append to a message about typed.
func didYouMean(typed string, candidates []string) string {
	if meant := settings.Nearest(typed, candidates); meant != "" {
		return "; did you mean " + meant + "?"
	}
	return ""
}

// flagError adds a suggestion and the help command to an error about a flag.
func flagError(cmd *cobra.Command, err error) error {
	where := " (" + cmd.CommandPath() + " --help lists the flags)"
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return fmt.Errorf("%w%s", err, where)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	hint := ""
	if meant := settings.Nearest(unknown.GetSpecifiedName(), names); meant != "" &&
		unknown.GetSpecifiedShortnames() == "" {
		hint = "; did you mean --" + meant + "?"
	}
	return fmt.Errorf("%w%s%s", err, hint, where)
}

// subcommand accepts no arguments: any argument was meant to be a command.
func subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("unknown command %q for %q%s (%s --help lists the commands)", args[0], cmd.CommandPath(),
		didYouMean(args[0], names), cmd.CommandPath())
}
