package s3state

import (
	"context"
	"sync"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// A tally is the use of a quota by a tenant: as it was counted last, and what this process has added since.
type tally struct {
	used    int64
	counted time.Time
}

// A tallied is what a tally is of.
type tallied struct{ quota, tenant string }

const (
	recount    = 10 * time.Second
	maxTallies = 10_000
)

// tallies are the tallies of this process. They are safe for concurrent use.
type tallies struct {
	now func() time.Time
	mu  sync.Mutex
	all map[tallied]tally
}

// used returns the use of a quota by a tenant, which count counts if the last count is too old.
func (ts *tallies) used(quota, tenant string, count func() (int64, error)) (int64, error) {
	now, of := ts.now(), tallied{quota, tenant}
	ts.mu.Lock()
	t := ts.all[of]
	ts.mu.Unlock()
	if now.Sub(t.counted) <= recount && !t.counted.After(now) {
		return t.used, nil
	}
	n, err := count()
	if err != nil {
		return 0, err
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if len(ts.all) >= maxTallies {
		clear(ts.all)
	}
	if have := ts.all[of]; !have.counted.Equal(t.counted) {
		return have.used, nil // another request counted meanwhile, and more may have been added since
	}
	ts.all[of] = tally{n, now}
	return n, nil
}

// add adds to a tally.
func (ts *tallies) add(quota, tenant string, n int64) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.all[tallied{quota, tenant}]
	t.used += n
	ts.all[tallied{quota, tenant}] = t
}

// forget makes the next use of a tally count.
func (ts *tallies) forget(quota, tenant string) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.all, tallied{quota, tenant})
}

// roomForContent returns an *execution.QuotaError if a tenant has no room for so many bytes of a version.
func (s *Store) roomForContent(ctx context.Context, tenant string, bytes int) error {
	most := execution.DefaultStorage().Functions
	if s.cfg.Storage != nil {
		most = s.cfg.Storage(tenant).OrDefault().Functions
	}
	used, err := s.tallies.used(execution.QuotaFunctions, tenant, func() (int64, error) {
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
