package auditindex

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/airlock-run/airlock/policy/audit"
)

// The spans with stored summaries.
const (
	shortest = iota
	hourly
	daily
)

// everybody is the tenant of the summaries over all tenants.
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

// A cell identifies a stored summary. start is in Unix seconds.
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

// keep writes a batch of a log and moves f to its end.
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

// A writer writes one batch.
type writer struct {
	tx      *sql.Tx
	tenants map[string]int64
	classes map[[2]string]int64
	// functions holds IDs by tenant and name.
	functions map[[2]string]int64
	cells     map[cell]*audit.Summary
}

func newWriter(tx *sql.Tx) *writer {
	return &writer{
		tx: tx, tenants: map[string]int64{}, classes: map[[2]string]int64{}, functions: map[[2]string]int64{},
		cells: map[cell]*audit.Summary{},
	}
}

// write adds records and updates the summaries.
func (w *writer) write(file int64, rows []row) error {
	if err := w.rows(file, rows); err != nil {
		return err
	}
	return w.summaries(file)
}

// seen stores how far a day has been read.
func (w *writer) seen(f file) error {
	_, err := w.tx.Exec("UPDATE files SET offset = ?, last = ?, mark = ? WHERE id = ?", f.offset, f.last, f.mark, f.id)
	return err
}

// open checks that the batch begins where the index ends.
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
	return w.tx.QueryRow("INSERT INTO files (day, offset, last, mark) VALUES (?, 0, 0, '') RETURNING id",
		f.day).Scan(&f.id)
}

// chunk is the number of records that one statement adds.
const chunk = 64

// rows adds records, many in one statement. If the index already has one of them, which is rare, the statement is
// rolled back and they are added one by one: a duplicate line counts once.
func (w *writer) rows(file int64, rows []row) (err error) {
	const add, values = "INSERT OR IGNORE INTO records (time, id, tenant, class, function, file, at, score, outline) " +
		"VALUES ", "(?, ?, ?, ?, ?, ?, ?, ?, ?)"
	one, err := w.tx.Prepare(add + values)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, one.Close()) }()
	many, err := w.tx.Prepare(add + values + strings.Repeat(", "+values, chunk-1))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, many.Close()) }()
	for some := range slices.Chunk(rows, chunk) {
		args, err := w.args(file, some)
		if err != nil {
			return err
		}
		if len(some) == chunk {
			all, err := w.together(many, args)
			if err != nil {
				return err
			}
			if all {
				w.count(some...)
				continue
			}
		}
		for i, r := range some {
			width := len(args) / len(some)
			if n, err := affected(one.Exec(args[i*width : (i+1)*width]...)); err != nil {
				return err
			} else if n > 0 {
				w.count(r)
			}
		}
	}
	return nil
}

func (w *writer) args(file int64, rows []row) ([]any, error) {
	args := make([]any, 0, 9*len(rows))
	for _, r := range rows {
		tenant, err := w.tenant(r.Tenant)
		if err != nil {
			return nil, err
		}
		class, err := w.class(r.Status, r.Policy)
		if err != nil {
			return nil, err
		}
		function, err := w.function(r.Outline, tenant)
		if err != nil {
			return nil, err
		}
		args = append(args, nanos(r.Time), r.ID, tenant, class, function, file, r.at, int64(r.Score), r.doc)
	}
	return args, nil
}

// together runs a statement for many rows, which adds all of them or none.
func (w *writer) together(many *sql.Stmt, args []any) (bool, error) {
	if _, err := w.tx.Exec("SAVEPOINT together"); err != nil {
		return false, err
	}
	n, err := affected(many.Exec(args...))
	if err != nil {
		return false, err
	}
	if n < chunk {
		if _, err := w.tx.Exec("ROLLBACK TO together"); err != nil {
			return false, err
		}
	}
	_, err = w.tx.Exec("RELEASE together")
	return n == chunk, err
}

func affected(res sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// count adds records to the summaries of the shortest span.
func (w *writer) count(rows ...row) {
	for _, r := range rows {
		at := cell{shortest, w.tenants[r.Tenant], startOf(shortest, r.Time)}
		if w.cells[at] == nil {
			w.cells[at] = &audit.Summary{}
		}
		w.cells[at].Add(r.Outline)
	}
}

func (w *writer) tenant(name string) (int64, error) {
	if id, ok := w.tenants[name]; ok {
		return id, nil
	}
	var id int64
	err := w.tx.QueryRow("INSERT INTO tenants (name) VALUES (?) ON CONFLICT DO UPDATE SET name = name RETURNING id",
		name).Scan(&id)
	w.tenants[name] = id
	return id, err
}

func (w *writer) class(status, policy string) (int64, error) {
	key := [2]string{status, policy}
	if id, ok := w.classes[key]; ok {
		return id, nil
	}
	var id int64
	err := w.tx.QueryRow("INSERT INTO classes (status, policy) VALUES (?, ?) ON CONFLICT DO UPDATE SET policy = policy "+
		"RETURNING id", status, policy).Scan(&id)
	w.classes[key] = id
	return id, err
}

// function returns the ID of the function that ran, or 0. Tenants have functions of the same name.
func (w *writer) function(o audit.Outline, tenant int64) (int64, error) {
	if o.Function == "" {
		return 0, nil
	}
	key := [2]string{o.Tenant, o.Function}
	if id, ok := w.functions[key]; ok {
		return id, nil
	}
	var id int64
	err := w.tx.QueryRow("INSERT INTO functions (tenant, name) VALUES (?, ?) ON CONFLICT DO UPDATE SET name = name "+
		"RETURNING id", tenant, o.Function).Scan(&id)
	w.functions[key] = id
	return id, err
}

// summaries adds the batch's summaries to the stored ones: of each tenant and of all, by every span.
func (w *writer) summaries(file int64) (err error) {
	all := w.cells
	add := func(at cell, s *audit.Summary) {
		if all[at] == nil {
			all[at] = &audit.Summary{}
		}
		all[at].Merge(*s)
	}
	// Longer spans are made of shorter ones, and everybody of the tenants.
	for span := shortest; span <= daily; span++ {
		for _, at := range slices.Collect(maps.Keys(all)) {
			if at.span != span || at.tenant == everybody {
				continue
			}
			add(cell{span, everybody, at.start}, all[at])
			if span < daily {
				add(cell{span + 1, at.tenant, startOf(span+1, time.Unix(at.start, 0))}, all[at])
			}
		}
	}
	// Most are new, for which one statement is enough.
	insert, err := w.tx.Prepare("INSERT INTO figures (span, tenant, start, file, doc) VALUES (?, ?, ?, ?, ?) ON " +
		"CONFLICT DO NOTHING")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	for at, s := range all {
		doc, err := json.Marshal(s)
		if err != nil {
			return err
		}
		res, err := insert.Exec(at.span, at.tenant, at.start, file, doc)
		if err != nil {
			return err
		}
		added, err := res.RowsAffected()
		if err == nil && added == 0 {
			err = w.merge(at, file, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// merge adds a summary to a stored one.
func (w *writer) merge(at cell, file int64, s *audit.Summary) error {
	const place = " WHERE span = ? AND tenant = ? AND start = ? AND file = ?"
	var doc []byte
	var sum audit.Summary
	if err := w.tx.QueryRow("SELECT doc FROM figures"+place, at.span, at.tenant, at.start, file).Scan(&doc); err != nil {
		return err
	}
	if err := json.Unmarshal(doc, &sum); err != nil {
		return err
	}
	sum.Merge(*s)
	doc, err := json.Marshal(sum)
	if err != nil {
		return err
	}
	_, err = w.tx.Exec("UPDATE figures SET doc = ?"+place, doc, at.span, at.tenant, at.start, file)
	return err
}
