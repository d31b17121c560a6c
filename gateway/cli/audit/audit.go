package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/cli/complete"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/infra/records"
	"github.com/airlock-run/airlock/infra/records/s3records"
	"github.com/airlock-run/airlock/policy/audit"
)

// tool holds what the commands share.
type tool struct {
	con   terminal.Console
	store string
	keeps string // how long a bucket's lifecycle rules keep records
}

// statuses are those of executions.
var statuses = []string{"completed", "error", "timeout", "blocked", "cancelled"}

// Command returns the command that reads and checks the records of executions.
func Command(con terminal.Console) *cobra.Command {
	a := &tool{con: con}
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Verify, list, show and export the records of executions",
		Example: "  airlock audit list --status error --since 24h\n" +
			"  airlock audit verify --store s3://records/airlock",
		Long: "Verify, list, show and export the records of executions.\n" +
			"If AUDIT_CHAIN_KEY is set, the keyed codes of the records are checked with it.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	a.declare(cmd.PersistentFlags())
	cmd.AddCommand(a.verifyCommand(), a.listCommand(), a.showCommand(), a.exportCommand(), a.pruneCommand(),
		a.repairCommand(), a.checkpointCommand(), a.keygenCommand())
	return cmd
}

// OnStore adds the flag --store to a command, which runs fn on the open store.
func OnStore(con terminal.Console, cmd *cobra.Command, fn func(*cobra.Command, records.Store, []string) error) {
	a := &tool{con: con}
	a.declare(cmd.Flags())
	cmd.RunE = a.with(fn)
}

// declare adds the flag --store.
func (a *tool) declare(flags *pflag.FlagSet) {
	flags.StringVar(&a.store, "store", "", "file:///path or s3://bucket/prefix (default AUDIT_STORE, else ./audit)")
}

// name returns the store's URL and the flag or variable that names it.
func (a *tool) name() (store, source string) {
	if a.store != "" {
		return a.store, "--store"
	}
	if store = strings.TrimSpace(a.con.Getenv("AUDIT_STORE")); store != "" {
		return store, "AUDIT_STORE"
	}
	return "audit", "the folder ./audit (set --store or AUDIT_STORE)"
}

// open opens the store for reading.
func (a *tool) open(cmd *cobra.Command) (records.Store, error) {
	return a.openBy(cmd, records.OpenReader)
}

func (a *tool) openBy(cmd *cobra.Command,
	open func(context.Context, string, records.Config) (records.Store, error)) (records.Store, error) {
	name, source := a.name()
	keeps, err := settings.ParseAge("--lifecycle", a.keeps)
	if err != nil {
		return nil, err
	}
	store, err := open(cmd.Context(), name, records.Config{
		Key: []byte(a.con.Getenv("AUDIT_CHAIN_KEY")),
		S3:  s3records.Config{Endpoint: a.con.Getenv("S3_ENDPOINT"), Keeps: keeps},
	})
	if err != nil {
		return nil, exit.With(exit.Platform, fmt.Errorf("%s: %w", source, err))
	}
	return store, nil
}

// with returns a RunE that runs fn on the open store.
func (a *tool) with(fn func(cmd *cobra.Command, store records.Store, args []string) error) func(*cobra.Command,
	[]string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		store, err := a.open(cmd)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
		return fn(cmd, store, args)
	}
}

func (a *tool) verifyCommand() *cobra.Command {
	var asJSON bool
	var against anchorFlags
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that no record is missing, altered, reordered, truncated, duplicated or misfiled",
		Long: "Check every record against its hash, its chain, and the state of its writer. Print one line for each bad\n" +
			"record and exit with code 1.\n" +
			"\n" +
			"A store that was restored to an older state as a whole, or emptied, is consistent in itself. It\n" +
			"contradicts an anchor: the one that the gateway keeps in AIRLOCK_STATE, a checkpoint, or a head that you\n" +
			"noted. The last line says which anchors the records were checked against.",
		Example: "  airlock audit verify\n  airlock audit verify --json --store file:///var/lib/airlock/audit\n" +
			"  airlock audit verify --checkpoint records.checkpoint --checkpoint-key checkpoint.pub",
		Args: cobra.NoArgs,
		RunE: a.with(func(cmd *cobra.Command, store records.Store, _ []string) error {
			anchors, err := against.given(cmd.Context(), a)
			if err != nil {
				return err
			}
			done := a.con.Progress("verifying")
			report, err := store.VerifyAgainst(cmd.Context(), anchors)
			done()
			if err != nil {
				return exit.With(exit.Platform, err)
			}
			if asJSON {
				err = json.NewEncoder(terminal.JSON(a.con.Stdout)).Encode(report)
			} else {
				err = a.tell(report)
			}
			if err != nil {
				return exit.With(exit.Platform, err)
			}
			if !report.OK() {
				return exit.With(exit.Guest, fmt.Errorf("%d problems in %d records", len(report.Problems)+report.Omitted,
					report.Records))
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	cmd.Flags().StringArrayVar(&against.heads, "expect-head", nil,
		"a head that the records must contain, as printed by airlock audit checkpoint: writer:number:hash; may be repeated")
	cmd.Flags().StringVar(&against.checkpoint, "checkpoint", "",
		"a file with a checkpoint that the records must match")
	cmd.Flags().StringVar(&against.key, "checkpoint-key", "",
		"the public key that the checkpoint must be signed with, or its file")
	cmd.Flags().StringVar(&a.keeps, "lifecycle", "",
		"how long a bucket's lifecycle rules keep records, such as 90d (default: ask the bucket)")
	return cmd
}

func (a *tool) tell(report audit.Report) error {
	out := bufio.NewWriter(a.con.Stdout)
	for _, p := range report.Problems {
		fmt.Fprintln(out, strings.ReplaceAll(p.String(), "\n", `\n`))
	}
	if report.Omitted > 0 {
		fmt.Fprintf(out, "and %d more\n", report.Omitted)
	}
	if report.OK() {
		fmt.Fprintf(out, "ok: %d records by %d writers, every chain holds\n", report.Records, report.Writers)
	}
	for _, anchor := range report.Anchors {
		fmt.Fprintf(out, "anchored to %s: %d writers", anchor.Source, anchor.Writers)
		if !anchor.At.IsZero() {
			fmt.Fprintf(out, " as of %s", anchor.At.UTC().Format(time.RFC3339))
		}
		if anchor.Pruned > 0 {
			fmt.Fprintf(out, ", of which retention has removed the newest record of %d", anchor.Pruned)
		}
		fmt.Fprintln(out)
	}
	if len(report.Anchors) == 0 {
		fmt.Fprintln(out, "not anchored: this cannot tell whether the whole store was restored to an older state; see "+
			"airlock audit checkpoint")
	}
	return out.Flush()
}

func (a *tool) listCommand() *cobra.Command {
	var q audit.Query
	var since, until string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List records, newest first",
		Example: "  airlock audit list --limit 20\n" +
			"  airlock audit list --function report --status error\n" +
			"  airlock audit list --status blocked --since 7d --json | jq -r '.items[].id'",
		Args: cobra.NoArgs,
	}
	cmd.RunE = a.with(func(cmd *cobra.Command, store records.Store, _ []string) (err error) {
		if q.Since, err = instant("--since", since); err != nil {
			return err
		}
		if q.Until, err = instant("--until", until); err != nil {
			return err
		}
		if q.Limit < 1 || q.Limit > 500 {
			return exit.With(exit.Usage, errors.New("--limit: must be from 1 to 500"))
		}
		if q.Status != "" && !slices.Contains(statuses, q.Status) {
			return exit.With(exit.Usage, fmt.Errorf("--status: must be one of %s; got %q", strings.Join(statuses, ", "),
				q.Status))
		}
		page, err := store.List(cmd.Context(), q)
		if errors.Is(err, audit.ErrCursor) {
			return exit.With(exit.Usage, fmt.Errorf("--cursor: %w", err))
		}
		if err != nil {
			return exit.With(exit.Platform, err)
		}
		if err := a.print(page, asJSON); err != nil {
			return exit.With(exit.Platform, err)
		}
		if page.Next != "" && !asJSON {
			fmt.Fprintf(a.con.Stderr, "more: --cursor %s\n", page.Next)
		}
		return nil
	})
	f := cmd.Flags()
	f.IntVar(&q.Limit, "limit", 50, "maximum number of records, up to 500")
	f.StringVar(&q.Cursor, "cursor", "", "the field next of the previous page")
	f.StringVar(&q.Status, "status", "", "only records with this status: completed, error, timeout, blocked or cancelled")
	f.StringVar(&q.Policy, "policy", "", "only records under this tier")
	f.StringVar(&q.Tenant, "tenant", "", "only records of this tenant")
	f.StringVar(&q.Function, "function", "", "only records of runs of this saved function")
	f.StringVar(&since, "since", "", "only records received at that time or later (2006-01-02, 2006-01-02T15:04:05Z, or "+
		"36h ago)")
	f.StringVar(&until, "until", "", "only records received before that time")
	f.BoolVar(&asJSON, "json", false, `print {"items": […], "next": "cursor" or null}`)
	complete.Choices(cmd, "status", statuses...)
	complete.Policy(cmd, a.con)
	return cmd
}

func (a *tool) print(page audit.Page, asJSON bool) error {
	if asJSON {
		doc := struct {
			Items []audit.Record `json:"items"`
			Next  *string        `json:"next"`
		}{Items: page.Items}
		if page.Next != "" {
			doc.Next = &page.Next
		}
		return json.NewEncoder(terminal.JSON(a.con.Stdout)).Encode(doc)
	}
	w := tabwriter.NewWriter(a.con.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "TIME\tID\tSTATUS\tPOLICY\tTENANT\tMS")
	for _, r := range page.Items {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%.1f\n", r.Time.UTC().Format(time.RFC3339), terminal.OneLine(r.ID),
			terminal.OneLine(r.Status),
			terminal.OneLine(r.Policy), terminal.OneLine(r.Caller.Tenant), r.DurationMs)
	}
	return w.Flush()
}

func (a *tool) showCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Check and print one record; of an execution that paused, all its records",
		Long: "Check and print the record of an execution as JSON. An execution that paused has more records, which are\n" +
			"printed after it in order: each segment, the decisions about what it waited for, and the end.",
		Example: "  airlock audit show exec_01JD5Z6Q8V0000000000000000\n" +
			"  airlock audit show exec_01JD5Z6Q8V0000000000000000 | jq -r '[.segment, .status, .decision.decision] | @tsv'",
		Args: cobra.ExactArgs(1),
		RunE: a.with(func(cmd *cobra.Command, store records.Store, args []string) error {
			r, err := checked(cmd.Context(), store, args[0])
			if err != nil {
				return err
			}
			story := []audit.Record{r}
			if r.Status == string(execution.Paused) && r.Parent == "" {
				later, err := laterRecords(cmd.Context(), store, r)
				if err != nil {
					return err
				}
				story = append(story, later...)
			}
			enc := json.NewEncoder(terminal.JSON(a.con.Stdout))
			enc.SetIndent("", "  ")
			for _, r := range story {
				if err := enc.Encode(r); err != nil {
					return exit.With(exit.Platform, err)
				}
			}
			return nil
		}),
	}
}

// checked returns a record that has not been altered.
func checked(ctx context.Context, store records.Store, id string) (audit.Record, error) {
	r, err := store.Get(ctx, id)
	if errors.Is(err, audit.ErrNotFound) || errors.Is(err, audit.ErrAltered) {
		return r, exit.With(exit.Guest, fmt.Errorf("%.128q: %w", id, err))
	}
	if err != nil {
		return r, exit.With(exit.Platform, err)
	}
	return r, nil
}

// laterRecords returns the records of an execution after its first pause, each checked, in order.
func laterRecords(ctx context.Context, store records.Store, first audit.Record) ([]audit.Record, error) {
	var ids []string
	err := store.Each(ctx, first.Time, func(line []byte) error {
		if r, err := audit.Decode(bytes.TrimSuffix(line, []byte("\n"))); err == nil && r.Parent == first.ID {
			ids = append(ids, r.ID)
		}
		return nil
	})
	if err != nil {
		return nil, exit.With(exit.Platform, err)
	}
	var later []audit.Record
	for _, id := range ids {
		r, err := checked(ctx, store, id)
		if err != nil {
			return nil, err
		}
		later = append(later, r)
	}
	slices.SortStableFunc(later, func(a, b audit.Record) int {
		return cmp.Or(cmp.Compare(a.Segment, b.Segment), cmp.Compare(rank(a), rank(b)), a.Time.Compare(b.Time),
			strings.Compare(a.ID, b.ID))
	})
	return later, nil
}

// rank orders the records of one segment: what ran, the decisions about what it waited for, and an end while it waited.
func rank(r audit.Record) int {
	switch {
	case r.Status == string(execution.Expired), r.Status == string(execution.Cancelled):
		return 2
	case r.Decision != nil:
		return 1
	}
	return 0
}

func (a *tool) exportCommand() *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use:     "export",
		Short:   "Print records as they are stored, one JSON object per line",
		Example: "  airlock audit export --since 2026-01-31 > records.jsonl",
		Args:    cobra.NoArgs,
	}
	cmd.RunE = a.with(func(cmd *cobra.Command, store records.Store, _ []string) error {
		from, err := instant("--since", since)
		if err != nil {
			return err
		}
		out, bad := bufio.NewWriterSize(a.lines(), 256<<10), 0
		err = store.Each(cmd.Context(), from, func(line []byte) error {
			line = bytes.TrimSuffix(line, []byte("\n"))
			if _, err := audit.Decode(line); err != nil || bytes.IndexByte(line, '\n') >= 0 {
				bad++
				return nil
			}
			_, err := out.Write(append(line, '\n'))
			return err
		})
		if flushed := out.Flush(); err == nil { // otherwise Flush returns err again
			err = flushed
		}
		if err != nil {
			return exit.With(exit.Platform, fmt.Errorf("export: %w", err))
		}
		if bad > 0 {
			return exit.With(exit.Guest, fmt.Errorf("export: %d lines are not records and were left out; airlock audit verify "+
				"names them", bad))
		}
		return nil
	})
	cmd.Flags().StringVar(&since, "since", "",
		"only records received at that time or later (2006-01-02, 2006-01-02T15:04:05Z, or 36h ago)")
	return cmd
}

// lines returns the writer for stored lines: their bytes are what was hashed, so only a terminal gets escapes.
func (a *tool) lines() io.Writer {
	if terminal.IsTerminal(a.con.Stdout) {
		return terminal.JSON(a.con.Stdout)
	}
	return terminal.Exact(a.con.Stdout)
}

// instant reads a day, a time, or how long ago. Empty means none.
func instant(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly, "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	if d, err := settings.ParseAge(flag, text); err == nil {
		return time.Now().Add(-d).UTC(), nil
	}
	return time.Time{}, exit.With(exit.Usage,
		fmt.Errorf("%s: %q is neither a day (2006-01-02), a time (2006-01-02T15:04:05Z) nor a duration such as 36h or 7d",
			flag, text))
}
