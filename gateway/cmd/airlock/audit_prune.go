package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/infra/records/filerecords"
)

// pruneCommand applies a retention to a folder. In a bucket that is the work of lifecycle rules: nobody who writes
// records may also delete them there.
func (a *auditTool) pruneCommand() *cobra.Command {
	var age, size string
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove whole days of old records from a folder, so that verify still holds",
		Long: "Remove whole days of records, oldest first, and note in the store's ledger which part of which chain they held.\n" +
			"Today and yesterday always stay. Buckets are pruned by their own lifecycle rules.",
		Example: "  airlock audit prune --max-age 90d --max-bytes 20gb",
		Args:    cobra.NoArgs,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		var keep filerecords.Retention
		if keep.MaxAge, err = length("--max-age", age); err != nil {
			return err
		}
		if keep.MaxBytes, err = bytesOf("--max-bytes", size); err != nil {
			return err
		}
		if keep == (filerecords.Retention{}) {
			return exit(exitUsage, errors.New("set --max-age, --max-bytes or both"))
		}
		name, source := a.name()
		dir, ok := strings.CutPrefix(name, "file://")
		if !ok && strings.Contains(name, "://") {
			return exit(exitUsage, fmt.Errorf("%s: %s is not a folder; give a bucket lifecycle rules", source, name))
		}
		if reader, err := filerecords.OpenReader(dir, filerecords.Config{}); err != nil { // never make a folder to prune it
			return exit(exitPlatform, fmt.Errorf("%s: %w", source, err))
		} else if err := reader.Close(); err != nil {
			return exit(exitPlatform, err)
		}
		store, err := filerecords.Open(dir, filerecords.Config{Key: []byte(a.getenv("AUDIT_CHAIN_KEY"))})
		if err != nil {
			return exit(exitPlatform, fmt.Errorf("%s: %w", source, err))
		}
		pruned, err := store.Prune(cmd.Context(), keep)
		if err = errors.Join(err, store.Close()); err != nil {
			return exit(exitPlatform, err)
		}
		_, err = fmt.Fprintf(a.stdout, "removed %d records of %d days\n", pruned.Records, len(pruned.Days))
		return err
	}
	cmd.Flags().StringVar(&age, "max-age", "", "how long records are kept, such as 90d or 36h")
	cmd.Flags().StringVar(&size, "max-bytes", "", "what all records together may take, such as 20gb")
	return cmd
}

// length reads a length of time that may be given in days. Empty means none.
func length(flag, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	unit := text
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			unit = strconv.FormatUint(n*24, 10) + "h"
		}
	}
	d, err := time.ParseDuration(unit)
	if err != nil || d <= 0 {
		return 0, exit(exitUsage, fmt.Errorf("%s: %q is not a length of time such as 90d or 36h", flag, text))
	}
	return d, nil
}

// bytesOf reads a size, in bytes or with kb, mb, gb or tb (of 1024).
func bytesOf(flag, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	number, shift := strings.ToLower(strings.TrimSpace(text)), 0
	for i, unit := range []string{"kb", "mb", "gb", "tb"} {
		if n, ok := strings.CutSuffix(number, unit); ok {
			number, shift = strings.TrimSpace(n), 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > (1<<62)>>shift {
		return 0, exit(exitUsage, fmt.Errorf("%s: %q is not a size such as 500mb or 20gb", flag, text))
	}
	return n << shift, nil
}
