package dynamostate

import (
	"context"

	"github.com/airlock-run/airlock/functions/execution"
)

// resultCharge returns the bytes that a change of a job adds to the results of its tenant, and records them in the
// item: those of the result when the job ends, and their negation if it is to run again.
func (u uses) resultCharge(it item, was, job execution.Job) charge {
	keep := u.storage(job.Tenant).KeepResults
	c := charge{
		tenant: job.Tenant, quota: execution.QuotaResults, until: fromMillis(numberOf(it["keptUntil"])), lifetime: keep,
	}
	switch {
	case job.Ended() && !was.Ended():
		c.until, c.bytes = u.now().Add(keep), int64(len(job.Result))+jobBytes
		it["kept"], it["keptUntil"] = number(c.bytes), number(millis(c.until))
	case !job.Ended() && was.Ended():
		c.bytes = -numberOf(it["kept"])
		delete(it, "kept")
		delete(it, "keptUntil")
	}
	return c
}

// makeRoomForResults deletes the oldest results of a job's tenant if they exceed its quota, and a tenth more, so that
// the list of ended jobs is read rarely: except for that of the job, and those whose receivers have not been called. If
// that fails, the tenant's next result does it.
func (u uses) makeRoomForResults(ctx context.Context, but execution.Job, used item) {
	allowed := u.storage(but.Tenant)
	kept, _, _ := usedIn(used, execution.QuotaResults, u.now())
	if kept <= allowed.Results {
		return
	}
	most := allowed.Results - allowed.Results/10
	var freed []charge
	_ = u.index(ctx, endedList, first, last, looked, func(l listed) (bool, error) {
		if tenantIn(l.entry)+"/" != tenantPart(but.Tenant) || idOf(l.key) == but.ID {
			return true, nil
		}
		it, err := u.get(ctx, l.key)
		bytes := numberOf(it["kept"])
		if err != nil || entryOf(it) != l.entry || bytes == 0 {
			return err == nil, err // it does not count, or was changed and the index is behind
		}
		there, err := u.table.take(ctx, l.key, textOf(it["v"]))
		if err != nil || !there {
			return err == nil, err
		}
		u.discard(ctx, it)
		freed = append(freed, charge{
			but.Tenant, execution.QuotaResults, fromMillis(numberOf(it["keptUntil"])), allowed.KeepResults, -bytes,
		})
		kept -= bytes
		return kept > most, nil
	})
	if len(freed) > 0 {
		_, _ = u.add(ctx, freed[0], freed[1:]...)
	}
}

// Stats returns what tenants store. The bytes are those of the tenants that this process has served, as of the last
// change by it; items are not counted, apart from schedules.
func (s *Store) Stats(context.Context) (execution.StorageStats, error) {
	stats := execution.StorageStats{Uncounted: true, Usage: s.uses.latest.usage(s.cfg.Now())}
	for _, t := range s.tallies.All() {
		switch t.Quota {
		case execution.QuotaFunctions:
			stats.Usage = append(stats.Usage, execution.StorageUsage{Tenant: t.Tenant, Quota: t.Quota, Bytes: t.Used})
		case execution.QuotaSchedules:
			stats.Usage = append(stats.Usage, execution.StorageUsage{Tenant: t.Tenant, Quota: t.Quota, Count: t.Used})
		}
	}
	return stats, nil
}
