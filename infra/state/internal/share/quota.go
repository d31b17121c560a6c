package share

import (
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// The kinds of use that count jobs until they end.
const (
	Queued  = "queued"
	Running = "running"
)

// Measure returns the use of some kinds by a tenant, or by one of its subjects, in the transaction that changes it. A
// change for which one of its methods returns an error must be rolled back.
type Measure func(tenant, subject string, kinds ...string) (n, bytes int64, err error)

// Within returns a QuotaError if what was just added exceeds a tenant's quota.
func (m Measure) Within(quota, tenant, subject string, added, most int64, after time.Duration, kinds ...string) error {
	_, used, err := m(tenant, "", kinds...)
	if err != nil {
		return err
	}
	own := added
	if subject != "" {
		if _, own, err = m(tenant, subject, kinds...); err != nil {
			return err
		}
	}
	if Beyond(used, own, added, most) {
		return &execution.QuotaError{Quota: quota, Used: used - added, Limit: most, After: after}
	}
	return nil
}

// QueueHas returns execution.ErrFull if a job that was just added is one too many. all is the number of queued jobs.
func (m Measure) QueueHas(job execution.Job, all int64, most, mostOfTenant int) error {
	tenant, _, err := m(job.Tenant, "", Queued)
	if err != nil {
		return err
	}
	own := int64(1)
	if job.Subject != "" {
		if own, _, err = m(job.Tenant, job.Subject, Queued); err != nil {
			return err
		}
	}
	if Beyond(max(all, tenant), tenant, 1, int64(most)) || Beyond(tenant, own, 1, int64(mostOfTenant)) {
		return execution.ErrFull
	}
	return nil
}

// JobWithin returns an error if the bytes of a job that was just added exceed its tenant's quotas. Older results make
// room for newer ones, unless they wait for their receivers.
func (m Measure) JobWithin(job execution.Job, bytes int64, allowed execution.Storage) error {
	const soon, later = 5 * time.Second, time.Minute
	err := m.Within(execution.QuotaJobs, job.Tenant, job.Subject, bytes, allowed.Jobs, soon, Queued, Running)
	if err != nil {
		return err
	}
	if _, kept, err := m(job.Tenant, "", execution.QuotaResults); err != nil || kept <= allowed.Results {
		return err
	}
	return m.Within(execution.QuotaResults, job.Tenant, job.Subject, 0, allowed.Results, later, execution.QuotaResults)
}

// FunctionsWithin returns an error for a change that exceeds a tenant's quotas, but not for one that reduces its use.
// had and scheduled are the use before. Notes on a function without a new version may take a little more.
func (m Measure) FunctionsWithin(tenant string, had, scheduled int64, versioned bool, allowed execution.Storage) error {
	_, has, err := m(tenant, "", execution.QuotaFunctions)
	if err != nil {
		return err
	}
	most := allowed.Functions
	if !versioned {
		most += most / 64
	}
	if has > had && has > most {
		return &execution.QuotaError{Quota: execution.QuotaFunctions, Used: had, Limit: allowed.Functions}
	}
	n, _, err := m(tenant, "", execution.QuotaSchedules)
	if err == nil && n > scheduled && n > allowed.Schedules {
		err = &execution.QuotaError{Quota: execution.QuotaSchedules, Used: scheduled, Limit: allowed.Schedules}
	}
	return err
}

// Kept returns the times before which results and events of a tenant are deleted. before is that of tenants without
// ages of their own.
func Kept(own execution.Storage, now, before time.Time) (results, events time.Time) {
	results, events = before, before
	usual := execution.DefaultStorage()
	if own.KeepResults != usual.KeepResults {
		results = now.Add(-own.KeepResults)
	}
	if own.KeepEvents != usual.KeepEvents {
		events = now.Add(-own.KeepEvents)
	}
	return results, events
}
