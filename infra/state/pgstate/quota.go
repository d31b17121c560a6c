package pgstate

import (
	"context"
	"hash/fnv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/internal/share"
)

// The kinds of usage. Those of execution are quotas; queued and running together are execution.QuotaJobs.
const (
	kindQueued  = share.Queued
	kindRunning = share.Running
)

// rowBytes is the size of a row beyond its content, as in migrations/00001_state.sql.
const rowBytes = 512

// queuedJobs caches the number of queued jobs of all tenants.
type queuedJobs struct {
	n  int64
	at time.Time
}

// queuedInAll returns the number of queued jobs of all tenants, counted within the last second.
func (s *base) queuedInAll(ctx context.Context, q querier) (int64, error) {
	now := time.Now()
	s.mu.Lock()
	have := s.queued
	s.mu.Unlock()
	if age := now.Sub(have.at); age < time.Second && age >= 0 {
		return have.n, nil
	}
	var n int64
	err := q.QueryRow(ctx, "SELECT coalesce(sum(n), 0)::bigint FROM airlock.usage WHERE kind = $1 AND subject = ''",
		kindQueued).Scan(&n)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	s.queued = queuedJobs{n, now}
	s.mu.Unlock()
	return n, nil
}

// room is the use of its tenant up to which a job fits for sure, and what one batch may add to it. A negative queued
// means that the job may not fit.
type room struct{ queued, jobs, results, addQueued, addJobs int64 }

func (s *base) roomFor(ctx context.Context, n newJob) (room, error) {
	all, err := s.queuedInAll(ctx, s.pool)
	if err != nil {
		return room{}, err
	}
	allowed, queued := s.storage(n.job.Tenant), int64(s.cfg.MaxJobsPerTenant)
	r := room{queued: queued / 2, jobs: allowed.Jobs / 2, results: allowed.Results,
		addQueued: max(queued/64, 1), addJobs: allowed.Jobs / 64}
	if all > int64(s.cfg.MaxJobs)/2 || n.bytes() > r.addJobs {
		r.queued = -1
	}
	return r, nil
}

// lockTenant makes changes of a tenant near its limits wait for one another.
func lockTenant(ctx context.Context, tx pgx.Tx, tenant string) error {
	h := fnv.New64a()
	_, _ = h.Write([]byte(tenant)) // never fails
	_, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(h.Sum64()))
	return err
}

// measure returns the use of some kinds by a tenant, or by one of its subjects.
func measure(ctx context.Context, tx querier, tenant, subject string, kinds ...string) (n, bytes int64, err error) {
	err = tx.QueryRow(ctx, `SELECT coalesce(sum(n), 0)::bigint, coalesce(sum(bytes), 0)::bigint FROM airlock.usage
		WHERE tenant = $1 AND kind = ANY ($2::text[]) AND subject = $3`, []byte(tenant), kinds, []byte(subject)).
		Scan(&n, &bytes)
	return n, bytes, err
}

// measuring returns the use of tenants in a transaction.
func measuring(ctx context.Context, tx querier) share.Measure {
	return func(tenant, subject string, kinds ...string) (n, bytes int64, err error) {
		return measure(ctx, tx, tenant, subject, kinds...)
	}
}

// jobsWithin returns an error if a job that was just added is one too many or exceeds its tenant's quota.
func (s *base) jobsWithin(ctx context.Context, tx pgx.Tx, added newJob) error {
	all, err := s.queuedInAll(ctx, tx)
	if err != nil {
		return err
	}
	use := measuring(ctx, tx)
	if err := use.QueueHas(added.job, all, s.cfg.MaxJobs, s.cfg.MaxJobsPerTenant); err != nil {
		return err
	}
	return use.JobWithin(added.job, added.bytes(), s.storage(added.job.Tenant))
}

// makeRoomForResults deletes the oldest results of a tenant above its quota, except for the one just added and those
// whose receivers have not been called.
func (s *base) makeRoomForResults(ctx context.Context, tenant, but string) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		return makeRoom(ctx, tx, tenant, execution.QuotaResults, s.storage(tenant).Results, "airlock.jobs",
			`SELECT seq, octet_length(doc) + octet_length(request) + coalesce(octet_length(result), 0) AS size
			FROM airlock.jobs WHERE tenant = $1 AND ended IS NOT NULL AND callback IS NULL AND id <> $2
			ORDER BY ended LIMIT 100 FOR UPDATE SKIP LOCKED`, []byte(but))
	})
}

// makeRoomForDeliveries deletes the oldest events of a tenant above its quota.
func (s *base) makeRoomForDeliveries(ctx context.Context, tx pgx.Tx, tenant string) error {
	return makeRoom(ctx, tx, tenant, execution.QuotaDeliveries, s.storage(tenant).Deliveries, "airlock.events",
		`SELECT seq, octet_length(event) AS size FROM airlock.events WHERE tenant = $1 AND id <> $2 ORDER BY at LIMIT 100
		FOR UPDATE SKIP LOCKED`, []byte{})
}

// makeRoom deletes rows that a query finds, oldest first, until a tenant is within its quota or there are none. The
// table comes from this package.
func makeRoom(ctx context.Context, tx pgx.Tx, tenant, quota string, most int64, table, oldest string,
	but []byte) error {
	for {
		_, used, err := measure(ctx, tx, tenant, "", quota)
		if err != nil || used <= most {
			return err
		}
		// The rows before which the sum of the older ones has reached the excess stay.
		tag, err := tx.Exec(ctx, "WITH oldest AS MATERIALIZED ("+oldest+`),
			reached AS (SELECT seq, sum(size + 512) OVER (ORDER BY seq) - size - 512 AS before FROM oldest)
			DELETE FROM `+table+` WHERE seq IN (SELECT seq FROM reached WHERE before < $3)`,
			[]byte(tenant), but, used-most)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
	}
}
