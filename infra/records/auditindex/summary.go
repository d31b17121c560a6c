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

// Summary returns the totals over all records of a query's tenant and time; the other fields of the query are
// ignored. While the index is behind, it returns the totals over what it has, and audit.ErrBehind.
func (x *Index) Summary(ctx context.Context, q audit.Query) (audit.Summary, error) {
	behind := x.fresh(ctx)
	if behind != nil && !errors.Is(behind, audit.ErrBehind) {
		return audit.Summary{}, behind
	}
	sum, err := x.sum(ctx, q)
	if err != nil {
		return audit.Summary{}, errors.Join(behind, fmt.Errorf("read the summary of records: %w", x.noted(err)))
	}
	return sum, behind
}

// Series returns the totals over each step of a query's time: the first from q.Since, the last before q.Until. The
// time must consist of whole steps, at most 10,000. While the index is behind, it returns the totals over what it has,
// and audit.ErrBehind.
func (x *Index) Series(ctx context.Context, q audit.Query, step time.Duration) ([]audit.Summary, error) {
	behind := x.fresh(ctx)
	if behind != nil && !errors.Is(behind, audit.ErrBehind) {
		return nil, behind
	}
	low, high, length := nanos(q.Since), nanos(q.Until), int64(step)
	if length <= 0 || high-low < 0 || (high-low)%length != 0 || (high-low)/length > 10_000 {
		return nil, fmt.Errorf("a series from %s until %s by %s: it must have whole steps, at most 10,000", q.Since, q.Until,
			step)
	}
	all := make([]audit.Summary, (high-low)/length)
	at := func(start int64) *audit.Summary { return &all[(start-low)/length] }
	err := x.summing(ctx, q.Tenant, func(s *summing) error {
		for span := daily; span >= shortest; span-- {
			if whole := int64(spanOf(span)); length%whole == 0 && down(low, whole) == low {
				return s.cells(low, high, span, at)
			}
		}
		return s.records(low, high, at)
	})
	if err != nil {
		return nil, errors.Join(behind, fmt.Errorf("read a series of summaries: %w", x.noted(err)))
	}
	return all, behind
}

// sum adds whole days, whole and partial hours before and after them, and single records before and after those, all
// from one state of the index.
func (x *Index) sum(ctx context.Context, q audit.Query) (sum audit.Summary, err error) {
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	if !q.Since.IsZero() {
		low = nanos(q.Since)
	}
	if !q.Until.IsZero() {
		high = nanos(q.Until)
	}
	err = x.summing(ctx, q.Tenant, func(s *summing) error {
		return s.between(low, high, daily, func(int64) *audit.Summary { return &sum })
	})
	return sum, err
}

// summing calls fn with one state of the index, unless it has nothing of the tenant.
func (x *Index) summing(ctx context.Context, name string, fn func(*summing) error) (err error) {
	tx, err := x.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	tenant := int64(everybody)
	if name != "" {
		err := tx.QueryRow("SELECT id FROM tenants WHERE name = ?", name).Scan(&tenant)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return fn(&summing{tx: tx, tenant: tenant})
}

type summing struct {
	tx     *sql.Tx
	tenant int64
}

// between adds what lies from low until before high, in Unix nanoseconds, in spans of at most a length, to what to
// returns for the beginning of each.
func (s *summing) between(low, high int64, span int, to func(int64) *audit.Summary) error {
	if low >= high {
		return nil
	}
	if span < shortest {
		return s.records(low, high, to)
	}
	length := int64(spanOf(span))
	first, end := up(low, length), down(high, length)
	if first >= end {
		return s.between(low, high, span-1, to)
	}
	if err := s.between(low, first, span-1, to); err != nil {
		return err
	}
	if err := s.cells(first, end, span, to); err != nil {
		return err
	}
	return s.between(end, high, span-1, to)
}

// up rounds up to a multiple of length, and down rounds down; the ends of time stay as they are.
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

func (s *summing) cells(low, high int64, span int, to func(int64) *audit.Summary) (err error) {
	second := int64(time.Second)
	rows, err := s.tx.Query("SELECT start, doc FROM figures WHERE span = ? AND tenant = ? AND start >= ? AND start < ?",
		span, s.tenant, low/second, high/second)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var start int64
		var doc sql.RawBytes
		var f audit.Summary
		if err := rows.Scan(&start, &doc); err != nil {
			return err
		}
		if err := json.Unmarshal(doc, &f); err != nil {
			return err
		}
		to(start * second).Merge(f)
	}
	return rows.Err()
}

func (s *summing) records(low, high int64, to func(int64) *audit.Summary) (err error) {
	rows, err := s.tx.Query("SELECT time, id, outline FROM records WHERE time >= ?1 AND time < ?2 AND (?3 = 0 OR "+
		"tenant = ?3)", low, high, s.tenant)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var at int64
		var doc sql.RawBytes
		var o audit.Outline
		if err := rows.Scan(&at, &o.ID, &doc); err != nil {
			return err
		}
		if err := json.Unmarshal(doc, &o); err != nil {
			return err
		}
		o.Time = time.Unix(0, at).UTC()
		to(at).Add(o)
	}
	return rows.Err()
}
