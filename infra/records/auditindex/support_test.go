package auditindex_test

import (
	"context"

	"github.com/airlock-run/airlock/infra/records/filerecords"
)

// slow returns no lines before the gate is opened.
type slow struct {
	*filerecords.Store
	gate chan struct{}
}

func (s *slow) Lines(ctx context.Context, day string, offset int64, fn func([]byte, int64) error) error {
	select {
	case <-s.gate:
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.Store.Lines(ctx, day, offset, fn)
}
