package pgstate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// fair returns the common tables "each", the tenants with the rows t of a table that a condition selects, and "due",
// at most $2 random ones of them with rows that are due at $1. Its cost does not grow with the rows of one tenant. part
// is how many of $2 rows each of them may have.
func fair(table, when, condition string) string {
	names := strings.NewReplacer("TABLE", table, "WHEN", when, "SELECTED", condition)
	return names.Replace(`WITH RECURSIVE each (tenant) AS (
			(SELECT t.tenant FROM TABLE t WHERE SELECTED ORDER BY t.tenant LIMIT 1)
			UNION ALL
			SELECT (SELECT t.tenant FROM TABLE t WHERE SELECTED AND t.tenant > each.tenant ORDER BY t.tenant LIMIT 1)
			FROM each WHERE each.tenant IS NOT NULL
		), due AS MATERIALIZED (
			SELECT each.tenant FROM each WHERE each.tenant IS NOT NULL AND EXISTS (
				SELECT 1 FROM TABLE t WHERE t.tenant = each.tenant AND SELECTED AND t.WHEN <= $1)
			ORDER BY random() LIMIT $2
		)`)
}

const part = "(SELECT ceil($2::numeric / greatest(count(*), 1))::bigint FROM due)"

// Callbacks claims at most limit callbacks that are due until a later time, so that one process at a time delivers
// each. Each tenant has its share of the limit.
func (s *Store) Callbacks(ctx context.Context, now, again time.Time, limit int) ([]execution.Job, error) {
	var rows []*jobRow
	err := s.do(ctx, func(ctx context.Context) (err error) {
		due := fair("airlock.jobs", "callback", "t.callback IS NOT NULL")
		rows, err = collect(ctx, s.pool, scanJob, due+`, picked AS MATERIALIZED (
				SELECT j.seq AS picked FROM due, LATERAL (
					SELECT t.seq FROM airlock.jobs t WHERE t.tenant = due.tenant AND t.callback IS NOT NULL AND t.callback <= $1
					ORDER BY t.callback LIMIT `+part+` FOR UPDATE SKIP LOCKED) j LIMIT $2
			)
			UPDATE airlock.jobs SET callback = $3, caller = $4 FROM picked WHERE seq = picked RETURNING `+jobColumns,
			millis(now), limit, millis(again), s.id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("take callbacks: %w", err)
	}
	return passOver(decodeJobs(rows))
}

// Gone reports whether a tenant's receiver is gone. If until is set, Gone marks it as gone until then.
func (s *Store) Gone(ctx context.Context, tenant, url string, now, until time.Time) (gone bool, err error) {
	if !until.IsZero() {
		_, err := s.exec(ctx, `INSERT INTO airlock.gone (tenant, url, until) VALUES ($1, $2, $3)
			ON CONFLICT (tenant, url) DO UPDATE SET until = excluded.until`, []byte(tenant), []byte(url), millis(until))
		return true, err
	}
	err = s.do(ctx, func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM airlock.gone
			WHERE tenant = $1 AND url = $2 AND until > $3 AND until <= $4)`,
			[]byte(tenant), []byte(url), millis(now), millis(now.Add(longestMemory))).Scan(&gone)
	})
	return gone, err
}
