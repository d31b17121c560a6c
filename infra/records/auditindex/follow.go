package auditindex

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/airlock-run/airlock/policy/audit"
)

// A Log is a record store whose lines are filed by day and only ever appended.
type Log interface {
	audit.Store
	// Days returns the UTC days (2006-01-02) with records, oldest first.
	Days(ctx context.Context) ([]string, error)
	// Lines calls fn with the whole lines of a day from offset on, and with the offset after each. A day without
	// records has none. The bytes are valid until fn returns.
	Lines(ctx context.Context, day string, offset int64, fn func(line []byte, next int64) error) error
}

// A logFeed follows a Log. Only the holder of the turn uses it.
type logFeed struct {
	*Index
	log     Log
	checked bool // the last lines of all days were compared
}

func (*logFeed) place() string { return "" } // the last line of a day tells it from a day of other records

// file is how far a day has been read.
type file struct {
	id     int64
	day    string
	offset int64  // of a log; of a bucket when its names were last listed, in Unix milliseconds
	last   int64  // where the last line read begins
	mark   []byte // its SHA-256
}

// A row is a record on its way into the index.
type row struct {
	audit.Outline
	at  any    // the offset of its line, or the name of its object
	doc []byte // the outline's JSON
}

func rowOf(o audit.Outline, at any) row { return row{o, at, appendOutline(nil, &o)} }

// A batch is a run of consecutive lines of a day.
type batch struct {
	of       *file
	from, to int64
	rows     []row
	last     int64
	mark     []byte
}

var (
	errEnough = errors.New("enough was read")
	// errElsewhere means that another process has indexed these lines.
	errElsewhere = errors.New("the index was changed by another process")
)

// catchUp indexes what was added to the records. What it has indexed when ctx ends stays.
func (x *Index) catchUp(ctx context.Context) error {
	select {
	case <-x.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { x.turn <- struct{}{} }()
	for {
		err := x.feed.follow(ctx)
		if err == nil {
			return x.order(ctx)
		}
		if !errors.Is(err, errElsewhere) {
			return err
		}
	}
}

// order creates the indexes of the file.
func (x *Index) order(ctx context.Context) error {
	if x.ordered {
		return nil
	}
	err := x.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, indexes)
		return err
	})
	x.ordered = err == nil
	return err
}

func (x *logFeed) follow(ctx context.Context) error {
	days, err := x.log.Days(ctx)
	if err != nil {
		return err
	}
	known, err := x.among(ctx, days)
	if err != nil {
		return err
	}
	var files []*file
	for i, day := range days {
		f, ok := known[day]
		if ok && (!x.checked || i == len(days)-1) {
			same, err := x.same(ctx, f)
			if err != nil {
				return err
			}
			if !same {
				x.cfg.Log.Info("a day of records was replaced; reading it again", "day", day)
				if err := x.forget(ctx, f); err != nil {
					return err
				}
				f = file{}
			}
		}
		f.day = day
		files = append(files, &f)
	}
	if err := x.take(ctx, files); err != nil {
		return err
	}
	x.checked = true
	return nil
}

// among returns how far each of the days has been read, and removes every other day from the index.
func (x *Index) among(ctx context.Context, days []string) (map[string]file, error) {
	known, err := x.files(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range known {
		if !slices.Contains(days, f.day) {
			if err := x.forget(ctx, f); err != nil {
				return nil, err
			}
			delete(known, f.day)
		}
	}
	return known, nil
}

func (x *Index) files(ctx context.Context) (_ map[string]file, err error) {
	rows, err := x.db.QueryContext(ctx, "SELECT id, day, offset, last, mark FROM files")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	all := map[string]file{}
	for rows.Next() {
		var f file
		if err := rows.Scan(&f.id, &f.day, &f.offset, &f.last, &f.mark); err != nil {
			return nil, err
		}
		all[f.day] = f
	}
	return all, rows.Err()
}

// same reports whether the last line that was read of a day is still there.
func (x *logFeed) same(ctx context.Context, f file) (bool, error) {
	same := false
	err := x.log.Lines(ctx, f.day, f.last, func(line []byte, next int64) error {
		sum := sha256.Sum256(line)
		same = next == f.offset && bytes.Equal(sum[:], f.mark)
		return errEnough
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return same, err
}

// forget removes a day from the index.
func (x *Index) forget(ctx context.Context, f file) error {
	return x.change(ctx, func(tx *sql.Tx) error {
		for _, q := range []string{"DELETE FROM records WHERE file = ?", "DELETE FROM figures WHERE file = ?",
			"DELETE FROM names WHERE file = ?", "DELETE FROM files WHERE id = ?"} {
			if _, err := tx.Exec(q, f.id); err != nil {
				return err
			}
		}
		return nil
	})
}

// take reads on in days; it reads the lines of one batch while the previous one is written.
func (x *logFeed) take(ctx context.Context, files []*file) error {
	batches := make(chan batch, 1)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(batches)
		for _, f := range files {
			if err := x.read(ctx, f, batches); err != nil {
				return err
			}
		}
		return nil
	})
	group.Go(func() error {
		for b := range batches {
			// Keep what was read even if nobody waits for it any more.
			if err := x.keep(context.WithoutCancel(ctx), b.of, b); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}

func (x *logFeed) read(ctx context.Context, f *file, batches chan<- batch) error {
	day, begin := f.day, f.offset // f is the writer's from the first batch on
	b := batch{of: f, from: begin, to: begin}
	var last []byte
	var outlines audit.Outlines
	send := func() error {
		sum := sha256.Sum256(last)
		b.mark = sum[:]
		select {
		case batches <- b:
		case <-ctx.Done():
			return ctx.Err()
		}
		b = batch{of: f, from: b.to, to: b.to}
		return nil
	}
	err := x.log.Lines(ctx, day, begin, func(line []byte, next int64) error {
		// Skip a line that is not a record: Verify names it.
		if o, err := outlines.Read(line); err == nil && o.ID != "" {
			b.rows = append(b.rows, rowOf(o, b.to))
		}
		b.last, b.to = b.to, next
		last = append(last[:0], line...)
		if len(b.rows) >= x.cfg.Batch {
			return send()
		}
		return nil
	})
	if err == nil && b.to > b.from {
		err = send()
	}
	return err
}

func (x *Index) change(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("keep the index: %w", err)
	}
	return nil
}

// near is the number of bytes of other lines that are skipped rather than opening the file again.
const near = 64 << 10

func (x *logFeed) lines(ctx context.Context, places []place, fn func(at place, line []byte) error) error {
	type spot struct {
		place
		offset int64
	}
	wanted := make([]spot, 0, len(places))
	for _, p := range places {
		offset, err := strconv.ParseInt(p.at, 10, 64)
		if err != nil {
			return fmt.Errorf("the offset of record %s: %w", p.id, err)
		}
		wanted = append(wanted, spot{p, offset})
	}
	slices.SortFunc(wanted, func(a, b spot) int {
		return cmp.Or(strings.Compare(a.day, b.day), cmp.Compare(a.offset, b.offset))
	})
	for len(wanted) > 0 {
		first := wanted[0]
		at := first.offset
		err := x.log.Lines(ctx, first.day, at, func(line []byte, next int64) error {
			if at == wanted[0].offset {
				if err := fn(wanted[0].place, line); err != nil {
					return err
				}
			}
			at = next
			for wanted[0].day == first.day && wanted[0].offset < next {
				if wanted = wanted[1:]; len(wanted) == 0 {
					return errEnough
				}
			}
			if wanted[0].day != first.day || wanted[0].offset-next > near {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
		// What lies behind the end of the day is gone.
		for len(wanted) > 0 && err == nil && wanted[0].day == first.day {
			wanted = wanted[1:]
		}
	}
	return nil
}
