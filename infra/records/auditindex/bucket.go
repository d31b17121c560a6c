package auditindex

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/airlock-run/airlock/policy/audit"
)

// A Bucket is a store with one object per record, filed by day under a name that begins with the ID, and so with the
// time at which the ID was made.
type Bucket interface {
	audit.Store
	// Place identifies the store; another place holds other records.
	Place() string
	// Days returns the UTC days (2006-01-02) with records, oldest first.
	Days(ctx context.Context) ([]string, error)
	// Names calls fn with the names of a day's objects in parts: all those with IDs made at since or later, which may
	// be the zero time.
	Names(ctx context.Context, day string, since time.Time, fn func(names []string) error) error
	// Recent calls fn with names as Names does, of the day of since and of all later days, in their order.
	Recent(ctx context.Context, since time.Time, fn func(day string, names []string) error) error
	// Objects calls fn with the lines of a day's objects, in the order of names. It skips objects that are gone.
	Objects(ctx context.Context, day string, names []string, fn func(name string, line []byte) error) error
}

// Records do not appear in the order of their ids: an execution that was accepted early may run late, and a spool may
// be sent hours after. So the names of the last while are listed before each question, with one request, and the days
// and the names of whole days from time to time, in the background: for a twentieth of the time at most, and not more
// often than every sweepPause.
const (
	sweepPause = 10 * time.Second
	sweepShare = 20
	// sweepDays is the number of newest days that are listed repeatedly. Older ones are listed when the index is
	// opened.
	sweepDays = 3
)

// A bucketFeed follows a Bucket. Only the holder of the turn uses it.
type bucketFeed struct {
	*Index
	bucket   Bucket
	recent   *recent // the lines that were read last
	sweeping bool
	swept    bool // since the index was opened
	due      time.Time
	listed   time.Time // when the newest names were last listed; zero until all days were
}

func (x *bucketFeed) place() string { return x.bucket.Place() }

func (x *bucketFeed) follow(ctx context.Context) error {
	now := x.cfg.Now()
	read := x.readDays
	if !x.listed.IsZero() {
		read = x.readRecent
	}
	if err := read(ctx); err != nil {
		return err
	}
	x.listed = now
	x.sweep()
	return nil
}

// readDays indexes the new records of all days.
func (x *bucketFeed) readDays(ctx context.Context) error {
	days, err := x.bucket.Days(ctx)
	if err != nil {
		return err
	}
	known, err := x.among(ctx, days)
	if err != nil {
		return err
	}
	for _, day := range slices.Backward(days) { // while the index is being built, it has the newest records
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
	return nil
}

// readRecent indexes the records that came since the names were last listed.
func (x *bucketFeed) readRecent(ctx context.Context) error {
	now := x.cfg.Now()
	known, err := x.files(ctx)
	if err != nil {
		return err
	}
	fresh := map[string][]string{}
	err = x.bucket.Recent(ctx, x.listed.Add(-x.cfg.Late), func(day string, names []string) error {
		unknown, err := x.unknown(ctx, known[day].id, names)
		if err == nil && len(unknown) > 0 {
			fresh[day] = append(fresh[day], unknown...)
		}
		return err
	})
	if err != nil {
		return err
	}
	for day, names := range fresh {
		f := known[day]
		f.day, f.offset = day, now.UnixMilli()
		for ; len(names) > x.cfg.Batch; names = names[x.cfg.Batch:] {
			if err := x.take(ctx, &f, names[:x.cfg.Batch], false); err != nil {
				return err
			}
		}
		if err := x.take(ctx, &f, names, true); err != nil {
			return err
		}
	}
	return nil
}

// endOf returns when IDs of a day are no longer made, by clocks that are at most an hour off.
func endOf(day string) time.Time {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return time.Time{}
	}
	return t.Add(25 * time.Hour)
}

// sweep lists whole days in the background when it is due.
func (x *bucketFeed) sweep() {
	if x.sweeping || x.cfg.Now().Before(x.due) {
		return
	}
	whole := !x.swept
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.running.Err() != nil {
		return
	}
	x.sweeping = true
	x.work.Go(func() {
		began := x.cfg.Now()
		err := x.sweepAll(x.running, whole)
		if err != nil && x.running.Err() == nil {
			x.cfg.Log.Warn("cannot compare the records with their index", "error", x.noted(err))
		}
		<-x.turn
		defer func() { x.turn <- struct{}{} }()
		now := x.cfg.Now()
		x.sweeping, x.swept, x.due = false, x.swept || err == nil, now.Add(max(sweepPause, sweepShare*now.Sub(began)))
	})
}

// sweepAll removes the days that are gone and compares the others day by day, newest first: all of them, or the newest
// and those that the index does not have. It yields the turn between days.
func (x *bucketFeed) sweepAll(ctx context.Context, whole bool) error {
	var days []string
	err := x.withTurn(ctx, func() (err error) {
		if days, err = x.bucket.Days(ctx); err != nil {
			return err
		}
		known, err := x.among(ctx, days)
		if old := max(len(days)-sweepDays, 0); !whole {
			days = append(slices.DeleteFunc(slices.Clone(days[:old]), func(day string) bool {
				_, ok := known[day]
				return ok
			}), days[old:]...)
		}
		return err
	})
	for _, day := range slices.Backward(days) {
		if err != nil {
			return err
		}
		err = x.withTurn(ctx, func() error { return x.compare(ctx, day) })
	}
	return err
}

func (x *bucketFeed) withTurn(ctx context.Context, fn func() error) error {
	select {
	case <-x.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { x.turn <- struct{}{} }()
	return fn()
}

// compare lists a whole day. It indexes a day again that has lost objects.
func (x *bucketFeed) compare(ctx context.Context, day string) error {
	known, err := x.files(ctx)
	if err != nil {
		return err
	}
	f := known[day]
	f.day = day
	err = x.list(ctx, f, time.Time{})
	if errors.Is(err, errLost) {
		x.cfg.Log.Info("indexed records of a day are gone; reading the day again", "day", day)
		if err = x.forget(ctx, f); err == nil {
			err = x.list(ctx, file{day: day}, time.Time{})
		}
	}
	return err
}

// errLost means that the index has records that are gone.
var errLost = errors.New("records that were indexed are gone")

// list indexes the new records of a day among the IDs made at since or later. If that is the whole day and the index
// had more, it returns errLost.
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

// unknown returns the names that the index does not have.
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

// take reads and indexes objects. whole means that all of the day was listed.
func (x *bucketFeed) take(ctx context.Context, f *file, names []string, whole bool) error {
	rows := make([]row, 0, len(names))
	var outlines audit.Outlines
	err := x.bucket.Objects(ctx, f.day, names, func(name string, line []byte) error {
		// Skip what is not a record: Verify names it.
		if o, err := outlines.Read(line); err == nil && o.ID != "" {
			rows = append(rows, rowOf(o, name))
			x.recent.add(object{f.day, name}, line)
		}
		return nil
	})
	if err != nil {
		return err
	}
	// Keep what was read even if nobody waits for it any more.
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

// names adds the names that another process has not added meanwhile, and returns them.
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

// An object is one in the bucket.
type object struct{ day, name string }

func (x *bucketFeed) lines(ctx context.Context, places []place, fn func(at place, line []byte) error) error {
	wanted, days := map[object]place{}, map[string][]string{}
	for _, p := range places {
		o := object{p.day, p.at}
		if line := x.recent.get(o); line != nil {
			if err := fn(p, line); err != nil {
				return err
			}
			continue
		}
		wanted[o] = p
		days[p.day] = append(days[p.day], p.at)
	}
	for day, names := range days {
		err := x.bucket.Objects(ctx, day, names, func(name string, line []byte) error {
			x.recent.add(object{day, name}, line)
			return fn(wanted[object{day, name}], line)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
