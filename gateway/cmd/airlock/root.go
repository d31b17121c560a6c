package main

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// The exit codes.
const (
	exitGuest    = 1 // the guest failed; for audit verify: a record is bad
	exitUsage    = 2 // the command line or a setting is wrong
	exitBlocked  = 3 // the policy refused
	exitLimit    = 4 // a limit ended the run
	exitPlatform = 5 // something of ours, or of the machine
)

// exitError is an error with the exit code it stands for. Any other error of a command is one of usage.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// exit gives err the exit code it ends the program with.
func exit(code int, err error) error { return &exitError{code, err} }

// console is what a command sees of the outside.
type console struct {
	getenv func(string) string
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
}

// run is the program: it gives the exit code and never exits itself.
func run(args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := rootCommand(console{getenv, stdin, stdout, stderr})
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return 0
	}
	if text := err.Error(); text != "" {
		_, _ = fmt.Fprintln(stderr, "airlock: "+text) // there is nowhere left to say that this failed
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
		Args:  cobra.NoArgs,
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
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		serveCommand(con), mcpCommand(con), runCommand(con), replayCommand(con), scanCommand(con), tokenCommand(con), functionCommand(con.getenv, con.stderr),
		auditCommand(con.getenv, con.stdout, con.stderr), lambdaLocalCommand(con), doctorCommand(con),
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
