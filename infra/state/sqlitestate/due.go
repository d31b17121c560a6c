package sqlitestate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// timed are rows of a table that become due at the time in a column. where selects them.
type timed struct{ table, when, where string }

func schedules() timed { return timed{"functions", "next", "next IS NOT NULL"} }

func callbacks() timed { return timed{"jobs", "callback", "callback IS NOT NULL"} }

func pauses() timed { return timed{"jobs", "not_before", "status = 'paused'"} }

// dueTenants returns the tenants with due rows, and how many of at most limit rows each may have now. If there are
// more tenants than that, it returns a random selection. Its cost does not grow with the rows of one tenant.
func (d *database) dueTenants(ctx context.Context, of timed, now time.Time,
	limit int) (tenants []string, part int, err error) {
	some, err := d.any(ctx, fmt.Sprintf("SELECT 1 FROM %s WHERE %s AND %s <= ? LIMIT 1", of.table, of.where, of.when),
		millis(now))
	if err != nil || !some {
		return nil, 0, err
	}
	tenants, err = d.strings(ctx, fmt.Sprintf(`WITH RECURSIVE each (tenant) AS (
			SELECT min(tenant) FROM %[1]s WHERE %[3]s
			UNION ALL
			SELECT (SELECT min(%[1]s.tenant) FROM %[1]s WHERE %[3]s AND %[1]s.tenant > each.tenant)
			FROM each WHERE each.tenant IS NOT NULL
		)
		SELECT tenant FROM each WHERE tenant IS NOT NULL
			AND EXISTS (SELECT 1 FROM %[1]s
				WHERE %[1]s.tenant = each.tenant AND %[3]s AND %[1]s.%[2]s <= ?)`,
		of.table, of.when, of.where), millis(now))
	if err != nil || len(tenants) == 0 {
		return nil, 0, err
	}
	rand.Shuffle(len(tenants), func(i, j int) { tenants[i], tenants[j] = tenants[j], tenants[i] })
	tenants = tenants[:min(len(tenants), limit)]
	return tenants, (limit + len(tenants) - 1) / len(tenants), nil
}

// any reports whether a query has a row.
func (d *database) any(ctx context.Context, query string, args ...any) (bool, error) {
	found, err := d.strings(ctx, query, args...)
	return len(found) > 0, err
}

// strings returns the first column of a query.
func (d *database) strings(ctx context.Context, query string, args ...any) (out []string, err error) {
	err = d.read(ctx, func() (err error) {
		out = nil
		rows, err := d.db.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				return err
			}
			out = append(out, text)
		}
		return rows.Err()
	})
	return out, err
}
