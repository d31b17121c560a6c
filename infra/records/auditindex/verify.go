package auditindex

import (
	"context"
	"errors"

	"github.com/airlock-run/airlock/policy/audit"
)

// Verify has the store check the chains of its records. The index has no part in it.
func (x *Index) Verify(ctx context.Context) (audit.Report, error) {
	if v, ok := x.Store.(interface {
		Verify(ctx context.Context) (audit.Report, error)
	}); ok {
		return v.Verify(ctx)
	}
	return audit.Report{}, errors.New("verify the records: this store cannot")
}
