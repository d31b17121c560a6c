package s3state

import (
	"context"

	"github.com/airlock-run/airlock/functions/execution"
)

// roomForContent returns an *execution.QuotaError if a tenant has no room for so many bytes of a version.
func (s *Store) roomForContent(ctx context.Context, tenant string, bytes int) error {
	most := execution.DefaultStorage().Functions
	if s.cfg.Storage != nil {
		most = s.cfg.Storage(tenant).OrDefault().Functions
	}
	used, err := s.tallies.Used(execution.QuotaFunctions, tenant, func() (int64, error) {
		contents, err := s.objects.Size(ctx, "contents"+tenantPart(tenant))
		if err != nil {
			return 0, err
		}
		functions, err := s.objects.Size(ctx, "functions"+tenantPart(tenant))
		return contents + functions, err
	})
	if err == nil && used+int64(bytes) > most {
		err = &execution.QuotaError{Quota: execution.QuotaFunctions, Used: used, Limit: most}
	}
	return err
}
