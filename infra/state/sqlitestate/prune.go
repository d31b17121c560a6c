package sqlitestate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/airlock-run/airlock/infra/state/internal/share"
)

const (
	// longestMemory exceeds every retention of notes. A later time was set by a clock that was set back since.
	longestMemory = 48 * time.Hour
	// rowsAtOnce is the number of rows that one transaction deletes, so that writers get a turn.
	rowsAtOnce = 500
)

// Prune deletes the jobs that ended before a time and have no callback left, and everything else that has expired. A
// tenant's own ages take precedence. It returns the space to the disk.
func (s *Store) Prune(ctx context.Context, now, before time.Time) error {
	err := s.pruneTenants(ctx, now, before)
	for _, step := range []struct {
		table, where string
		at           int64
	}{
		{"gone", "until <= ?", millis(now)},
		{"gone", "until > ?", millis(now.Add(longestMemory))},
		{"deliveries", "until <= ?", millis(now)},
	} {
		err = errors.Join(err, s.deleteSome(ctx, step.table, step.where, step.at))
	}
	err = errors.Join(err, s.setRight(ctx, now), s.unlink(ctx))
	if err != nil {
		return fmt.Errorf("delete what has expired: %w", err)
	}
	return s.reclaim(ctx)
}

// setRight corrects times that lie impossibly far ahead: a clock that was set back since has set them. A key is then
// kept as long as a new one, a callback is due, and what ended has ended now.
func (s *Store) setRight(ctx context.Context, now time.Time) error {
	var err error
	const hour = time.Hour
	for _, step := range []struct {
		query        string
		value, ahead time.Time
	}{
		{"UPDATE deliveries SET until = ? WHERE until > ?", now.Add(longestMemory / 2), now.Add(longestMemory)},
		{"UPDATE jobs SET callback = ? WHERE callback IS NOT NULL AND callback > ?", now, now.Add(2 * hour)},
		{"UPDATE jobs SET ended = ? WHERE ended IS NOT NULL AND ended > ?", now, now.Add(hour)},
		{"UPDATE events SET at = ? WHERE at > ?", now, now.Add(hour)},
	} {
		err = errors.Join(err, s.exec(ctx, step.query, millis(step.value), millis(step.ahead)))
	}
	return err
}

// pruneTenants deletes results and events by the ages of their tenants.
func (s *Store) pruneTenants(ctx context.Context, now, before time.Time) error {
	tenants, err := s.strings(ctx, "SELECT DISTINCT tenant FROM usage WHERE subject = ''")
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		results, events := share.Kept(s.storage(tenant), now, before)
		err = errors.Join(err,
			s.deleteSome(ctx, "jobs", "tenant = ? AND ended IS NOT NULL AND ended < ? AND callback IS NULL", tenant,
				millis(results)),
			s.deleteSome(ctx, "events", "tenant = ? AND at < ?", tenant, millis(events)))
	}
	return err
}

// deleteSome deletes rows of a table, a few per transaction. The names come from this package.
func (d *database) deleteSome(ctx context.Context, table, where string, args ...any) error {
	id := map[string]string{"jobs": "seq", "events": "rowid", "deliveries": "key", "gone": "(tenant, url)"}[table]
	columns := map[string]string{"gone": "tenant, url"}[table]
	if columns == "" {
		columns = id
	}
	query := fmt.Sprintf("DELETE FROM %s WHERE %s IN (SELECT %s FROM %[1]s WHERE %[4]s LIMIT %[5]d)", table, id, columns,
		where, rowsAtOnce)
	for {
		var n int64
		err := d.change(ctx, func(tx *sql.Tx) error {
			res, err := tx.ExecContext(ctx, query, args...)
			if err == nil {
				n, err = res.RowsAffected()
			}
			return err
		})
		if err != nil || n < rowsAtOnce {
			return err
		}
	}
}
