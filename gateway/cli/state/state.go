// Package state has the command airlock state, which copies the state of gateways. Package cli imports it. Start with
// [Command].
package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/gateway/wiring"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
	"github.com/airlock-run/airlock/infra/state/transfer"
)

// Command returns the command airlock state.
func Command(con terminal.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "state",
		Short:   "Copy saved functions, jobs, schedules and keys to another store",
		Long:    "Copy saved functions, jobs, schedules and keys to another store.",
		Example: "  airlock state copy ./state postgres://airlock@db.example.com/airlock",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(copyCommand(con))
	return cmd
}

func copyCommand(con terminal.Console) *cobra.Command {
	var resume bool
	cmd := &cobra.Command{
		Use:   "copy FROM TO",
		Short: "Copy a state to another store",
		Long: "Copy a state to another store. FROM and TO are values of AIRLOCK_STATE: a folder,\n" +
			"postgres://user@host/database or dynamodb://table?contents=s3://bucket/prefix. FROM may also be\n" +
			"s3://bucket/prefix, where older versions kept their state. Stop all gateways first. The copy has everything\n" +
			"but the index over the records, which is rebuilt. FROM is not changed. Paused executions and sessions are\n" +
			"encrypted with the key in the file snapshots.key of a folder: set SNAPSHOT_KEYS to its content.\n" +
			"If TO holds anything, the copy is refused; --resume continues one that was interrupted. S3_ENDPOINT and the\n" +
			"variables of AWS apply, and so do PGPASSWORD and PGPASSFILE, which keep passwords out of the list of processes.\n" +
			"\n" +
			"Exit codes: 0 copied, 2 wrong arguments, 5 the copy failed or was refused.",
		Example: "  airlock state copy ./state postgres://airlock@db.example.com/airlock\n" +
			"  airlock state copy s3://bucket/state 'dynamodb://airlock?contents=s3://bucket/contents'",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := terminal.Interruptible(cmd.Context())
			defer stop()
			return run(ctx, con, args[0], args[1], resume)
		},
	}
	cmd.Flags().BoolVar(&resume, "resume", false, "continue an interrupted copy; replaces items that both have")
	return cmd
}

// largest bounds the file of a folder that is copied to.
const largest = 1 << 44

func run(ctx context.Context, con terminal.Console, from, to string, resume bool) (err error) {
	if from == to {
		return exit.With(exit.Usage, errors.New("FROM and TO are the same"))
	}
	if settings.IsBucket(to) {
		return exit.With(exit.Usage, errors.New("TO: buckets no longer hold state; copy to a folder, "+
			"postgres://user@host/database or dynamodb://table?contents=s3://bucket/prefix"))
	}
	for _, state := range []string{from, to} {
		if !settings.IsShared(state) && !settings.IsBucket(state) && strings.Contains(state, "://") {
			return exit.With(exit.Usage, errors.New("a state is a folder, postgres://user@host/database, "+
				"dynamodb://table?contents=s3://bucket/prefix or, to copy from, s3://bucket/prefix"))
		}
	}
	if !settings.IsShared(from) && !settings.IsBucket(from) {
		if _, err := os.Stat(from); err != nil {
			return exit.With(exit.Usage, fmt.Errorf("FROM: %w", err))
		}
		if !sqlitestate.Exists(from) {
			return exit.With(exit.Usage, fmt.Errorf("FROM: the folder %s holds no state", terminal.OneLine(from)))
		}
	}
	endpoint := con.Getenv("S3_ENDPOINT")
	source, closeSource, err := wiring.OpenTransfer(ctx, from, endpoint, largest)
	if err != nil {
		return exit.With(exit.Platform, fmt.Errorf("%s: %w", settings.StateName(from), err))
	}
	defer func() { err = errors.Join(err, closeSource()) }()
	target, closeTarget, err := wiring.OpenTransfer(ctx, to, endpoint, largest)
	if err != nil {
		return exit.With(exit.Platform, fmt.Errorf("%s: %w", settings.StateName(to), err))
	}
	defer func() { err = errors.Join(err, closeTarget()) }()
	last := time.Now()
	copied, err := transfer.Copy(ctx, source, target, resume, func(n int) {
		if now := time.Now(); now.Sub(last) >= time.Second {
			last = now
			_, _ = fmt.Fprintf(con.Stderr, "%d copied\n", n) // progress that cannot be shown is not missed
		}
	})
	if err != nil {
		return exit.With(exit.Platform, err)
	}
	if err := report(con, copied); err != nil {
		return err
	}
	if key := wiring.SnapshotKeyFile(from); key != "" && copied["jobs"] > 0 {
		_, err = fmt.Fprintf(con.Stderr, "paused executions and sessions are encrypted with the key in %s: "+
			"set SNAPSHOT_KEYS to its content\n", key)
	}
	return err
}

// report prints what was copied.
func report(con terminal.Console, copied map[string]int) error {
	w := tabwriter.NewWriter(con.Stdout, 0, 0, 2, ' ', 0)
	for _, kind := range []string{"functions", "jobs", "keys", "events", "receivers", "anchors"} {
		_, _ = fmt.Fprintf(w, "%s\t%d\n", kind, copied[kind]) // Flush reports it
	}
	if n := copied[transfer.Nameless]; n > 0 {
		_, _ = fmt.Fprintf(w, "not copied\t%d keys and receivers that an older version stored without their names\n", n)
	}
	if err := w.Flush(); err != nil {
		return exit.With(exit.Platform, err)
	}
	return nil
}
