package auditindex

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/airlock-run/airlock/policy/audit"
)

// Bucket is a store that has each record as an object of its own, filed by day under a name that begins with the id,
// and so with the time at which the id was made.
type Bucket interface {
	audit.Store
	// Place names the store; another place holds other records.
	Place() string
	// Days gives the UTC days (2006-01-02) that have records, oldest first.
	Days(ctx context.Context) ([]string, error)
	// Names calls fn with the names of a day's objects, some at a time: all those with ids made at since or later, which
	// may be the zero time.
	Names(ctx context.Context, day string, since time.Time, fn func(names []string) error) error
	// Objects calls fn with the lines of a day's objects, in the order of names. Those that are gone are left out.
	Objects(ctx context.Context, day string, names []string, fn func(name string, line []byte) error) error
}

// Records do not appear in the order of their ids: an execution that was accepted early may run late, and a spool may
// be sent hours after. So the names of the last while are listed before each question, and those of whole days from
// time to time, in the background: for a twentieth of the time at most, and not more often than every sweepPause.
const (
	sweepPause = 10 * time.Second
	sweepShare = 20
	// sweepDays is how many of the newest days are listed again and again. Older ones are when the index is opened.
	sweepDays = 3
)

// bucketFeed follows a Bucket. Those who hold the turn use it.
type bucketFeed struct {
	*Index
	bucket   Bucket
	sweeping bool
	swept    bool // since the index was opened
	due      time.Time
}

func (x *bucketFeed) place() string { return x.bucket.Place() }

func (x *bucketFeed) follow(ctx context.Context) error {
	days, err := x.bucket.Days(ctx)
	if err != nil {
		return err
	}
	known, err := x.among(ctx, days)
	if err != nil {
		return err
	}
	for _, day := range days {
		f, ok := known[day]
		if !ok {
			f.day = day
			err = x.list(ctx, f, time.Time{})
		} else if since := time.UnixMilli(f.offset).Add(-x.cfg.Late); since.Before(endOf(day)) {
			err = x.list(ctx, f, since)
		}
		if err != nil {
			return err
		}
	}
	x.sweep(days)
	return nil
}

// endOf is when ids of a day are no longer made, by clocks that are at most an hour wrong.
func endOf(day string) time.Time {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return time.Time{}
	}
	return t.Add(25 * time.Hour)
}

// sweep lists whole days in the background, when it is time to.
func (x *bucketFeed) sweep(days []string) {
	if x.sweeping || x.cfg.Now().Before(x.due) {
		return
	}
	if x.swept {
		days = days[max(len(days)-sweepDays, 0):]
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.running.Err() != nil {
		return
	}
	x.sweeping = true
	x.work.Go(func() {
		began := x.cfg.Now()
		err := x.sweepAll(x.running, days)
		if err != nil && x.running.Err() == nil {
			x.cfg.Log.Warn("days of records could not be compared with their index", "error", x.noted(err))
		}
		<-x.turn
		defer func() { x.turn <- struct{}{} }()
		now := x.cfg.Now()
		x.sweeping, x.swept, x.due = false, x.swept || err == nil, now.Add(max(sweepPause, sweepShare*now.Sub(began)))
	})
}

// sweepAll compares day by day, newest first; between them others have their turn.
func (x *bucketFeed) sweepAll(ctx context.Context, days []string) error {
	for _, day := range slices.Backward(days) {
		select {
		case <-x.turn:
		case <-ctx.Done():
			return ctx.Err()
		}
		err := x.compare(ctx, day)
		x.turn <- struct{}{}
		if err != nil {
			return err
		}
	}
	return nil
}

// compare lists a day from its beginning. One that has lost objects is taken in anew.
func (x *bucketFeed) compare(ctx context.Context, day string) error {
	known, err := x.files(ctx)
	if err != nil {
		return err
	}
	f, ok := known[day]
	if !ok {
		return nil // it is gone, or it comes with the next question
	}
	err = x.list(ctx, f, time.Time{})
	if errors.Is(err, errLost) {
		x.cfg.Log.Info("a day of records has lost some that were indexed; it is read again", "day", day)
		if err = x.forget(ctx, f); err == nil {
			err = x.list(ctx, file{day: day}, time.Time{})
		}
	}
	return err
}

// errLost says that the index has records that are not there.
var errLost = errors.New("records that were indexed are gone")

// list takes in what is new of a day among the ids made at since or later. When that is all, it is errLost unless what
// the index had is still there.
func (x *bucketFeed) list(ctx context.Context, f file, since time.Time) error {
	before := f.offset
	f.offset = x.cfg.Now().UnixMilli()
	had, found := 0, 0
	if err := x.db.QueryRowContext(ctx, "SELECT count(*) FROM names WHERE file = ? AND ?", f.id,
		since.IsZero()).Scan(&had); err != nil {
		return err
	}
	var fresh []string
	err := x.bucket.Names(ctx, f.day, since, func(names []string) error {
		unknown, err := x.unknown(ctx, f.id, names)
		found += len(names) - len(unknown)
		fresh = append(fresh, unknown...)
		for err == nil && len(fresh) >= x.cfg.Batch {
			err = x.take(ctx, &f, fresh[:x.cfg.Batch], false)
			fresh = fresh[x.cfg.Batch:]
		}
		return err
	})
	if err != nil {
		return err
	}
	if found < had && since.IsZero() {
		return errLost
	}
	if len(fresh) == 0 && f.id != 0 && time.UnixMilli(f.offset).Sub(time.UnixMilli(before)) < x.cfg.Late {
		return nil // nothing worth writing
	}
	return x.take(ctx, &f, fresh, true)
}

// unknown picks the names that the index does not have.
func (x *Index) unknown(ctx context.Context, file int64, names []string) (_ []string, err error) {
	if file == 0 {
		return slices.Clone(names), nil
	}
	query, err := x.db.PrepareContext(ctx, "SELECT count(*) FROM names WHERE file = ? AND name = ?")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, query.Close()) }()
	var all []string
	for _, name := range names {
		n := 0
		if err := query.QueryRowContext(ctx, file, name).Scan(&n); err != nil {
			return nil, err
		}
		if n == 0 {
			all = append(all, name)
		}
	}
	return all, nil
}

// take reads objects and takes them in. Only whole says that all of the list has been.
func (x *bucketFeed) take(ctx context.Context, f *file, names []string, whole bool) error {
	rows := make([]row, 0, len(names))
	var outlines audit.Outlines
	err := x.bucket.Objects(ctx, f.day, names, func(name string, line []byte) error {
		// What is not a record is passed over: naming it is the work of Verify.
		if o, err := outlines.Read(line); err == nil && o.ID != "" {
			rows = append(rows, rowOf(o, name))
		}
		return nil
	})
	if err != nil {
		return err
	}
	// What was read is kept although nobody waits for it any more.
	return x.change(context.WithoutCancel(ctx), func(tx *sql.Tx) error {
		w := newWriter(tx)
		err := tx.QueryRow("SELECT id FROM files WHERE day = ?", f.day).Scan(&f.id)
		if errors.Is(err, sql.ErrNoRows) {
			err = w.add(f)
		}
		if err != nil {
			return err
		}
		taken, err := w.names(f.id, names)
		if err != nil {
			return err
		}
		if err := w.write(f.id, slices.DeleteFunc(rows, func(r row) bool { return !taken[r.at.(string)] })); err != nil ||
			!whole {
			return err
		}
		return w.seen(file{id: f.id, offset: f.offset, mark: []byte{}})
	})
}

// names adds those that another process has not added meanwhile, and says which.
func (w *writer) names(file int64, names []string) (_ map[string]bool, err error) {
	insert, err := w.tx.Prepare("INSERT OR IGNORE INTO names (file, name) VALUES (?, ?)")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	added := make(map[string]bool, len(names))
	for _, name := range names {
		res, err := insert.Exec(file, name)
		if err != nil {
			return nil, err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return nil, err
		}
		added[name] = n > 0
	}
	return added, nil
}

func (x *bucketFeed) lines(ctx context.Context, places []place, fn func(at place, line []byte) error) error {
	type object struct{ day, name string }
	wanted, days := map[object]place{}, map[string][]string{}
	for _, p := range places {
		wanted[object{p.day, p.at}] = p
		days[p.day] = append(days[p.day], p.at)
	}
	for day, names := range days {
		err := x.bucket.Objects(ctx, day, names,
			func(name string, line []byte) error { return fn(wanted[object{day, name}], line) })
		if err != nil {
			return err
		}
	}
	return nil
}
