package auditindex

import (
	"context"
	"errors"

	"github.com/airlock-run/airlock/policy/audit"
)

// Verify verifies the chains of the records in the store, without the index.
func (x *Index) Verify(ctx context.Context) (audit.Report, error) {
	if v, ok := x.Store.(interface {
		Verify(ctx context.Context) (audit.Report, error)
	}); ok {
		return v.Verify(ctx)
	}
	return audit.Report{}, errors.New("this record store cannot be verified")
}
