package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// The bounds of Earlier.
const (
	maxEarlier = 100
	// scannedEarlier is how many records are read to find them.
	scannedEarlier = 20_000
	// maxContent bounds the code, requests and journals of all of them in bytes.
	maxContent = MaxBytes
)

// The statuses of the records of segments and of steps that others continue.
const (
	pausedStatus    = "paused"
	completedStatus = "completed"
)

// ErrIncomplete is returned by Earlier if a record is missing, or if there are too many or too large ones.
var ErrIncomplete = errors.New("the executions that it continues cannot be replayed")

// A Reader reads records, as a Store does.
type Reader interface {
	Get(ctx context.Context, id string) (Record, error)
	List(ctx context.Context, q Query) (Page, error)
}

// Earlier returns the records of the segments that a segment continued, or of the steps of the session that a step
// continued, from the first to the last. Of several attempts at a segment it returns the last: what the others led to
// was lost. A step continues none from before a restart of its session, and the first step of a fork
// continues those of the session that was forked. Any other record continues none. The error is ErrIncomplete if one is
// missing, and says which, if there are more than 99, or if they hold more than 32 MiB of code, requests and journals.
// Each record is one that Get returned, which has checked it; the error is ErrAltered if the list has another.
func Earlier(ctx context.Context, store Reader, r Record) ([]Record, error) {
	n, what := r.Segment, "segment"
	q := Query{Tenant: r.Caller.Tenant, Until: r.Time.Add(time.Millisecond), Status: pausedStatus, Limit: 500}
	if r.Session != "" {
		n, what, q.Status = r.Step, "step", completedStatus
	}
	if n <= 1 || r.Restarted {
		return nil, nil
	}
	if n > maxEarlier {
		return nil, fmt.Errorf("%w: it is %s %d, and at most %d can be run again", ErrIncomplete, what, n, maxEarlier)
	}
	if r.Session == "" {
		first, err := store.Get(ctx, r.Parent)
		if errors.Is(err, ErrNotFound) {
			return nil, fmt.Errorf("%w: segment 1 (%s) has no record", ErrIncomplete, r.Parent)
		}
		if err != nil {
			return nil, err
		}
		q.Since = first.Time
	}
	found, missing, of := make([]Record, n-1), n-1, cmp.Or(r.ForkOf, r.Session)
	for seen := 0; missing > 0 && seen < scannedEarlier; {
		page, err := store.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, e := range page.Items {
			if k := r.follows(e, of); k > 0 && k < n && found[k-1].ID == "" {
				found[k-1], missing, of = e.WithoutContent(), missing-1, cmp.Or(e.ForkOf, of)
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
		seen += len(page.Items)
	}
	size := 0
	for k, e := range slices.Backward(found) {
		if e.ID == "" {
			return nil, fmt.Errorf("%w: %s %d has no record", ErrIncomplete, what, k+1)
		}
		kept, err := checked(ctx, store, e)
		if err != nil {
			return nil, fmt.Errorf("%s %d: %w", what, k+1, err)
		}
		if size += len(kept.Code) + len(kept.Request) + len(kept.Journal); size > maxContent {
			return nil, fmt.Errorf("%w: their records have more than %d bytes", ErrIncomplete, maxContent)
		}
		found[k] = kept
		if e.Restarted {
			return found[k:], nil
		}
	}
	return found, nil
}

// checked returns the record that a list has as e. A list does not check what it reads.
func checked(ctx context.Context, store Reader, e Record) (Record, error) {
	r, err := store.Get(ctx, e.ID)
	if errors.Is(err, ErrNotFound) {
		return r, fmt.Errorf("%w: the record %s is listed and not kept", ErrIncomplete, e.ID)
	}
	if err != nil {
		return r, err
	}
	part := func(r Record) []any { return []any{r.Status, r.Caller.Tenant, r.Lineage} }
	if !reflect.DeepEqual(part(r), part(e)) {
		return r, fmt.Errorf("record %s: %w", e.ID, ErrAltered)
	}
	return r, nil
}

// follows returns the number of e among the segments that r is one of, or among the steps of the session that r
// continues, and 0 if e is none of them.
func (r Record) follows(e Record, session string) int {
	switch {
	case e.Decision != nil || e.ID == r.ID:
		return 0
	case r.Session != "" && e.Session == session:
		return e.Step
	case r.Session == "" && cmp.Or(e.Parent, e.ID) == r.Parent:
		return max(e.Segment, 1)
	}
	return 0
}
