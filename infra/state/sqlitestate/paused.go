package sqlitestate

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// dueAt returns the not_before of a job: when a queued one may begin, or when something is due about a paused one.
func dueAt(job execution.Job) time.Time {
	if job.Status == execution.Paused {
		return job.Wait.DueAt
	}
	return job.NotBefore
}

// sessionWithin returns an error if a session that grew by a number of bytes exceeds its tenant's quota.
func (s *Store) sessionWithin(ctx context.Context, tx *sql.Tx, job execution.Job, grew int64) error {
	if job.Wait == nil || job.Wait.Session == nil || grew <= 0 {
		return nil
	}
	if err := s.roomForMore(ctx, tx); err != nil {
		return err
	}
	return measuring(ctx, tx).Within(execution.QuotaJobs, job.Tenant, job.Subject, grew, s.storage(job.Tenant).Jobs, 0,
		kindQueued, kindRunning)
}

// PausedBuilds returns how many paused executions and sessions each engine build has a snapshot of.
func (d *database) PausedBuilds(ctx context.Context) (counts map[string]int, err error) {
	err = d.read(ctx, func() (err error) {
		counts, err = pausedBuilds(ctx, d.db, true)
		return err
	})
	return counts, err
}

// PausedBuilds returns what the method of that name of a Store returns, of a folder that may be in use. It changes
// nothing in the folder. There is nothing to count in a folder without a state, or with that of an early release.
func PausedBuilds(ctx context.Context, dir string) (counts map[string]int, err error) {
	file := filepath.Join(dir, "state.db")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: file}).EscapedPath()+"?mode=ro")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var columns int
	const query = "SELECT count(*) FROM pragma_table_info('jobs') WHERE name IN ('doc', 'status', 'snapshot', " +
		"'snapshot_bytes')"
	if err := db.QueryRowContext(ctx, query).Scan(&columns); err != nil || columns < 3 {
		return nil, err
	}
	return pausedBuilds(ctx, db, columns == 4)
}

// pausedBuilds counts in a file that has snapshots apart from their jobs, or only those in the rows of their jobs.
func pausedBuilds(ctx context.Context, db *sql.DB, apart bool) (counts map[string]int, err error) {
	has := "snapshot IS NOT NULL"
	if apart {
		has = "(snapshot IS NOT NULL OR snapshot_bytes > 0)"
	}
	rows, err := db.QueryContext(ctx, "SELECT coalesce(json_extract(CAST(doc AS TEXT), '$.wait.engineBuild'), ''), "+
		"count(*) FROM jobs WHERE status = 'paused' AND "+has+" GROUP BY 1")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	counts = map[string]int{}
	for rows.Next() {
		var build string
		var n int
		if err := rows.Scan(&build, &n); err != nil {
			return nil, err
		}
		counts[build] = n
	}
	return counts, rows.Err()
}

// DueWaits returns paused jobs for which something is due, those that are due longest first. If there are more, each
// tenant has its share. The jobs have neither request nor snapshot. One whose content is lost is passed over.
func (d *database) DueWaits(ctx context.Context, now time.Time, limit int) ([]execution.Job, error) {
	const query = "SELECT " + stateColumns + " FROM jobs WHERE status = 'paused' AND not_before <= ? "
	due, err := d.strings(ctx, "SELECT id FROM jobs WHERE status = 'paused' AND not_before <= ? LIMIT ?", millis(now),
		limit+1)
	if err != nil || len(due) == 0 {
		return nil, err
	}
	if len(due) <= limit {
		jobs, err := d.states(ctx, query+"ORDER BY not_before LIMIT ?", millis(now), limit)
		if len(jobs) > 0 && errors.Is(err, execution.ErrContentLost) {
			return jobs, nil
		}
		return jobs, err
	}
	tenants, part, err := d.dueTenants(ctx, pauses(), now, limit)
	if err != nil {
		return nil, err
	}
	var out []execution.Job
	for _, tenant := range tenants {
		some, err := d.states(ctx, query+"AND tenant = ? ORDER BY not_before LIMIT ?", millis(now), tenant,
			min(part, limit-len(out)))
		if err != nil && !errors.Is(err, execution.ErrContentLost) {
			return nil, err
		}
		if out = append(out, some...); len(out) >= limit {
			break
		}
	}
	slices.SortStableFunc(out, func(a, b execution.Job) int { return a.Wait.DueAt.Compare(b.Wait.DueAt) })
	return out, nil
}

// Paused returns the paused jobs of a tenant, or of one of its subjects, whose ID is greater, in the order of their
// IDs. The jobs have neither request nor snapshot.
func (d *database) Paused(ctx context.Context, tenant, subject, after string, limit int) ([]execution.Job, error) {
	const columns = "SELECT " + briefColumns + " FROM jobs WHERE status = 'paused' AND tenant = ? "
	if subject == "" {
		return d.states(ctx, columns+"AND id > ? ORDER BY id LIMIT ?", tenant, after, limit)
	}
	return d.states(ctx, columns+"AND subject = ? AND id > ? ORDER BY id LIMIT ?", tenant, subject, after, limit)
}

// Jobs returns the jobs of a tenant, or of one of its subjects, that have a status, whose ID is greater, in the order
// of their IDs. The jobs have no request.
func (d *database) Jobs(
	ctx context.Context, tenant, subject string, status execution.Status, after string, limit int,
) (jobs []execution.Job, next string, err error) {
	by, is := "jobs_queued", "queued"
	if status == execution.Running {
		by, is = "jobs_running", "running"
	}
	jobs, err = d.states(ctx, "SELECT "+briefColumns+" FROM jobs WHERE seq IN (SELECT seq FROM jobs "+
		"INDEXED BY "+by+" WHERE status = '"+is+"' AND tenant = ?1 AND (?2 = '' OR subject = ?2) AND id > ?3 "+
		"ORDER BY id LIMIT ?4) ORDER BY id", tenant, subject, after, limit)
	if err == nil && len(jobs) == limit {
		next = jobs[limit-1].ID
	}
	return jobs, next, err
}
