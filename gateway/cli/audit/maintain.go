package audit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/infra/records"
	"github.com/airlock-run/airlock/infra/records/filerecords"
)

// pruneCommand applies a retention to a folder. Buckets have lifecycle rules for that: a process that writes records
// there may not delete them.
func (a *tool) pruneCommand() *cobra.Command {
	var age, size string
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove whole days of old records from a folder; verify still passes",
		Long: "Remove whole days of records, oldest first, and note in the store's ledger which part of which chain they\n" +
			"held. Today and yesterday always stay. Buckets are pruned by their own lifecycle rules.",
		Example: "  airlock audit prune --max-age 90d --max-bytes 20gb",
		Args:    cobra.NoArgs,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		var keep filerecords.Retention
		if keep.MaxAge, err = settings.ParseAge("--max-age", age); err != nil {
			return err
		}
		if keep.MaxBytes, err = settings.ParseBytes("--max-bytes", size); err != nil {
			return err
		}
		if keep == (filerecords.Retention{}) {
			return exit.With(exit.Usage, errors.New("set --max-age, --max-bytes or both"))
		}
		name, source := a.name()
		dir, ok := strings.CutPrefix(name, "file://")
		if !ok && strings.Contains(name, "://") {
			return exit.With(exit.Usage, fmt.Errorf("%s: %s is not a folder; buckets need lifecycle rules", source, name))
		}
		if reader, err := filerecords.OpenReader(dir, filerecords.Config{}); err != nil { // never make a folder to prune it
			return exit.With(exit.Platform, fmt.Errorf("%s: %w", source, err))
		} else if err := reader.Close(); err != nil {
			return exit.With(exit.Platform, err)
		}
		store, err := filerecords.Open(dir, filerecords.Config{Key: []byte(a.con.Getenv("AUDIT_CHAIN_KEY"))})
		if err != nil {
			return exit.With(exit.Platform, fmt.Errorf("%s: %w", source, err))
		}
		pruned, err := store.Prune(cmd.Context(), keep)
		if err = errors.Join(err, store.Close()); err != nil {
			return exit.With(exit.Platform, err)
		}
		_, err = fmt.Fprintf(a.con.Stdout, "removed %d records of %d days\n", pruned.Records, len(pruned.Days))
		return err
	}
	cmd.Flags().StringVar(&age, "max-age", "", "how long records are kept, such as 90d or 36h")
	cmd.Flags().StringVar(&size, "max-bytes", "", "size of all records together, such as 20gb")
	return cmd
}

// repairCommand corrects where records are filed.
func (a *tool) repairCommand() *cobra.Command {
	var days bool
	cmd := &cobra.Command{
		Use:   "repair --days",
		Short: "Move records that are filed under the wrong day; verify still passes",
		Long: "Move records that are filed under the wrong day to their own, as earlier releases filed scheduled runs.\n" +
			"No record changes. The ledger of a folder, or a note in the bucket, lists the moved records. Stop the gateways\n" +
			"that write to the records first, and start them afterwards: they read the moved days again.",
		Example: "  airlock audit repair --days\n  airlock audit repair --days --store s3://records/airlock",
		Args:    cobra.NoArgs,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !days {
			return exit.With(exit.Usage, errors.New("set --days"))
		}
		reader, err := a.open(cmd) // never make a folder to repair it
		if err != nil {
			return err
		}
		if err := reader.Close(); err != nil {
			return exit.With(exit.Platform, err)
		}
		store, err := a.openBy(cmd, records.Open)
		if err != nil {
			return err
		}
		done := a.con.Progress("repairing")
		moved, err := store.RepairDays(cmd.Context())
		done()
		for _, m := range moved {
			if _, failed := fmt.Fprintf(a.con.Stdout, "moved %s from %s to %s\n", m.ID, m.From, m.To); failed != nil {
				err = errors.Join(err, failed)
				break
			}
		}
		if err = errors.Join(err, store.Close()); err != nil {
			return exit.With(exit.Platform, err)
		}
		_, err = fmt.Fprintf(a.con.Stdout, "%d records moved\n", len(moved))
		return err
	}
	cmd.Flags().BoolVar(&days, "days", false, "move records to the day of their time")
	return cmd
}
