package gateway

import (
	"context"
	"time"

	"github.com/airlock-run/airlock/policy/audit"
)

// Index is what Records may be besides: an index over all records. Without one, and while it answers audit.ErrBehind,
// summaries are over the newest records only, and say so.
type Index interface {
	// Figures gives the totals over the query's tenant and time.
	Figures(ctx context.Context, q audit.Query) (audit.Figures, error)
	// Threats gives the query's newest records, by tenant and time, whose score is above 0; at most q.Limit.
	Threats(ctx context.Context, q audit.Query) ([]audit.Record, error)
	// Series gives the totals over each step from q.Since until q.Until, which are whole steps apart.
	Series(ctx context.Context, q audit.Query, step time.Duration) ([]audit.Figures, error)
}
