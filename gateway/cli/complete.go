package cli

import (
	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/policy"
)

var languages = []string{"javascript", "typescript"}

// completeTiers adds shell completion of --policy, by the policy file if one is set, and of --language.
func completeTiers(cmd *cobra.Command, con terminal.Console) {
	tiers := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		names := builtinTiers()
		if rules, _, err := process.ReadRules(con.Getenv); err == nil {
			names = tierNames(rules.Tiers())
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	for flag, complete := range map[string]cobra.CompletionFunc{
		"policy": tiers, "language": cobra.FixedCompletions(languages, cobra.ShellCompDirectiveNoFileComp),
	} {
		if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
			panic(err) // the command has no such flag: a mistake of the line that called this
		}
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
