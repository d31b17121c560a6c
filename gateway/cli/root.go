package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/state"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/gateway/wiring"
)

// Run executes a command line and returns the exit code of the program.
func Run(args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	con, flush := terminal.New(getenv, stdin, stdout, stderr)
	defer flush()
	root := rootCommand(con)
	root.SetArgs(args)
	err := root.Execute()
	if err != nil && err.Error() != "" {
		text := strings.Join(terminal.ErrorLines(err), "\n")
		prefix := con.Paint(con.Stderr, terminal.Red, "airlock:")
		_, _ = fmt.Fprintln(con.Stderr, prefix+" "+text) // nothing is left to report a failure to
	}
	return exit.Code(err)
}

func rootCommand(con terminal.Console) *cobra.Command {
	root := &cobra.Command{
		Use:   "airlock",
		Short: "Run untrusted JavaScript: a gateway, sandboxed functions, and a record of everything",
		Long: "Run untrusted JavaScript: a gateway, sandboxed functions, and a record of everything.\n\n" + exit.Codes +
			"\n" +
			"Colours appear on terminals only; NO_COLOR disables them. Characters that could steer a terminal or hide\n" +
			"are printed as escapes: \\u{1b} for a character, \\xff for a byte that is not text. JSON uses its own\n" +
			"escapes and keeps its meaning. The output of guests, a function's code and audit export are unchanged in\n" +
			"a pipe or a file, and escaped on a terminal.",
		Example: "  airlock run -e '6 * 7'\n" +
			"  airlock serve\n" +
			"  airlock doctor",
		Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
		Version:       wiring.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(con.Stdin)
	root.SetOut(con.Stdout)
	root.SetErr(con.Stderr)
	root.SetFlagErrorFunc(flagError)
	audit := auditCommand(con)
	audit.AddCommand(replayCommand(con))
	root.AddCommand(
		serveCommand(con), mcpCommand(con), runCommand(con), replayCommand(con), scanCommand(con), tokenCommand(con),
		functionCommand(con), scannerCommand(con),
		functionsCommand(con), audit, state.Command(con), lambdaLocalCommand(con), doctorCommand(con),
	)
	return root
}
