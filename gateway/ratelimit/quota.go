package ratelimit

import (
	"context"

	"github.com/airlock-run/airlock/policy"
)

// Counter counts requests up to a limit that is given with each; a Limiter and a Shared are counters.
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
	// Of gives a tenant's quota as it is now.
	Of func(tenant string) policy.Quota
}

// Take counts one request of the tenant. The verdict is that of the limit that refuses, else of the one that is nearer to
// its end; its Limit is 0 where the tenant has none.
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

// Concurrent is how many executions the tenant may have at once; 0 sets no bound.
func (q *Quotas) Concurrent(tenant string) int { return q.Of(tenant).Concurrent }
