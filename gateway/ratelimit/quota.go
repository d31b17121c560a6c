package ratelimit

import (
	"context"

	"github.com/airlock-run/airlock/policy"
)

// A Counter counts requests up to a limit that is given with each. Limiter and Shared are counters.
type Counter interface {
	TakeUpTo(ctx context.Context, key string, most int) (Verdict, error)
}

var (
	_ Counter = (*Limiter)(nil)
	_ Counter = (*Shared)(nil)
)

// Quotas keeps tenants within what the policy gives them. It is safe for concurrent use.
type Quotas struct {
	// Minute and Day count over a minute and over a day.
	Minute, Day Counter
	// Of returns a tenant's quota as it is now.
	Of func(tenant string) policy.Quota
}

// Take counts one request of the tenant. The verdict is that of the limit that refuses, or of the one that is closer
// to its end. Its Limit is 0 if the tenant has no limit.
func (q *Quotas) Take(ctx context.Context, tenant string) (Verdict, error) {
	quota := q.Of(tenant)
	verdict := Verdict{Allowed: true}
	for _, limit := range []struct {
		counter Counter
		most    int
	}{{q.Minute, quota.PerMinute}, {q.Day, quota.PerDay}} {
		if limit.most == 0 {
			continue
		}
		v, err := limit.counter.TakeUpTo(ctx, "tenant:"+tenant, limit.most)
		if err != nil {
			return Verdict{}, err
		}
		if !v.Allowed {
			return v, nil
		}
		if verdict.Limit == 0 || v.Remaining < verdict.Remaining {
			verdict = v
		}
	}
	return verdict, nil
}

// Concurrent returns how many executions the tenant may run at once; 0 means no bound.
func (q *Quotas) Concurrent(tenant string) int { return q.Of(tenant).Concurrent }
