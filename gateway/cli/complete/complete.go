// Package complete adds shell completions to commands. Package cli and the packages below it import it.
package complete

import (
	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/policy"
)

// Flag completes a flag that the command has.
func Flag(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err) // the command has no such flag
	}
}

// Choices completes a flag that has one of a few values.
func Choices(cmd *cobra.Command, flag string, values ...string) {
	Flag(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// Policy completes the flag --policy with the names of the tiers: those of the policy file if one is set.
func Policy(cmd *cobra.Command, con terminal.Console) {
	Flag(cmd, "policy", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		tiers := policy.Builtin()
		if rules, _, err := process.ReadRules(con.Getenv); err == nil {
			tiers = rules.Tiers()
		}
		return Tiers(tiers), cobra.ShellCompDirectiveNoFileComp
	})
}

// Script completes the flags --policy and --language of a command that takes code.
func Script(cmd *cobra.Command, con terminal.Console) {
	Policy(cmd, con)
	Choices(cmd, "language", Languages()...)
}

// Languages returns the languages of code.
func Languages() []string { return []string{"javascript", "typescript"} }

// Tiers returns the names of tiers.
func Tiers(tiers []policy.Tier) []string {
	names := make([]string, 0, len(tiers))
	for _, t := range tiers {
		names = append(names, t.Name)
	}
	return names
}
