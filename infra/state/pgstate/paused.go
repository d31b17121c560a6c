package pgstate

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/internal/share"
)

// dueAt returns the not_before of a job: when a queued one may begin, or when something is due about a paused one.
func dueAt(job execution.Job) time.Time {
	if job.Status == execution.Paused {
		return job.Wait.DueAt
	}
	return job.NotBefore
}

// sessionWithin returns an error if a session that grows by a number of bytes would exceed its tenant's quota. Sessions
// that grow at once do not see one another's growth.
func (s *base) sessionWithin(ctx context.Context, job execution.Job, grew int64) error {
	if job.Wait == nil || job.Wait.Session == nil || grew <= 0 {
		return nil
	}
	used, own, err := int64(0), grew, error(nil)
	if _, used, err = measure(ctx, s.pool, job.Tenant, "", kindQueued, kindRunning); err != nil {
		return err
	}
	if job.Subject != "" {
		if _, own, err = measure(ctx, s.pool, job.Tenant, job.Subject, kindQueued, kindRunning); err != nil {
			return err
		}
		own += grew
	}
	if most := s.storage(job.Tenant).Jobs; share.Beyond(used+grew, own, grew, most) {
		return &execution.QuotaError{Quota: execution.QuotaJobs, Used: used, Limit: most}
	}
	return nil
}

// PausedBuilds returns how many paused executions and sessions each engine build has a snapshot of.
func (s *base) PausedBuilds(ctx context.Context) (map[string]int, error) {
	var builds []string
	err := s.do(ctx, func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, "SELECT coalesce(convert_from(doc, 'UTF8')::json #>> '{wait,engineBuild}', '') "+
			"FROM airlock.jobs WHERE status = 'paused' AND snapshot IS NOT NULL")
		if err != nil {
			return err
		}
		builds, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for paused jobs: %w", err)
	}
	counts := map[string]int{}
	for _, build := range builds {
		counts[build]++
	}
	return counts, nil
}

// DueWaits returns paused jobs for which something is due, those that are due longest first. If there are more, each
// tenant has its share. The jobs have neither request nor snapshot.
func (s *Store) DueWaits(ctx context.Context, now time.Time, limit int) ([]execution.Job, error) {
	due := fair("airlock.jobs", "not_before", "t.status = 'paused'")
	return listJobs(ctx, s, scanState, due+`, picked AS MATERIALIZED (
			SELECT j.seq AS picked FROM due, LATERAL (
				SELECT t.seq FROM airlock.jobs t WHERE t.tenant = due.tenant AND t.status = 'paused' AND t.not_before <= $1
				ORDER BY t.not_before LIMIT `+part+`) j LIMIT $2
		)
		SELECT `+stateColumns+" FROM airlock.jobs JOIN picked ON seq = picked ORDER BY not_before", millis(now), limit)
}

// Paused returns the paused jobs of a tenant, or of one of its subjects, whose ID is greater, in the order of their
// IDs. The jobs have neither request nor snapshot.
func (s *Store) Paused(ctx context.Context, tenant, subject, after string, limit int) ([]execution.Job, error) {
	const columns = "SELECT id, status, doc, aside FROM airlock.jobs WHERE status = 'paused' AND tenant = $1 "
	if subject == "" {
		return listJobs(ctx, s, scanListed, columns+"AND id > $2 ORDER BY id LIMIT $3", []byte(tenant), []byte(after), limit)
	}
	return listJobs(ctx, s, scanListed, columns+"AND subject = $4 AND id > $2 ORDER BY id LIMIT $3", []byte(tenant),
		[]byte(after), limit, []byte(subject))
}

// scanListed reads a row without its request, result and snapshot.
func scanListed(row pgx.Row) (*jobRow, error) {
	r := &jobRow{request: []byte("{}"), isState: true}
	err := row.Scan(&r.id, &r.status, &r.doc, &r.aside)
	return r, err
}

func listJobs(
	ctx context.Context, s *Store, scan func(pgx.Row) (*jobRow, error), query string, args ...any,
) ([]execution.Job, error) {
	var rows []*jobRow
	err := s.do(ctx, func(ctx context.Context) (err error) {
		rows, err = collect(ctx, s.pool, scan, query, args...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	return passOver(decodeJobs(rows))
}

// Jobs returns the jobs of a tenant, or of one of its subjects, that have a status, whose ID is greater, in the order
// of their IDs. The jobs have no request.
func (s *Store) Jobs(
	ctx context.Context, tenant, subject string, status execution.Status, after string, limit int,
) (jobs []execution.Job, next string, err error) {
	is := "queued"
	if status == execution.Running {
		is = "running"
	}
	jobs, err = listJobs(ctx, s, scanListed, "SELECT id, status, doc, aside FROM airlock.jobs WHERE seq IN (SELECT seq "+
		"FROM airlock.jobs WHERE status = '"+is+"' AND tenant = $1 AND ($2 = ''::bytea OR subject = $2) AND id > $3 "+
		"ORDER BY id LIMIT $4) ORDER BY id", []byte(tenant), []byte(subject), []byte(after), limit)
	if err == nil && len(jobs) == limit {
		next = jobs[limit-1].ID
	}
	return jobs, next, err
}
