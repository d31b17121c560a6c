package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/execution"
	auditcmd "github.com/airlock-run/airlock/gateway/cli/audit"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/infra/records"
	"github.com/airlock-run/airlock/policy/audit"
)

// replayCommand runs a recorded execution again and compares.
func replayCommand(con terminal.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay ID",
		Short: "Run a recorded execution again and compare",
		Long: "Run a recorded execution again from its record: request, seed, clock, and the journal of its host calls.\n" +
			"The replay makes no outside calls and writes no record. Records hold what this needs if AUDIT_CODE=keep was\n" +
			"set. A segment after a pause, or a step of a session, is replayed after those that it continued.\n" +
			"\n" +
			"Exit codes: 0 the same execution, 1 it differs (the differences are printed), 2 usage, 5 it cannot be\n" +
			"replayed.",
		Example: "  airlock replay exec_01JD5Z6Q8V0000000000000000 --store file:///var/lib/airlock/audit",
		Args:    cobra.ExactArgs(1),
	}
	auditcmd.OnStore(con, cmd, func(cmd *cobra.Command, store records.Store, args []string) error {
		if !execution.ValidID(args[0]) {
			return exit.With(exit.Usage, fmt.Errorf("%q is not the id of an execution, such as exec_01JD5Z6Q8V0000000000000000",
				args[0]))
		}
		ctx, stop := terminal.Interruptible(cmd.Context())
		defer stop()
		rec, err := store.Get(ctx, args[0])
		if errors.Is(err, audit.ErrNotFound) {
			return exit.With(exit.Platform, fmt.Errorf("no record of %s", args[0]))
		}
		if err != nil {
			return exit.With(exit.Platform, fmt.Errorf("read the record: %w", err))
		}
		unrecording := con
		unrecording.Getenv = without(con.Getenv, "AUDIT_STORE")
		r, err := localRunner(ctx, unrecording, "", "")
		if err != nil {
			return err
		}
		defer r.close()
		earlier, err := audit.Earlier(ctx, store, rec)
		if err != nil {
			return exit.With(exit.Platform, fmt.Errorf("%s cannot be replayed: %w", rec.ID, err))
		}
		again, err := r.Replay(ctx, rec, earlier...)
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return exit.With(exit.Platform, fmt.Errorf("%s cannot be replayed: %w", rec.ID, err))
		}
		for _, d := range again.Differences {
			_, _ = fmt.Fprintln(con.Stdout, strings.ReplaceAll(fmt.Sprint(d), "\n", `\n`))
		}
		if len(again.Differences) > 0 {
			return exit.With(exit.Guest, fmt.Errorf("%s differs from its record", rec.ID))
		}
		_, err = fmt.Fprintf(con.Stdout, "%s: the same execution (%s, %d ticks)\n", rec.ID, again.Result.Status,
			again.Result.Usage.Ticks)
		return err
	})
	return cmd
}

// without returns getenv with one variable unset.
func without(getenv func(string) string, name string) func(string) string {
	return func(n string) string {
		if n == name {
			return ""
		}
		return getenv(n)
	}
}
