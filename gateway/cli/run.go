package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/cli/complete"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	client "github.com/airlock-run/airlock/gateway/client/go"
	"github.com/airlock-run/airlock/policy"
)

// runFlags holds the flags of airlock run.
type runFlags struct {
	code, policy, language, engine, input, memory, store, session string
	timeout                                                       wallTime
	json, watch, wait                                             bool
	gateway                                                       gatewayFlags

	stdin json.RawMessage // standard input as JSON, once it was read
}

// runCommand runs a script in this process or on a gateway.
func runCommand(con terminal.Console) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run FILE | - | -e CODE",
		Short: "Run a script in the sandbox, here and now",
		Long: "Run a script in the sandbox of this process: a file, standard input (-, or a pipe), or the code after -e.\n" +
			"Code that reads its standard input gets that of this command, which must be text, or --input.\n" +
			"With --server a gateway runs it. Console output is printed as it happens, then the result as JSON.\n" +
			"EGRESS_ALLOW opens hosts. --store or AUDIT_STORE records the execution. Ctrl-C stops the guest.\n\n" + exit.Codes,
		Example: "  airlock run script.ts --policy strict --input '{\"n\": 3}'\n" +
			"  airlock run -e 'input.n * 2' --input '{\"n\": 21}'\n" +
			"  cat script.js | airlock run --json | jq .usage\n" +
			"  airlock run report.js --input @figures.json --watch\n" +
			"  airlock run solution.js < test.txt\n" +
			"  airlock run script.js --server https://airlock.example.com\n" +
			"  airlock run refund.js --server https://airlock.example.com --wait\n" +
			"  airlock run -e 'total += 2' --server https://airlock.example.com --session sess_01JD5Z6Q8V0000000000000000",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeScripts,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.watch && (len(args) == 0 || args[0] == "-") {
				return exit.With(exit.Usage, errors.New("--watch: needs a file to watch"))
			}
			request, err := f.request(con, args)
			if err != nil && !f.watch {
				return exit.With(exit.Usage, f.explained(err))
			}
			ctx, stop := terminal.Interruptible(cmd.Context())
			defer stop()
			at, err := f.where(ctx, con)
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				return err
			}
			defer at.close()
			if f.watch {
				return f.watchFile(ctx, con, args, at)
			}
			return f.run(ctx, con, request, at.run)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.code, "eval", "e", "", "the code itself")
	flags.StringVar(&f.policy, "policy", "", "the tier (default standard)")
	flags.StringVar(&f.language, "language", "", "javascript or typescript (default by the file's name)")
	flags.StringVar(&f.engine, "engine", "", "quickjs (default), or this machine's v8 (Node.js) or jsc")
	flags.StringVar(&f.input, "input", "", "the code's input as JSON, or @FILE")
	flags.Var(&f.timeout, "timeout", "wall-clock limit below the tier's: milliseconds, or a duration such as 2s")
	flags.StringVar(&f.memory, "memory", "", "memory limit below the tier's, such as 16mb")
	flags.BoolVar(&f.json, "json", false, "print only the execution result, as JSON")
	flags.BoolVar(&f.watch, "watch", false, "run again after each change of the file, until Ctrl-C")
	flags.BoolVar(&f.wait, "wait", false, "with --server: if the execution pauses, wait for its end")
	flags.StringVar(&f.session, "session", "", "with --server: run as the next step of this session (airlock sessions)")
	flags.StringVar(&f.store, "store", "", "record into file:///path or s3://bucket/prefix (default AUDIT_STORE, else "+
		"nowhere)")
	f.gateway.declare(cmd, con, "")
	cmd.MarkFlagsMutuallyExclusive("session", "wait")
	complete.Script(cmd, con)
	complete.Flag(cmd, "session", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return sessionIDs(cmd.Context(), con, &f.gateway)
	})
	return cmd
}

// place is where code runs.
type place struct {
	run execute
	// spent reports that nothing more should run there.
	spent func() bool
	close func()
}

// where returns the place to run at: the gateway that was named, or a sandbox here.
func (f *runFlags) where(ctx context.Context, con terminal.Console) (place, error) {
	if f.gateway.server != "" {
		if f.store != "" {
			return place{}, exit.With(exit.Usage, errors.New("--store: with --server the gateway keeps the records; omit one "+
				"of them"))
		}
		c, err := f.gateway.client(con)
		if err != nil {
			return place{}, err
		}
		if f.session != "" {
			return place{executeStep(c, f.session), func() bool { return false }, func() {}}, nil
		}
		var paused func(string)
		if f.wait {
			paused = func(id string) {
				fmt.Fprintf(con.Stderr, "the execution %s is paused; waiting for its end (airlock approvals show %[1]s)\n",
					terminal.OneLine(id))
			}
		}
		return place{executeRemotely(c, paused), func() bool { return false }, func() {}}, nil
	}
	if f.wait {
		return place{}, exit.With(exit.Usage, errors.New("--wait: needs --server; a local execution cannot pause"))
	}
	if f.session != "" {
		return place{}, exit.With(exit.Usage, errors.New("--session: needs --server; only a gateway keeps sessions"))
	}
	local, err := localRunner(ctx, con, f.store, f.engine)
	if err != nil {
		return place{}, err
	}
	return place{executeLocally(local), local.spent, local.close}, nil
}

func (f *runFlags) run(ctx context.Context, con terminal.Console, request execution.Request, run execute) error {
	waited := con.Progress("running")
	var onLog func(level, text string)
	if !f.json {
		onLog = func(level, text string) {
			waited()
			echo(con, level, text)
		}
	}
	result, err := run(ctx, request, onLog)
	waited()
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return exit.With(platformCode(err), f.explained(err))
	}
	if err := f.print(con, result); err != nil {
		return exit.With(exit.Platform, fmt.Errorf("print the result: %w", err))
	}
	if result.Status == execution.Cancelled && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return outcome(result, f.json)
}

// echo prints what a guest printed: warnings and errors to standard error.
func echo(con terminal.Console, level, text string) {
	to, colour := con.Stdout, ""
	switch level {
	case "warn":
		to, colour = con.Stderr, terminal.Yellow
	case "error":
		to, colour = con.Stderr, terminal.Red
	}
	if colour != "" {
		text = con.Paint(to, colour, text)
	}
	_, _ = io.WriteString(terminal.OfGuests(to), text)
}

func (f *runFlags) print(con terminal.Console, result execution.Result) error {
	if f.json {
		return printJSON(con.Stdout, result)
	}
	if len(result.Result) == 0 || string(result.Result) == "null" {
		return nil
	}
	_, err := fmt.Fprintln(terminal.OfGuests(con.Stdout), string(result.Result))
	return err
}

// outcome returns the error of an execution with its exit code. With quiet the error has no text, because the JSON
// output holds it.
func outcome(result execution.Result, quiet bool) error {
	code := exit.Guest
	switch {
	case result.Status == execution.Completed && result.ExitCode == 0:
		return nil
	case result.Status == execution.Blocked:
		code = exit.Blocked
	case result.Limit != nil:
		code = exit.Limit
	}
	text := ""
	if !quiet && result.Status == execution.Paused {
		text = "the execution " + result.ID + " is paused and has no result yet; airlock approvals show " + result.ID +
			" prints what it waits for"
	}
	if !quiet && result.Status == execution.Completed {
		text = fmt.Sprintf("the code set process.exitCode to %d", result.ExitCode)
	}
	if !quiet && result.Error != nil {
		text = *result.Error
		if result.Exception != nil && result.Exception.Stack != "" {
			text += "\n" + result.Exception.Stack
		}
	}
	return exit.With(code, terminal.Lines(text))
}

// platformCode returns the exit code of an error: Usage if the request is at fault, Platform otherwise.
func platformCode(err error) int {
	var e *execution.Error
	if errors.As(err, &e) && e.Code == execution.InvalidRequest {
		return exit.Usage
	}
	var p *client.Problem
	if errors.As(err, &p) && p.Status >= 400 && p.Status < 500 && p.Status != 429 {
		return exit.Usage
	}
	return exit.Platform
}

// explained adds a suggestion to the error about a value that is not accepted.
func (f *runFlags) explained(err error) error {
	field := ""
	var e *execution.Error
	var p *client.Problem
	switch {
	case errors.As(err, &e):
		field = e.Field
	case errors.As(err, &p):
		field = p.Field
	}
	switch field {
	case "policy":
		return fmt.Errorf("%w%s", err, didYouMean(f.policy, complete.Tiers(policy.Builtin())))
	case "language":
		return fmt.Errorf("%w%s", err, didYouMean(f.language, complete.Languages()))
	}
	return err
}
