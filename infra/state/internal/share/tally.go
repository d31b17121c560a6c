package share

import (
	"sync"
	"time"
)

// A tally is the use of a quota by a tenant: the last count, and what this process has added since.
type tally struct {
	used    int64
	counted time.Time
}

// A tallied names the quota and the tenant of a tally.
type tallied struct{ quota, tenant string }

const (
	recount    = 10 * time.Second
	maxTallies = 10_000
)

// Tallies are the use of quotas by tenants, for stores that cannot change a count with what it counts. They are safe
// for concurrent use.
type Tallies struct {
	now func() time.Time
	mu  sync.Mutex
	all map[tallied]tally
}

// NewTallies returns tallies of nothing.
func NewTallies(now func() time.Time) *Tallies { return &Tallies{now: now, all: map[tallied]tally{}} }

// Used returns the use of a quota by a tenant, which count counts if the last count is too old.
func (ts *Tallies) Used(quota, tenant string, count func() (int64, error)) (int64, error) {
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

// A Tally is the use of a quota by a tenant.
type Tally struct {
	Quota, Tenant string
	Used          int64
}

// All returns the use of every quota and tenant that were counted.
func (ts *Tallies) All() []Tally {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	all := make([]Tally, 0, len(ts.all))
	for of, t := range ts.all {
		if !t.counted.IsZero() {
			all = append(all, Tally{of.quota, of.tenant, t.used})
		}
	}
	return all
}

// Add adds to a tally.
func (ts *Tallies) Add(quota, tenant string, n int64) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.all[tallied{quota, tenant}]
	t.used += n
	ts.all[tallied{quota, tenant}] = t
}

// Forget makes the next use of a tally count.
func (ts *Tallies) Forget(quota, tenant string) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.all, tallied{quota, tenant})
}
