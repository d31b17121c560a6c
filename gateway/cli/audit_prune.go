package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/infra/records/filerecords"
)

// pruneCommand applies a retention to a folder. Buckets have lifecycle rules for that: a process that writes records
// there may not delete them.
func (a *auditTool) pruneCommand() *cobra.Command {
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
