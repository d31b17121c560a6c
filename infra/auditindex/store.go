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
	shortest = iota
	hourly
	daily
)

func spans() [3]int { return [...]int{shortest, hourly, daily} }

// everybody is the tenant of the figures over all tenants.
const everybody = 0

func spanOf(span int) time.Duration {
	switch span {
	case shortest:
		return 5 * time.Minute
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
	cells   map[cell]*audit.Figures
}

func newWriter(tx *sql.Tx) *writer {
	return &writer{tx: tx, tenants: map[string]int64{}, classes: map[[2]string]int64{}, cells: map[cell]*audit.Figures{}}
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
		at := cell{shortest, tenant, startOf(shortest, r.Time)}
		if w.cells[at] == nil {
			w.cells[at] = &audit.Figures{}
		}
		w.cells[at].Add(r.Outline)
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

// figures adds what the batch has to what is kept: of each tenant and of all, by every span.
func (w *writer) figures(file int64) (err error) {
	all := map[cell]*audit.Figures{}
	for short, figures := range w.cells {
		for _, span := range spans() {
			for _, tenant := range []int64{everybody, short.tenant} {
				at := cell{span, tenant, startOf(span, time.Unix(short.start, 0))}
				if all[at] == nil {
					all[at] = &audit.Figures{}
				}
				all[at].Merge(*figures)
			}
		}
	}
	// Most are new: of these one statement is enough.
	insert, err := w.tx.Prepare("INSERT INTO figures (span, tenant, start, file, doc) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	for at, figures := range all {
		doc, err := json.Marshal(figures)
		if err != nil {
			return err
		}
		res, err := insert.Exec(at.span, at.tenant, at.start, file, doc)
		if err != nil {
			return err
		}
		added, err := res.RowsAffected()
		if err == nil && added == 0 {
			err = w.merge(at, file, figures)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// merge adds figures to those that are there.
func (w *writer) merge(at cell, file int64, figures *audit.Figures) error {
	const place = " WHERE span = ? AND tenant = ? AND start = ? AND file = ?"
	var doc []byte
	var sum audit.Figures
	if err := w.tx.QueryRow("SELECT doc FROM figures"+place, at.span, at.tenant, at.start, file).Scan(&doc); err != nil {
		return err
	}
	if err := json.Unmarshal(doc, &sum); err != nil {
		return err
	}
	sum.Merge(*figures)
	doc, err := json.Marshal(sum)
	if err != nil {
		return err
	}
	_, err = w.tx.Exec("UPDATE figures SET doc = ?"+place, doc, at.span, at.tenant, at.start, file)
	return err
}
