package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/client"
)

// runFlags are those of airlock run.
type runFlags struct {
	code, policy, language, input, memory, store string
	timeout                                      wallTime
	json, watch                                  bool
	gateway                                      gatewayFlags
}

// runCommand runs a script, in this process or by a gateway.
func runCommand(con console) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run FILE | - | -e CODE",
		Short: "Run a script in the sandbox, here and now",
		Long: "Run a script in the sandbox of this process: a file, standard input (-, or a pipe), or the code after -e.\n" +
			"With --server a gateway runs it. The console is printed as it happens, then the result as JSON. EGRESS_ALLOW opens\n" +
			"hosts. The execution is recorded where --store or AUDIT_STORE says so. Ctrl-C stops the guest.\n\n" + exitCodes,
		Example: "  airlock run script.ts --policy strict --input '{\"n\": 3}'\n" +
			"  airlock run -e 'input.n * 2' --input '{\"n\": 21}'\n" +
			"  cat script.js | airlock run --json | jq .usage\n" +
			"  airlock run report.js --input @figures.json --watch\n" +
			"  airlock run script.js --server https://airlock.example.com",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.FixedCompletions([]string{"js", "mjs", "cjs", "ts", "mts", "cts"}, cobra.ShellCompDirectiveFilterFileExt),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.watch && (len(args) == 0 || args[0] == "-") {
				return exit(exitUsage, errors.New("--watch: needs a file to watch"))
			}
			request, err := f.request(con.stdin, args)
			if err != nil && !f.watch {
				return exit(exitUsage, f.explained(err))
			}
			ctx, stop := interruptible(cmd.Context())
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
	flags.StringVar(&f.input, "input", "", "JSON that the code finds as input, or @FILE")
	flags.Var(&f.timeout, "timeout", "less wall time than the tier gives: milliseconds, or such as 2s")
	flags.StringVar(&f.memory, "memory", "", "less memory than the tier gives, such as 16mb")
	flags.BoolVar(&f.json, "json", false, "print the whole execution result as JSON, and nothing else")
	flags.BoolVar(&f.watch, "watch", false, "run again whenever the file changes, until Ctrl-C")
	flags.StringVar(&f.store, "store", "", "record into file:///path or s3://bucket/prefix (default AUDIT_STORE, else nowhere)")
	f.gateway.declare(cmd, con, "")
	completeTiers(cmd, con)
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
func (f *runFlags) where(ctx context.Context, con console) (place, error) {
	if f.gateway.server != "" {
		if f.store != "" {
			return place{}, exit(exitUsage, errors.New("--store: the gateway of --server keeps the records; give one of them"))
		}
		c, err := f.gateway.client(con)
		if err != nil {
			return place{}, err
		}
		return place{executeThere(c), func() bool { return false }, func() {}}, nil
	}
	local, err := localRunner(ctx, con, f.store)
	if err != nil {
		return place{}, err
	}
	return place{executeHere(local.Runner), local.spent, local.close}, nil
}

func (f *runFlags) run(ctx context.Context, con console, request execution.Request, run execute) error {
	waited := con.progress("running")
	var onLog func(level, text string)
	if !f.json {
		onLog = func(level, text string) {
			waited()
			con.echo(level, text)
		}
	}
	result, err := run(ctx, request, onLog)
	waited()
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return exit(platformCode(err), f.explained(err))
	}
	if err := f.print(con, result); err != nil {
		return exit(exitPlatform, fmt.Errorf("print the result: %w", err))
	}
	if result.Status == execution.Cancelled && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return con.outcome(result, f.json)
}

// echo prints what a guest printed: warnings and errors to standard error.
func (con console) echo(level, text string) {
	to, colour := con.stdout, ""
	switch level {
	case "warn":
		to, colour = con.stderr, yellow
	case "error":
		to, colour = con.stderr, red
	}
	if colour != "" {
		text = con.paint(to, colour, text)
	}
	_, _ = io.WriteString(ofGuests(to), text)
}

func (f *runFlags) print(con console, result execution.Result) error {
	if f.json {
		return printJSON(con.stdout, result)
	}
	if len(result.Result) == 0 || string(result.Result) == "null" {
		return nil
	}
	_, err := fmt.Fprintln(ofGuests(con.stdout), string(result.Result))
	return err
}

// outcome is the exit of an execution. With quiet the reason is not printed: it is in the JSON.
func (con console) outcome(result execution.Result, quiet bool) error {
	code := exitGuest
	switch {
	case result.Status == execution.Completed:
		return nil
	case result.Status == execution.Blocked:
		code = exitBlocked
	case result.Limit != nil:
		code = exitLimit
	}
	text := ""
	if !quiet && result.Error != nil {
		text = *result.Error
		if result.Exception != nil && result.Exception.Stack != "" {
			text += "\n" + result.Exception.Stack
		}
	}
	return exit(code, lined(text))
}

// platformCode tells a request that is at fault from what is ours.
func platformCode(err error) int {
	var e *execution.Error
	if errors.As(err, &e) && e.Code == execution.InvalidRequest {
		return exitUsage
	}
	var p *client.Problem
	if errors.As(err, &p) && p.Status >= 400 && p.Status < 500 && p.Status != 429 {
		return exitUsage
	}
	return exitPlatform
}

// explained adds what was probably meant by a value that is none of those accepted.
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
		return fmt.Errorf("%w%s", err, didYouMean(f.policy, builtinTiers()))
	case "language":
		return fmt.Errorf("%w%s", err, didYouMean(f.language, languages))
	}
	return err
}
