package auditindex

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/airlock-run/airlock/policy/audit"
)

// The spans that have ready-made figures.
const (
	minutely = iota
	hourly
	daily
)

func spans() [3]int { return [...]int{minutely, hourly, daily} }

// everybody is the tenant of the figures over all tenants.
const everybody = 0

func spanOf(span int) time.Duration {
	switch span {
	case minutely:
		return time.Minute
	case hourly:
		return time.Hour
	}
	return 24 * time.Hour
}

// cell is where figures are kept. start is in Unix seconds.
type cell struct {
	span   int
	tenant int64
	start  int64
}

func startOf(span int, t time.Time) int64 {
	length := int64(spanOf(span) / time.Second)
	s := t.Unix() % length
	if s < 0 {
		s += length
	}
	return t.Unix() - s
}

// keep writes a batch of a log, and moves f to where it ends.
func (x *Index) keep(ctx context.Context, f *file, b batch) error {
	next := *f
	err := x.change(ctx, func(tx *sql.Tx) error {
		w := newWriter(tx)
		if err := w.open(&next, b); err != nil {
			return err
		}
		if err := w.write(next.id, b.rows); err != nil {
			return err
		}
		next.offset, next.last, next.mark = b.to, b.last, b.mark
		return w.seen(next)
	})
	if err == nil {
		*f = next
	}
	return err
}

// writer is one batch being written.
type writer struct {
	tx      *sql.Tx
	tenants map[string]int64
	classes map[[2]string]int64
	minutes map[cell]*audit.Figures
}

func newWriter(tx *sql.Tx) *writer {
	return &writer{tx: tx, tenants: map[string]int64{}, classes: map[[2]string]int64{}, minutes: map[cell]*audit.Figures{}}
}

// write adds records and what they make of the figures.
func (w *writer) write(file int64, rows []row) error {
	if err := w.rows(file, rows); err != nil {
		return err
	}
	return w.figures(file)
}

// seen remembers how far a day has been read.
func (w *writer) seen(f file) error {
	_, err := w.tx.Exec("UPDATE files SET offset = ?, last = ?, mark = ? WHERE id = ?", f.offset, f.last, f.mark, f.id)
	return err
}

// open makes sure that the batch begins where the index ends.
func (w *writer) open(f *file, b batch) error {
	var offset int64
	err := w.tx.QueryRow("SELECT id, offset FROM files WHERE day = ?", f.day).Scan(&f.id, &offset)
	if errors.Is(err, sql.ErrNoRows) {
		if b.from != 0 {
			return errElsewhere
		}
		return w.add(f)
	}
	if err == nil && offset != b.from {
		return errElsewhere
	}
	return err
}

func (w *writer) add(f *file) error {
	return w.tx.QueryRow("INSERT INTO files (day, offset, last, mark) VALUES (?, 0, 0, '') RETURNING id", f.day).Scan(&f.id)
}

func (w *writer) rows(file int64, rows []row) (err error) {
	insert, err := w.tx.Prepare("INSERT OR IGNORE INTO records (time, id, tenant, class, file, at, score, outline) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	for _, r := range rows {
		tenant, err := w.tenant(r.Tenant)
		if err != nil {
			return err
		}
		class, err := w.class(r.Status, r.Policy)
		if err != nil {
			return err
		}
		outline, err := json.Marshal(r.Outline)
		if err != nil {
			return err
		}
		res, err := insert.Exec(nanos(r.Time), r.ID, tenant, class, file, r.at, r.Score, outline)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil {
			return err
		} else if n == 0 {
			continue // a line that is there twice counts once
		}
		at := cell{minutely, tenant, startOf(minutely, r.Time)}
		if w.minutes[at] == nil {
			w.minutes[at] = &audit.Figures{}
		}
		w.minutes[at].Add(r.Outline)
	}
	return nil
}

func (w *writer) tenant(name string) (int64, error) {
	if id, ok := w.tenants[name]; ok {
		return id, nil
	}
	var id int64
	err := w.tx.QueryRow("INSERT INTO tenants (name) VALUES (?) ON CONFLICT DO UPDATE SET name = name RETURNING id", name).Scan(&id)
	w.tenants[name] = id
	return id, err
}

func (w *writer) class(status, policy string) (int64, error) {
	key := [2]string{status, policy}
	if id, ok := w.classes[key]; ok {
		return id, nil
	}
	var id int64
	err := w.tx.QueryRow("INSERT INTO classes (status, policy) VALUES (?, ?) ON CONFLICT DO UPDATE SET policy = policy RETURNING id", status, policy).Scan(&id)
	w.classes[key] = id
	return id, err
}

// figures adds the minutes of the batch to what is kept: of each tenant and of all, by minute, hour and day.
func (w *writer) figures(file int64) error {
	cells := map[cell]*audit.Figures{}
	for minute, figures := range w.minutes {
		for _, span := range spans() {
			for _, tenant := range []int64{everybody, minute.tenant} {
				at := cell{span, tenant, startOf(span, time.Unix(minute.start, 0))}
				if cells[at] == nil {
					cells[at] = &audit.Figures{}
				}
				cells[at].Merge(*figures)
			}
		}
	}
	for at, figures := range cells {
		var doc []byte
		var old audit.Figures
		err := w.tx.QueryRow("SELECT doc FROM figures WHERE span = ? AND tenant = ? AND start = ? AND file = ?", at.span, at.tenant, at.start, file).Scan(&doc)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		default:
			if err := json.Unmarshal(doc, &old); err != nil {
				return err
			}
		}
		old.Merge(*figures)
		if doc, err = json.Marshal(old); err != nil {
			return err
		}
		if _, err := w.tx.Exec("INSERT OR REPLACE INTO figures (span, tenant, start, file, doc) VALUES (?, ?, ?, ?, ?)", at.span, at.tenant, at.start, file, doc); err != nil {
			return err
		}
	}
	return nil
}
