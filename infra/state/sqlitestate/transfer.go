package sqlitestate

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/transfer"
)

// A Transfer copies from a Store and to it.
type Transfer struct{ *Store }

var _ transfer.Store = Transfer{}

// anchorsFolder holds documents beside the file: anchors, which package anchors writes.
const anchorsFolder = "anchors"

// Holds reports whether the state holds anything.
func (s Transfer) Holds(ctx context.Context) (bool, error) {
	anchors, err := s.anchorFiles()
	if err != nil || len(anchors) > 0 {
		return true, err
	}
	return s.any(ctx, "SELECT '1' FROM functions UNION ALL SELECT '1' FROM jobs UNION ALL SELECT '1' FROM deliveries "+
		"LIMIT 1")
}

// InUse reports whether another process uses the folder.
func (s Transfer) InUse(context.Context) (bool, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, ownersFolder))
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if e.Name() != s.owner && !ownerGone(filepath.Join(s.dir, ownersFolder, e.Name())) {
			return true, nil
		}
	}
	return false, nil
}

func (s Transfer) anchorFiles() ([]string, error) {
	return filepath.Glob(filepath.Join(s.dir, anchorsFolder, "*.json"))
}

// Export passes everything to fn. The state may be somebody else's: one whose rows do not end, or whose values are
// larger than any that a gateway stores, is refused.
func (s Transfer) Export(ctx context.Context, fn func(transfer.Item) error) error {
	made, err := s.strings(ctx, "SELECT name FROM sqlite_master WHERE type = 'view' OR "+
		"type = 'table' AND sql LIKE 'CREATE VIRTUAL%' UNION ALL SELECT m.name FROM sqlite_master m, "+
		"pragma_table_xinfo(m.name) c WHERE m.type = 'table' AND c.hidden > 1 LIMIT 1") // 1 is for virtual tables
	if err != nil {
		return err
	}
	if len(made) > 0 {
		return fmt.Errorf("%q of the state is computed; a state has tables only", made[0])
	}
	if err := s.withinBounds(ctx); err != nil {
		return err
	}
	return errors.Join(s.exportFunctions(ctx, fn), s.exportJobs(ctx, fn), s.exportRest(ctx, fn), s.exportAnchors(fn))
}

// The most bytes of a value of a state: of a name or a key, of what describes a function or a job, and of what somebody
// sent or computed. No gateway stores any that comes near.
const (
	largestName     = 1 << 20
	largestDocument = 32 << 20
	largestValue    = 64 << 20
)

// withinBounds returns an error if the state holds a value that is too large to be read. It reads none of them.
func (s Transfer) withinBounds(ctx context.Context) error {
	for _, bound := range []struct {
		table   string
		columns []string
		most    int
	}{
		{"functions", []string{"tenant", "name"}, largestName},
		{"functions", []string{"doc"}, largestDocument},
		{"versions", []string{"tenant", "name", "file"}, largestName},
		{"versions", []string{"content"}, largestValue},
		{"jobs", []string{"id", "tenant", "subject", "status", "owner"}, largestName},
		{"jobs", []string{"doc"}, largestDocument},
		{"jobs", []string{"request", "result", "snapshot"}, largestValue},
		{"requests", []string{"request", "file"}, largestValue},
		{"results", []string{"result"}, largestValue},
		{"snapshots", []string{"snapshot", "file"}, largestValue},
		{"asides", []string{"aside", "file"}, largestValue},
		{"deliveries", []string{"key", "mark", "owner", "tenant", "subject", "kind"}, largestName},
		{"deliveries", []string{"answer"}, largestValue},
		{"events", []string{"tenant", "name", "id"}, largestName},
		{"events", []string{"event", "file"}, largestValue},
		{"gone", []string{"tenant", "url"}, largestName},
	} {
		for _, column := range bound.columns {
			large, err := s.any(ctx, "SELECT 1 FROM "+bound.table+" WHERE octet_length("+column+") > ? LIMIT 1", bound.most)
			if err != nil {
				return err
			}
			if large {
				return fmt.Errorf("the state is damaged: a value in the column %s of %s has more than %d bytes", column,
					bound.table, bound.most)
			}
		}
	}
	return nil
}

func (s Transfer) exportFunctions(ctx context.Context, fn func(transfer.Item) error) error {
	for tenant, name := "", ""; ; {
		list, err := s.functions(ctx, "SELECT doc FROM functions WHERE (tenant, name) > (?, ?) ORDER BY tenant, name "+
			"LIMIT 1", tenant, name) // each may be as large as it can be
		if err != nil || len(list) == 0 {
			return err
		}
		for _, f := range list {
			if f.Tenant < tenant || f.Tenant == tenant && f.Name <= name {
				return fmt.Errorf("the function %q of tenant %q is stored under the name of another", f.Name, f.Tenant)
			}
			tenant, name = f.Tenant, f.Name
			contents := map[int]execution.FunctionContent{}
			for _, v := range f.Versions {
				c, err := s.Content(ctx, f.Tenant, f.Name, v.Version)
				if errors.Is(err, execution.ErrNotFound) {
					continue // deleted
				}
				if err != nil {
					return err
				}
				contents[v.Version] = c
			}
			if err := fn(transfer.Item{Function: &transfer.Function{Saved: f, Contents: contents}}); err != nil {
				return err
			}
		}
	}
}

func (s Transfer) exportJobs(ctx context.Context, fn func(transfer.Item) error) error {
	for last := int64(math.MinInt64); ; {
		rows, err := s.strings(ctx, "SELECT printf('%d %s', seq, id) FROM jobs WHERE seq > ? ORDER BY seq LIMIT 1000", last)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			seq, id, _ := strings.Cut(row, " ")
			if last, err = strconv.ParseInt(seq, 10, 64); err != nil {
				return err
			}
			job, err := s.Job(ctx, id)
			if err != nil {
				return err
			}
			if err := fn(transfer.Item{Job: &job}); err != nil {
				return err
			}
		}
	}
}

func (s Transfer) exportRest(ctx context.Context, fn func(transfer.Item) error) error {
	for _, step := range []struct {
		query string
		scan  func(*sql.Rows) (transfer.Item, error)
	}{
		{"SELECT key, mark, until, tenant, subject, kind, answer FROM deliveries", scanKey},
		{"SELECT tenant, name, id, at, event, file, file_bytes FROM events ORDER BY rowid", s.scanEvent},
		{"SELECT tenant, url, until FROM gone", scanGone},
	} {
		err := s.read(ctx, func() error { return each(ctx, s.db, step.query, step.scan, fn) })
		if err != nil {
			return err
		}
	}
	return nil
}

func each(ctx context.Context, db *sql.DB, query string, scan func(*sql.Rows) (transfer.Item, error),
	fn func(transfer.Item) error) (err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		item, err := scan(rows)
		if err == nil {
			err = fn(item)
		}
		if err != nil {
			return err
		}
	}
	return rows.Err()
}

func scanKey(rows *sql.Rows) (transfer.Item, error) {
	k, until := &transfer.Key{}, int64(0)
	err := rows.Scan(&k.Key.Name, &k.Mark, &until, &k.Key.Tenant, &k.Key.Subject, &k.Key.Quota, &k.Answer)
	k.Until = time.UnixMilli(until)
	return transfer.Item{Key: k}, err
}

func (s Transfer) scanEvent(rows *sql.Rows) (transfer.Item, error) {
	e, at, k := &transfer.Event{}, int64(0), kept{}
	err := rows.Scan(&e.Tenant, &e.Function, &e.ID, &at, &k.value, &k.file, &k.bytes)
	if err == nil {
		e.Event, err = s.load(k)
	}
	e.At = time.UnixMilli(at)
	return transfer.Item{Event: e}, err
}

func scanGone(rows *sql.Rows) (transfer.Item, error) {
	g, until := &transfer.Gone{}, int64(0)
	err := rows.Scan(&g.Tenant, &g.URL, &until)
	g.Until = time.UnixMilli(until)
	return transfer.Item{Gone: g}, err
}

func (s Transfer) exportAnchors(fn func(transfer.Item) error) (err error) {
	files, err := s.anchorFiles()
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return nil
	}
	root, err := os.OpenRoot(filepath.Join(s.dir, anchorsFolder)) // no link leads out of it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, file := range files {
		body, err := anchorIn(root, filepath.Base(file))
		if err != nil {
			return err
		}
		item := transfer.Item{Document: &transfer.Document{Name: anchorsFolder + "/" + filepath.Base(file), Body: body}}
		if err := fn(item); err != nil {
			return err
		}
	}
	return nil
}

// largestAnchor bounds an anchor, which has a line for each writer.
const largestAnchor = 64 << 20

// anchorIn returns the content of an anchor. It neither waits for a pipe nor reads without end.
func anchorIn(root *os.Root, name string) (body []byte, err error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > largestAnchor {
		return nil, fmt.Errorf("the anchor %q is not a file of at most %d bytes", name, largestAnchor)
	}
	return root.ReadFile(name)
}

// Import stores an item, or replaces it. Quotas do not apply: what was accepted is kept.
func (s Transfer) Import(ctx context.Context, item transfer.Item) error {
	switch {
	case item.Function != nil:
		return s.importFunction(ctx, *item.Function)
	case item.Job != nil:
		return s.importJob(ctx, *item.Job)
	case item.Key != nil:
		k := item.Key
		return s.exec(ctx, `INSERT OR REPLACE INTO deliveries (key, mark, until, owner, tenant, subject, kind, answer)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, k.Key.Name, k.Mark, millis(k.Until), transfer.MovedOwner, k.Key.Tenant,
			k.Key.Subject, quotaOf(k.Key), k.Answer)
	case item.Event != nil:
		return s.importEvent(ctx, *item.Event)
	case item.Gone != nil:
		_, err := s.Gone(ctx, item.Gone.Tenant, item.Gone.URL, time.Time{}, item.Gone.Until)
		return err
	}
	dir := filepath.Join(s.dir, anchorsFolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	name, _ := strings.CutPrefix(item.Document.Name, anchorsFolder+"/")
	return os.WriteFile(filepath.Join(dir, filepath.Base(name)), item.Document.Body, 0o600)
}

func (s Transfer) importFunction(ctx context.Context, f transfer.Function) error {
	doc, err := json.Marshal(f.Saved)
	if err != nil {
		return err
	}
	var next sql.NullInt64
	if f.Saved.Schedule != nil {
		next = orNull(f.Saved.Schedule.Next)
	}
	err = s.filed(ctx, func(tx *sql.Tx, files *filing) error {
		for version, content := range f.Contents {
			if err := keepVersion(ctx, tx, files, f.Saved, version, content); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO functions (tenant, name, next, doc) VALUES (?, ?, ?, ?)
			ON CONFLICT (tenant, name) DO UPDATE SET next = excluded.next, doc = excluded.doc`, f.Saved.Tenant, f.Saved.Name,
			next, doc)
		return err
	})
	return errors.Join(err, s.unlink(ctx))
}

func (s Transfer) importEvent(ctx context.Context, e transfer.Event) error {
	return s.filed(ctx, func(tx *sql.Tx, files *filing) error {
		var there bool
		const query = "SELECT EXISTS (SELECT 1 FROM events WHERE tenant = ? AND name = ? AND id = ?)"
		if err := tx.QueryRowContext(ctx, query, e.Tenant, e.Function, e.ID).Scan(&there); err != nil || there {
			return err
		}
		return putEvent(ctx, tx, files, e.Tenant, e.Function, e.ID, e.Event, e.At)
	})
}

func (s Transfer) importJob(ctx context.Context, job execution.Job) error {
	err := s.filed(ctx, func(tx *sql.Tx, files *filing) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM jobs WHERE id = ?", job.ID); err != nil {
			return err
		}
		if _, err := insertJob(ctx, tx, files, job, []byte("{}")); err != nil {
			return err
		}
		return s.write(ctx, tx, files, job, execution.Job{}, nil)
	})
	return errors.Join(err, s.unlink(ctx))
}
