package sqlitestate

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"

	"github.com/airlock-run/airlock/functions/execution"
)

const (
	// A step of returning pages holds the lock for a few milliseconds.
	pagesAtOnce = "512"
	stepsAtOnce = 256
	// worthwhile is the number of free bytes from which the file shrinks at once, and not at the next Prune.
	worthwhile = 1 << 20
)

// reclaim returns free pages to the disk, a few at a time so that writers get a turn, and empties the journal.
func (d *database) reclaim(ctx context.Context) error {
	for range stepsAtOnce {
		var free int64
		err := d.read(ctx, func() error { return d.db.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&free) })
		if err != nil {
			return err
		}
		if free == 0 {
			break
		}
		before := free
		err = d.change(ctx, func(tx *sql.Tx) error { return stepThrough(ctx, tx) })
		if err != nil {
			return err
		}
		err = d.read(ctx, func() error { return d.db.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&free) })
		if err != nil || free >= before {
			break // the file cannot shrink: an older version made it
		}
	}
	d.freed.Store(0)
	return d.read(ctx, func() error {
		var busy, pages, done int
		return d.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &done)
	})
}

// stepThrough returns some pages: the statement returns one page with each row that is read.
func stepThrough(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, "PRAGMA incremental_vacuum("+pagesAtOnce+")")
	if err != nil {
		return err
	}
	for rows.Next() { // the work is done by going on
		continue
	}
	if err := rows.Err(); err != nil {
		_ = rows.Close() // the first error says more
		return err
	}
	return rows.Close()
}

// deleted notes that content was deleted, and returns its space if that is worthwhile.
func (d *database) deleted(ctx context.Context, bytes int64) {
	if d.freed.Add(bytes) < worthwhile {
		return
	}
	_ = d.reclaim(context.WithoutCancel(ctx)) // the next Prune tries again
}

// Stats returns what the state holds, at the cost of as many rows as there are tenants.
func (s *Store) Stats(ctx context.Context) (execution.StorageStats, error) {
	var f execution.StorageStats
	for _, name := range []string{fileName, fileName + "-wal"} {
		if info, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
			f.FileBytes += info.Size()
		}
	}
	err := s.read(ctx, func() error {
		f.Usage = nil
		var free, size, files int64
		if err := s.db.QueryRowContext(ctx, "SELECT bytes FROM filed").Scan(&files); err != nil {
			return err
		}
		f.FileBytes += files
		if err := s.db.QueryRowContext(ctx,
			"SELECT freelist_count, page_size FROM pragma_freelist_count, pragma_page_size").Scan(&free, &size); err != nil {
			return err
		}
		f.FreeBytes = free * size
		rows, err := s.db.QueryContext(ctx, `SELECT tenant,
			CASE WHEN kind IN ('queued', 'running') THEN 'jobs' ELSE kind END AS quota, sum(n), sum(bytes)
			FROM usage WHERE subject = '' GROUP BY tenant, quota ORDER BY tenant, quota`)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }() // rows.Err tells
		for rows.Next() {
			var u execution.StorageUsage
			if err := rows.Scan(&u.Tenant, &u.Quota, &u.Count, &u.Bytes); err != nil {
				return err
			}
			f.Usage = append(f.Usage, u)
		}
		return rows.Err()
	})
	return f, err
}

// oldestOf is the number of queued jobs, those that were submitted first, among which the oldest is looked for.
const oldestOf = 20

// Backlog counts the jobs that have not ended.
func (d *database) Backlog(ctx context.Context) (b execution.Backlog, err error) {
	const count = "(SELECT count(*) FROM jobs WHERE status = "
	err = d.read(ctx, func() error {
		return d.db.QueryRowContext(ctx, "SELECT "+count+"'queued'), "+count+"'running'), "+count+"'paused' AND id < ?)",
			execution.FirstSession).Scan(&b.Queued, &b.Running, &b.Paused)
	})
	if err != nil || b.Queued == 0 {
		return b, err
	}
	first, err := d.states(ctx, "SELECT "+briefColumns+" FROM jobs WHERE seq IN "+
		"(SELECT seq FROM jobs INDEXED BY jobs_queued WHERE status = 'queued' ORDER BY seq LIMIT ?)", oldestOf)
	b.Oldest = execution.OldestOf(first)
	return b, err
}
