package sqlitestate

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

const (
	ownersFolder = "owners"
	jobColumns   = "doc, request, result"
)

// Submit keeps a job. Once it returns nil the job survives whatever happens to this process. A job whose id is there
// already is left as it is. The error is execution.ErrFull when too many jobs, of all or of its tenant, have not begun.
func (s *Store) Submit(ctx context.Context, job execution.Job) error {
	doc, err := json.Marshal(job)
	if err != nil {
		return fmt.Errorf("submit job: %w", err)
	}
	request, err := json.Marshal(job.Request)
	if err != nil {
		return fmt.Errorf("submit job: %w", err)
	}
	err = s.change(ctx, func(tx *sql.Tx) error {
		var all, own int
		err := tx.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(tenant = ?), 0) FROM jobs WHERE status = 'queued'", job.Tenant).Scan(&all, &own)
		if err != nil {
			return err
		}
		if all >= s.maxJobs || own >= s.maxEach {
			return execution.ErrFull
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO jobs (id, tenant, status, priority, not_before, owner, cancel, doc, request)
			VALUES (?, ?, ?, ?, ?, '', 0, ?, ?) ON CONFLICT (id) DO NOTHING`,
			job.ID, job.Tenant, string(job.Status), priority(job.Request.Priority), millis(job.NotBefore), doc, request)
		return err
	})
	if err != nil {
		return fmt.Errorf("submit job: %w", err)
	}
	return nil
}

func priority(name string) int {
	switch name {
	case "low":
		return 0
	case "high":
		return 2
	}
	return 1
}

// Job gives a job. The error is execution.ErrNotFound when there is none.
func (s *Store) Job(ctx context.Context, id string) (execution.Job, error) {
	return scanJob(s.db.QueryRowContext(ctx, "SELECT "+jobColumns+" FROM jobs WHERE id = ?", id))
}

// Claim makes the next queued job this process's own, and running: that of the first tenant in order after the one
// given, without those to pass over, its highest priority first, then the oldest. Claiming with the tenant of the last
// answer serves all in turn. The error is execution.ErrNotFound when no job may begin now.
func (s *Store) Claim(ctx context.Context, now time.Time, after string, passOver []string) (execution.Job, error) {
	var job execution.Job
	// Reading waits for no writer: looking in vain costs next to nothing.
	const due = " FROM jobs WHERE status = 'queued' AND not_before <= ? AND tenant NOT IN (SELECT value FROM json_each(?))"
	over := "[]"
	if len(passOver) > 0 {
		list, err := json.Marshal(passOver)
		if err != nil {
			return job, err
		}
		over = string(list)
	}
	some, err := s.any(ctx, "SELECT 1"+due+" LIMIT 1", millis(now), over)
	if err != nil || !some {
		return job, cmp.Or(err, execution.ErrNotFound)
	}
	err = s.change(ctx, func(tx *sql.Tx) error {
		const next = "SELECT " + jobColumns + due + " AND tenant "
		const order = " ORDER BY tenant, priority DESC, seq LIMIT 1"
		var err error
		if job, err = scanJob(tx.QueryRowContext(ctx, next+"> ?"+order, millis(now), over, after)); errors.Is(err, execution.ErrNotFound) {
			job, err = scanJob(tx.QueryRowContext(ctx, next+"<= ?"+order, millis(now), over, after))
		}
		if err != nil {
			return err
		}
		job.Status, job.Owner, job.StartedAt = execution.Running, s.owner, now.UTC()
		return s.write(ctx, tx, job)
	})
	if err != nil {
		return execution.Job{}, err
	}
	return job, nil
}

// Take claims the job with an id, if it is queued and may begin now; the error is execution.ErrNotFound otherwise.
func (s *Store) Take(ctx context.Context, now time.Time, id string) (execution.Job, error) {
	return s.ChangeJob(ctx, id, func(job *execution.Job) error {
		if job.Status != execution.Queued || job.NotBefore.After(now) {
			return execution.ErrNotFound
		}
		job.Status, job.Owner, job.StartedAt = execution.Running, s.owner, now.UTC()
		return nil
	})
}

// ChangeJob hands a job to fn and keeps what fn makes of it, in one transaction. An error of fn changes nothing and is
// given back.
func (s *Store) ChangeJob(ctx context.Context, id string, fn func(*execution.Job) error) (execution.Job, error) {
	var job execution.Job
	err := s.change(ctx, func(tx *sql.Tx) error {
		var err error
		if job, err = scanJob(tx.QueryRowContext(ctx, "SELECT "+jobColumns+" FROM jobs WHERE id = ?", id)); err != nil {
			return err
		}
		if err := fn(&job); err != nil {
			return err
		}
		return s.write(ctx, tx, job)
	})
	return job, err
}

func (s *Store) write(ctx context.Context, tx *sql.Tx, job execution.Job) error {
	doc, err := json.Marshal(job)
	if err != nil {
		return err
	}
	var callback sql.NullInt64
	if job.Callback != nil && job.Callback.State == execution.CallbackPending {
		callback = sql.NullInt64{Int64: millis(job.Callback.Next), Valid: true}
	}
	_, err = tx.ExecContext(ctx, "UPDATE jobs SET status = ?, not_before = ?, owner = ?, cancel = ?, callback = ?, ended = ?, doc = ?, result = ? WHERE id = ?",
		string(job.Status), millis(job.NotBefore), job.Owner, job.Cancel, callback, orNull(job.EndedAt), doc, []byte(job.Result), job.ID)
	return err
}

// Orphans gives the running jobs of processes that have ended. Callbacks that such a process had taken are due again.
func (s *Store) Orphans(ctx context.Context) ([]execution.Job, error) {
	owners, err := s.strings(ctx, `SELECT DISTINCT owner FROM jobs WHERE status = 'running' AND owner <> ?
		UNION SELECT DISTINCT owner FROM jobs WHERE callback IS NOT NULL AND owner NOT IN ('', ?)`, s.owner, s.owner)
	if err != nil {
		return nil, err
	}
	var out []execution.Job
	for _, owner := range owners {
		if !ownerGone(filepath.Join(s.dir, ownersFolder, filepath.Base(owner))) {
			continue
		}
		if _, err := s.db.ExecContext(ctx, "UPDATE jobs SET callback = 0, owner = '' WHERE callback IS NOT NULL AND owner = ?", owner); err != nil {
			return nil, fmt.Errorf("free callbacks: %w", err)
		}
		jobs, err := s.jobs(ctx, "SELECT "+jobColumns+" FROM jobs WHERE status = 'running' AND owner = ?", owner)
		if err != nil {
			return nil, err
		}
		out = append(out, jobs...)
	}
	return out, nil
}

// Cancelled gives the ids of this process's running jobs that are to be stopped.
func (s *Store) Cancelled(ctx context.Context) ([]string, error) {
	return s.strings(ctx, "SELECT id FROM jobs WHERE status = 'running' AND owner = ? AND cancel = 1", s.owner)
}

// Callbacks takes at most limit callbacks that are due, and makes them due again at a later time, so that one process
// at a time delivers each.
func (s *Store) Callbacks(ctx context.Context, now, again time.Time, limit int) ([]execution.Job, error) {
	var out []execution.Job
	some, err := s.any(ctx, "SELECT 1 FROM jobs WHERE callback IS NOT NULL AND callback <= ? LIMIT 1", millis(now))
	if err != nil || !some {
		return nil, err
	}
	err = s.change(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, "SELECT "+jobColumns+" FROM jobs WHERE callback IS NOT NULL AND callback <= ? ORDER BY callback LIMIT ?", millis(now), limit)
		if err != nil {
			return err
		}
		if out, err = scanJobs(rows); err != nil {
			return err
		}
		for _, job := range out {
			if _, err := tx.ExecContext(ctx, "UPDATE jobs SET callback = ?, owner = ? WHERE id = ?", millis(again), s.owner, job.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("take callbacks: %w", err)
	}
	return out, nil
}

// Gone reports whether a tenant's receiver has said that it is gone; with a time, it is remembered as gone until then.
func (s *Store) Gone(ctx context.Context, tenant, url string, now, until time.Time) (bool, error) {
	if !until.IsZero() {
		_, err := s.db.ExecContext(ctx, "INSERT OR REPLACE INTO gone (tenant, url, until) VALUES (?, ?, ?)", tenant, url, millis(until))
		return true, err
	}
	var n int
	err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM gone WHERE tenant = ? AND url = ? AND until > ?", tenant, url, millis(now)).Scan(&n)
	return n > 0, err
}

// Prune forgets the jobs that ended before a time and have told everybody, and what else has served its time.
func (s *Store) Prune(ctx context.Context, now, before time.Time) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM jobs WHERE ended IS NOT NULL AND ended < ? AND callback IS NULL", millis(before))
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM gone WHERE until <= ?", millis(now)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM events WHERE at < ?", millis(before)); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM deliveries WHERE until <= ?", millis(now))
		return err
	})
}

func (s *Store) jobs(ctx context.Context, query string, args ...any) ([]execution.Job, error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read jobs: %w", err)
	}
	return scanJobs(rows)
}

func scanJobs(rows *sql.Rows) (_ []execution.Job, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	var out []execution.Job
	for rows.Next() {
		job, err := scanJob(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, job)
	}
	return out, rows.Err()
}

func scanJob(row interface{ Scan(...any) error }) (execution.Job, error) {
	var doc, request, result []byte
	var job execution.Job
	err := row.Scan(&doc, &request, &result)
	if errors.Is(err, sql.ErrNoRows) {
		return job, execution.ErrNotFound
	}
	if err == nil {
		err = errors.Join(json.Unmarshal(doc, &job), json.Unmarshal(request, &job.Request))
	}
	if err != nil {
		return job, fmt.Errorf("read a job: %w", err)
	}
	if len(result) > 0 {
		job.Result = result
	}
	return job, nil
}

// any reports whether a query gives a row.
func (s *Store) any(ctx context.Context, query string, args ...any) (bool, error) {
	var one int
	err := s.db.QueryRowContext(ctx, query, args...).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read jobs: %w", err)
	}
	return true, nil
}

func (s *Store) strings(ctx context.Context, query string, args ...any) (_ []string, err error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read jobs: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var out []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, rows.Err()
}
