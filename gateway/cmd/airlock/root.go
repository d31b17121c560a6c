package main

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// The exit codes. One who is stopped by a signal ends with 128 and its number, as shells count: 130 for Ctrl-C.
const (
	exitGuest    = 1 // the guest failed; for audit verify: a record is bad
	exitUsage    = 2 // the command line or a setting is wrong
	exitBlocked  = 3 // the policy refused
	exitLimit    = 4 // a limit ended the run
	exitPlatform = 5 // something of ours, or of the machine
	exitSignal   = 128
)

// exitCodes is what the help says of them.
const exitCodes = `Exit codes:
  0    completed
  1    the guest failed; for audit verify and export a bad record, for replay a difference
  2    usage: the command line or a setting is wrong, and the message says which
  3    the policy blocked it
  4    a limit ended it
  5    the platform failed: the machine, the store or the gateway
  130  stopped by Ctrl-C (143 by SIGTERM); the guest was stopped too
`

// exitError is an error with the exit code it stands for. Any other error of a command is one of usage.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// exit gives err the exit code it ends the program with.
func exit(code int, err error) error { return &exitError{code, err} }

// run is the program: it gives the exit code and never exits itself.
func run(args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	con, flush := newConsole(getenv, stdin, stdout, stderr)
	defer flush()
	root := rootCommand(con)
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return 0
	}
	if err.Error() != "" {
		text := strings.Join(errorLines(err), "\n")
		_, _ = fmt.Fprintln(con.stderr, con.paint(con.stderr, red, "airlock:")+" "+text) // there is nowhere left to say that this failed
	}
	var coded *exitError
	if errors.As(err, &coded) {
		return coded.code
	}
	return exitUsage
}

func rootCommand(con console) *cobra.Command {
	root := &cobra.Command{
		Use:   "airlock",
		Short: "Run untrusted JavaScript: a gateway, sandboxed functions, and a record of everything",
		Long: "Run untrusted JavaScript: a gateway, sandboxed functions, and a record of everything.\n\n" + exitCodes + "\n" +
			"Colours are for terminals, and NO_COLOR switches them off. What could steer a terminal, or hide, is printed as an escape:\n" +
			"\\u{1b} for a character, \\xff for a byte that is no text. JSON has its own escapes and stays the same to who reads it.\n" +
			"What a guest prints, a function's code and audit export are exact in a pipe or a file, and escaped on a terminal.",
		Example: "  airlock run -e '6 * 7'\n" +
			"  airlock serve\n" +
			"  airlock doctor",
		Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(con.stdin)
	root.SetOut(con.stdout)
	root.SetErr(con.stderr)
	root.SetFlagErrorFunc(flagError)
	audit := auditCommand(con.getenv, con.stdout, con.stderr)
	audit.AddCommand(replayCommand(con))
	root.AddCommand(
		serveCommand(con), mcpCommand(con), runCommand(con), replayCommand(con), scanCommand(con), tokenCommand(con), functionCommand(con.getenv, con.stderr), scannerCommand(con),
		functionsCommand(con), audit, lambdaLocalCommand(con), doctorCommand(con),
	)
	return root
}

// version is what the build recorded about itself.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "devel"
	}
	return info.Main.Version
}
