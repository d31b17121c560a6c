package auditindex

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/airlock-run/airlock/policy/audit"
)

// Figures gives the totals over all records of a query's tenant and time; its other fields say nothing. It is
// audit.ErrBehind while the index is.
func (x *Index) Figures(ctx context.Context, q audit.Query) (audit.Figures, error) {
	if err := x.fresh(ctx); err != nil {
		return audit.Figures{}, err
	}
	sum, err := x.sum(ctx, q)
	if err != nil {
		return sum, fmt.Errorf("read the figures of records: %w", x.noted(err))
	}
	return sum, nil
}

// sum is made of whole days, of whole hours before and after them, and of single records before and after those, all
// from one state of the index.
func (x *Index) sum(ctx context.Context, q audit.Query) (sum audit.Figures, err error) {
	tx, err := x.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	tenant := int64(everybody)
	if q.Tenant != "" {
		err := tx.QueryRow("SELECT id FROM tenants WHERE name = ?", q.Tenant).Scan(&tenant)
		if errors.Is(err, sql.ErrNoRows) {
			return sum, nil
		}
		if err != nil {
			return sum, err
		}
	}
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	if !q.Since.IsZero() {
		low = nanos(q.Since)
	}
	if !q.Until.IsZero() {
		high = nanos(q.Until)
	}
	s := summing{tx: tx, tenant: tenant, sum: &sum}
	return sum, s.between(low, high, daily)
}

type summing struct {
	tx     *sql.Tx
	tenant int64
	sum    *audit.Figures
}

// between adds what is from low until before high, in Unix nanoseconds, in spans of at most that length.
func (s *summing) between(low, high int64, span int) error {
	if low >= high {
		return nil
	}
	if span < hourly {
		return s.records(low, high)
	}
	length := int64(spanOf(span))
	first, end := up(low, length), down(high, length)
	if first >= end {
		return s.between(low, high, span-1)
	}
	if err := s.between(low, first, span-1); err != nil {
		return err
	}
	if err := s.cells(first, end, span); err != nil {
		return err
	}
	return s.between(end, high, span-1)
}

// up and down round to a multiple of length; the ends of time stay as they are.
func up(t, length int64) int64 {
	if d := down(t, length); d != t {
		return d + length
	}
	return t
}

func down(t, length int64) int64 {
	if t == math.MinInt64 || t == math.MaxInt64 {
		return t
	}
	over := t % length
	if over < 0 {
		over += length
	}
	if t < math.MinInt64+over {
		return math.MinInt64
	}
	return t - over
}

func (s *summing) cells(low, high int64, span int) (err error) {
	second := int64(time.Second)
	rows, err := s.tx.Query("SELECT doc FROM figures WHERE span = ? AND tenant = ? AND start >= ? AND start < ?", span, s.tenant, low/second, high/second)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var doc sql.RawBytes
		var f audit.Figures
		if err := rows.Scan(&doc); err != nil {
			return err
		}
		if err := json.Unmarshal(doc, &f); err != nil {
			return err
		}
		s.sum.Merge(f)
	}
	return rows.Err()
}

func (s *summing) records(low, high int64) (err error) {
	rows, err := s.tx.Query("SELECT time, outline FROM records WHERE time >= ?1 AND time < ?2 AND (?3 = 0 OR tenant = ?3)", low, high, s.tenant)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var at int64
		var doc sql.RawBytes
		var o audit.Outline
		if err := rows.Scan(&at, &doc); err != nil {
			return err
		}
		if err := json.Unmarshal(doc, &o); err != nil {
			return err
		}
		o.Time = time.Unix(0, at).UTC()
		s.sum.Add(o)
	}
	return rows.Err()
}
