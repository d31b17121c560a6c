package cli

import (
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/cli/audit"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/packages"
	"github.com/airlock-run/airlock/gateway/cli/state"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/infra/lockdown"
	"github.com/airlock-run/airlock/sandbox"
)

// Run executes a command line and returns the exit code of the program.
func Run(args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	lockdown.KeepDescriptors()
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

// versionCommand prints the versions of the program and of what it is built with.
func versionCommand(con terminal.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of the program, its engine and Go",
		Example: "  airlock version\n" +
			"  airlock --version",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(con.Stdout, "airlock %s\nengine  %s\ngo      %s %s/%s\n", api.Version(),
				sandbox.EngineBuilds()[0], strings.TrimPrefix(runtime.Version(), "go"), runtime.GOOS, runtime.GOARCH)
			if err != nil {
				return exit.With(exit.Platform, err)
			}
			return nil
		},
	}
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
		Version:       api.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(con.Stdin)
	root.SetOut(con.Stdout)
	root.SetErr(con.Stderr)
	root.SetFlagErrorFunc(flagError)
	records := audit.Command(con)
	records.AddCommand(replayCommand(con))
	root.AddCommand(
		serveCommand(con), mcpCommand(con), runCommand(con), replayCommand(con), scanCommand(con), tokenCommand(con),
		functionCommand(con), scannerCommand(con), functionsCommand(con), approvalsCommand(con), sessionsCommand(con),
		packages.Command(con), records, state.Command(con), lambdaLocalCommand(con),
		doctorCommand(con), versionCommand(con),
	)
	return root
}
