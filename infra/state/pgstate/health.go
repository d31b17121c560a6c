package pgstate

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/airlock-run/airlock/functions/execution"
)

const (
	// readyFor is how long Ready caches a success.
	readyFor = time.Second
	// probeTime bounds Ready, which must return within a second.
	probeTime = 900 * time.Millisecond
)

// Ready returns an error if the state cannot be changed now. It writes a row. Its result may be a second old. The
// error is an *execution.StoreError.
func (s *Store) Ready(ctx context.Context) error {
	now := time.Now()
	s.mu.Lock()
	age := now.Sub(s.probed)
	s.mu.Unlock()
	if age >= 0 && age < readyFor {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	_, err := s.pool.Exec(ctx, `INSERT INTO airlock.probe (id, told) VALUES (1, $1)
		ON CONFLICT (id) DO UPDATE SET told = excluded.told`, rand.Text())
	if err != nil {
		err = judge(ctx, err)
		if known := (*execution.StoreError)(nil); !errors.As(err, &known) {
			err = &execution.StoreError{Fault: execution.StoreLost, Err: err}
		}
		return err
	}
	s.mu.Lock()
	s.probed = now
	s.mu.Unlock()
	return nil
}

// Stats returns what the state holds.
func (s *Store) Stats(ctx context.Context) (execution.StorageStats, error) {
	var stats execution.StorageStats
	err := s.do(ctx, func(ctx context.Context) error {
		err := s.pool.QueryRow(ctx, `SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
			WHERE relnamespace = 'airlock'::regnamespace AND relkind = 'r'`).Scan(&stats.FileBytes)
		if err != nil {
			return err
		}
		stats.Usage, err = collect(ctx, s.pool, scanUsage, `SELECT tenant,
			CASE WHEN kind IN ('queued', 'running') THEN 'jobs' ELSE kind END AS quota, sum(n)::bigint, sum(bytes)::bigint
			FROM airlock.usage WHERE subject = '' GROUP BY 1, 2 HAVING sum(n) <> 0 ORDER BY 4 DESC LIMIT 10000`)
		return err
	})
	return stats, err
}

func scanUsage(row pgx.Row) (u execution.StorageUsage, err error) {
	var tenant []byte
	err = row.Scan(&tenant, &u.Quota, &u.Count, &u.Bytes)
	u.Tenant = string(tenant)
	return u, err
}

// oldestOf is the number of queued jobs, those that were submitted first, among which the oldest is looked for.
const oldestOf = 20

// Backlog counts the jobs that have not ended.
func (s *Store) Backlog(ctx context.Context) (b execution.Backlog, err error) {
	const count = "(SELECT count(*) FROM airlock.jobs WHERE status = "
	err = s.do(ctx, func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, "SELECT "+count+"'queued'), "+count+"'running'), "+count+"'paused' AND id < $1)",
			[]byte(execution.FirstSession)).Scan(&b.Queued, &b.Running, &b.Paused)
	})
	if err != nil || b.Queued == 0 {
		return b, err
	}
	first, err := listJobs(ctx, s, scanListed, "SELECT id, status, doc, aside FROM airlock.jobs WHERE seq IN (SELECT seq "+
		"FROM (SELECT seq FROM airlock.jobs WHERE status = 'queued' OFFSET 0) AS queued ORDER BY seq LIMIT $1)", oldestOf)
	b.Oldest = execution.OldestOf(first)
	return b, err
}
