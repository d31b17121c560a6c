package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/gateway/cli/terminal"
)

var exampleCall = regexp.MustCompile(`airlock ([a-z][^|<>&)\n]*)`)

// Every command has examples, whose commands and flags exist.
func TestHelpHasExamples(t *testing.T) {
	t.Parallel()
	root := rootCommand(terminal.Console{Getenv: env()})
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if !c.IsAvailableCommand() || c.Name() == "completion" {
			return
		}
		calls := exampleCall.FindAllStringSubmatch(c.Example, -1)
		if len(calls) == 0 {
			t.Errorf("%s has no examples", c.CommandPath())
		}
		for _, call := range calls {
			words := strings.Fields(call[1])
			found, rest, err := root.Find(words)
			if err != nil || found == root {
				t.Errorf("%s: %q calls no command: %v", c.CommandPath(), call[0], err)
				continue
			}
			for _, word := range rest {
				name, isFlag := strings.CutPrefix(word, "--")
				if name, _, _ = strings.Cut(name, "="); isFlag && found.Flags().Lookup(name) == nil &&
					found.InheritedFlags().Lookup(name) == nil {
					t.Errorf("%s: %q has no flag --%s", c.CommandPath(), call[0], name)
				}
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	for _, c := range root.Commands() {
		walk(c)
	}
}
