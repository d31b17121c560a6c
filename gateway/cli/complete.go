package cli

import (
	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
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
		panic(err) // the command has no such flag: a mistake of the caller
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
