package pgstate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/airlock-run/airlock/infra/state/internal/share"
)

const (
	// longestMemory exceeds every retention of notes. A later time was set by a clock that was set back since.
	longestMemory = 48 * time.Hour
	// rowsAtOnce is the number of rows that one transaction deletes.
	rowsAtOnce = 500
)

// Prune deletes the jobs that ended before a time and have no callback left, and everything else that has expired. A
// tenant's own ages take precedence.
func (s *Store) Prune(ctx context.Context, now, before time.Time) error {
	err := s.pruneTenants(ctx, now, before)
	for _, step := range []struct {
		table, key, where string
		at                int64
	}{
		{"gone", "(tenant, url)", "until <= $1", millis(now)},
		{"gone", "(tenant, url)", "until > $1", millis(now.Add(longestMemory))},
		{"deliveries", "key", "until <= $1", millis(now)},
	} {
		err = errors.Join(err, s.deleteSome(ctx, step.table, step.key, step.where, step.at))
	}
	if err = errors.Join(err, s.setRight(ctx, now), s.mergeUsage(ctx)); err != nil {
		return fmt.Errorf("delete what has expired: %w", err)
	}
	return nil
}

// setRight corrects times that lie impossibly far ahead: a clock that was set back since has set them. A key is then
// kept as long as a new one, a callback is due, and what ended has ended now.
func (s *base) setRight(ctx context.Context, now time.Time) error {
	var failed error
	const hour = time.Hour
	for _, step := range []struct {
		query        string
		value, ahead time.Time
	}{
		{"UPDATE airlock.deliveries SET until = $1 WHERE until > $2", now.Add(longestMemory / 2), now.Add(longestMemory)},
		{"UPDATE airlock.jobs SET callback = $1 WHERE callback IS NOT NULL AND callback > $2", now, now.Add(2 * hour)},
		{"UPDATE airlock.jobs SET ended = $1 WHERE ended IS NOT NULL AND ended > $2", now, now.Add(hour)},
		{"UPDATE airlock.events SET at = $1 WHERE at > $2", now, now.Add(hour)},
	} {
		_, err := s.exec(ctx, step.query, millis(step.value), millis(step.ahead))
		failed = errors.Join(failed, err)
	}
	return failed
}

// mergeUsage merges the slots of the counters, and deletes processes that died long ago.
func (s *base) mergeUsage(ctx context.Context) error {
	_, err := s.exec(ctx, `WITH merged AS (
			DELETE FROM airlock.usage WHERE (tenant, kind, subject, slot) IN (
				SELECT tenant, kind, subject, slot FROM airlock.usage ORDER BY tenant, kind, subject, slot FOR UPDATE SKIP LOCKED)
			RETURNING tenant, kind, subject, n, bytes)
		INSERT INTO airlock.usage (tenant, kind, subject, slot, n, bytes)
		SELECT tenant, kind, subject, -1 - pg_backend_pid(), sum(n), sum(bytes) FROM merged GROUP BY tenant, kind, subject
		HAVING sum(n) <> 0 OR sum(bytes) <> 0
		ON CONFLICT (tenant, kind, subject, slot)
		DO UPDATE SET n = usage.n + excluded.n, bytes = usage.bytes + excluded.bytes`)
	if err != nil {
		return err
	}
	_, err = s.exec(ctx, `DELETE FROM airlock.processes WHERE seen < clock_timestamp() - interval '1 day'`)
	return err
}

// pruneTenants deletes results and events by the ages of their tenants.
func (s *base) pruneTenants(ctx context.Context, now, before time.Time) error {
	var tenants [][]byte
	err := s.do(ctx, func(ctx context.Context) (err error) {
		tenants, err = collect(ctx, s.pool, scanBytes, "SELECT DISTINCT tenant FROM airlock.usage WHERE subject = ''")
		return err
	})
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		results, events := share.Kept(s.storage(string(tenant)), now, before)
		err = errors.Join(err,
			s.deleteSome(ctx, "jobs", "seq", "tenant = $1 AND ended IS NOT NULL AND ended < $2 AND callback IS NULL", tenant,
				millis(results)),
			s.deleteSome(ctx, "events", "seq", "tenant = $1 AND at < $2", tenant, millis(events)))
	}
	return err
}

// deleteSome deletes rows of a table, a few per transaction. The names come from this package.
func (s *base) deleteSome(ctx context.Context, table, key, where string, args ...any) error {
	columns := key
	if table == "gone" {
		columns = "tenant, url"
	}
	query := fmt.Sprintf("DELETE FROM airlock.%s WHERE %s IN (SELECT %s FROM airlock.%[1]s WHERE %[4]s LIMIT %[5]d "+
		"FOR UPDATE SKIP LOCKED)", table, key, columns, where, rowsAtOnce)
	for {
		n, err := s.exec(ctx, query, args...)
		if err != nil || n < rowsAtOnce {
			return err
		}
	}
}
