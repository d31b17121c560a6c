package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/policy"
)

var (
	languages = []string{"javascript", "typescript"}
	statuses  = []string{"completed", "error", "timeout", "blocked", "cancelled"}
)

// completeTiers adds shell completion of --policy and --language.
func completeTiers(cmd *cobra.Command, con terminal.Console) {
	complete(cmd, "policy", tierCompletions(con))
	complete(cmd, "language", cobra.FixedCompletions(languages, cobra.ShellCompDirectiveNoFileComp))
}

// complete adds shell completion of a flag that the command has.
func complete(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err) // the command has no such flag
	}
}

// tierCompletions completes the names of tiers: those of the policy file if one is set.
func tierCompletions(con terminal.Console) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		names := builtinTiers()
		if rules, _, err := process.ReadRules(con.Getenv); err == nil {
			names = tierNames(rules.Tiers())
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

func builtinTiers() []string { return tierNames(policy.Builtin()) }

func tierNames(tiers []policy.Tier) []string {
	names := make([]string, 0, len(tiers))
	for _, t := range tiers {
		names = append(names, t.Name)
	}
	return names
}

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
