package records

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/policy/audit"
)

// Bounds of what is read.
const (
	// scannedRecords is how many records, newest first, are read where there is no index.
	scannedRecords = 5000
	// scannedBehind is how many are read for an index that is being built.
	scannedBehind = 500
	recentThreats = 20
)

// An Index answers from all records. A Store may implement it. While it is behind, it answers from those that it has,
// with audit.ErrBehind. Without an index, and while it has none, summaries cover the newest records. Both say so.
type Index interface {
	// Summary returns the totals over the tenant and time of a query.
	Summary(ctx context.Context, q audit.Query) (audit.Summary, error)
	// Threats returns the newest records of a query, by tenant and time, whose score is above 0; at most q.Limit.
	// They have no content.
	Threats(ctx context.Context, q audit.Query) ([]audit.Record, error)
	// Series returns the totals over each step from q.Since to q.Until, which are whole steps apart.
	Series(ctx context.Context, q audit.Query, step time.Duration) ([]audit.Summary, error)
}

// Totals returns the totals over the records that a query selects. complete is false if they cover only the newest.
func Totals(ctx context.Context, store Store, q audit.Query) (sum audit.Summary, complete bool, err error) {
	most := scannedRecords
	if index, ok := store.(Index); ok {
		sum, err := index.Summary(ctx, q)
		if err == nil || errors.Is(err, audit.ErrBehind) && sum.Records > 0 {
			return sum, err == nil, nil
		}
		if !errors.Is(err, audit.ErrBehind) {
			return sum, false, api.RecordsUnavailable(err)
		}
		most = scannedBehind
	}
	complete, err = scan(ctx, store, q, most, func(r audit.Record) bool {
		sum.Add(audit.OutlineOf(r))
		return true
	})
	return sum, complete, err
}

// Threats returns the newest records of a query that have a score, at most 20, without their content.
func Threats(ctx context.Context, store Store, q audit.Query) (threats []audit.Record, err error) {
	most := scannedRecords
	if index, ok := store.(Index); ok {
		q.Limit = recentThreats
		threats, err = index.Threats(ctx, q)
		if err == nil {
			return threats, nil
		}
		if !errors.Is(err, audit.ErrBehind) {
			return nil, api.RecordsUnavailable(err)
		}
		most = scannedBehind
	}
	_, err = scan(ctx, store, q, most, func(r audit.Record) bool {
		if audit.OutlineOf(r).Score > 0 {
			threats = append(threats, r.WithoutContent())
		}
		return len(threats) < recentThreats
	})
	return threats, err
}

// Series returns the totals over each step of a query. complete is false if they cover only the newest records.
func Series(
	ctx context.Context, store Store, q audit.Query, step time.Duration,
) (steps []audit.Summary, complete bool, err error) {
	most := scannedRecords
	if index, ok := store.(Index); ok {
		steps, err := index.Series(ctx, q, step)
		has := func(s audit.Summary) bool { return s.Records > 0 }
		if err == nil || errors.Is(err, audit.ErrBehind) && slices.ContainsFunc(steps, has) {
			return steps, err == nil, nil
		}
		if !errors.Is(err, audit.ErrBehind) {
			return nil, false, api.RecordsUnavailable(err)
		}
		most = scannedBehind
	}
	steps = make([]audit.Summary, q.Until.Sub(q.Since)/step)
	complete, err = scan(ctx, store, q, most, func(r audit.Record) bool {
		steps[r.Time.Sub(q.Since)/step].Add(audit.OutlineOf(r))
		return true
	})
	return steps, complete, err
}

// scan calls fn with the records of a query, newest first, until fn returns false or at least most were read. Pages may
// be short, or empty, because a store reads a bounded part of its records for each: scan reads at most two more pages
// than most records fill. It reports whether fn saw all records.
func scan(
	ctx context.Context, store Store, q audit.Query, most int, fn func(audit.Record) bool,
) (all bool, err error) {
	q.Limit = 500
	for seen, left := 0, most/q.Limit+2; ; left-- {
		page, err := store.List(ctx, q)
		if err != nil {
			return false, api.RecordsUnavailable(err)
		}
		for _, r := range page.Items {
			if !fn(r) {
				return false, nil
			}
		}
		if seen += len(page.Items); page.Next == "" || seen >= most || left == 1 {
			return page.Next == "", nil
		}
		q.Cursor = page.Next
	}
}
