package sqlitestate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/internal/share"
)

// measure returns the use of some kinds by a tenant, or by one of its subjects.
func measure(ctx context.Context, tx *sql.Tx, tenant, subject string, kinds ...string) (n, bytes int64, err error) {
	for _, kind := range kinds {
		var rows, size int64
		err := tx.QueryRowContext(ctx, "SELECT n, bytes FROM usage WHERE tenant = ? AND kind = ? AND subject = ?", tenant,
			kind, subject).Scan(&rows, &size)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, 0, err
		}
		n, bytes = n+rows, bytes+size
	}
	return n, bytes, nil
}

// measuring returns the use of tenants in a transaction.
func measuring(ctx context.Context, tx *sql.Tx) share.Measure {
	return func(tenant, subject string, kinds ...string) (n, bytes int64, err error) {
		return measure(ctx, tx, tenant, subject, kinds...)
	}
}

// reservedForAll is the part of the file that is reserved for work in progress: results, ends of jobs, deletions.
const reservedForAll = 16

// roomForMore returns an error if the file has no room for one more function, job, delivery or key of any tenant.
func (s *Store) roomForMore(ctx context.Context, tx *sql.Tx) error {
	var pages, free, files int64
	err := tx.QueryRowContext(ctx, "SELECT page_count, freelist_count, bytes FROM pragma_page_count(), "+
		"pragma_freelist_count(), filed").Scan(&pages, &free, &files)
	if err != nil {
		return err
	}
	if used := (pages-free)*pageSize + files; used > s.cfg.MaxBytes-s.cfg.MaxBytes/reservedForAll {
		return &execution.StoreError{
			Fault: execution.StoreFull, Err: fmt.Errorf("the state has %d bytes; at most %d are allowed", used, s.cfg.MaxBytes),
		}
	}
	return nil
}

// makeRoomForResults deletes the oldest results of a tenant above its quota, except for the one just added and those
// whose receivers have not been called.
func (s *Store) makeRoomForResults(ctx context.Context, tx *sql.Tx, tenant, but string) error {
	most := s.storage(tenant).Results
	return s.makeRoom(ctx, tx, tenant, execution.QuotaResults, most, "DELETE FROM jobs WHERE seq = ?",
		`SELECT seq, length(doc) + length(request) + ifnull(length(result), 0) + result_bytes FROM jobs
		WHERE tenant = ?1 AND ended IS NOT NULL AND callback IS NULL AND id <> ?2 ORDER BY ended LIMIT 100`, tenant, but)
}

// makeRoomForDeliveries deletes the oldest events of a tenant above its quota.
func (s *Store) makeRoomForDeliveries(ctx context.Context, tx *sql.Tx, tenant string) error {
	most := s.storage(tenant).Deliveries
	return s.makeRoom(ctx, tx, tenant, execution.QuotaDeliveries, most, "DELETE FROM events WHERE rowid = ?",
		"SELECT rowid, length(event) + file_bytes FROM events WHERE tenant = ?1 ORDER BY at LIMIT 100", tenant)
}

// makeRoom deletes rows that a query finds, oldest first, until a tenant is within its quota or there are none.
func (s *Store) makeRoom(ctx context.Context, tx *sql.Tx, tenant, quota string, most int64, remove, oldest string,
	args ...any) error {
	for {
		_, used, err := measure(ctx, tx, tenant, "", quota)
		if err != nil || used <= most {
			return err
		}
		rows, err := sized(ctx, tx, oldest, args...)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			if used <= most {
				return nil
			}
			if _, err := tx.ExecContext(ctx, remove, row.id); err != nil {
				return err
			}
			s.freed.Add(row.bytes)
			used -= row.bytes + rowBytes
		}
	}
}

// A sizedRow is a row and the size of its content.
type sizedRow struct{ id, bytes int64 }

func sized(ctx context.Context, tx *sql.Tx, query string, args ...any) (_ []sizedRow, err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var out []sizedRow
	for rows.Next() {
		var r sizedRow
		if err := rows.Scan(&r.id, &r.bytes); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}
