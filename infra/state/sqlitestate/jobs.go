package sqlitestate

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/internal/share"
)

const (
	ownersFolder = "owners"
	// jobColumns are the columns of a job. What is in tables of its own is read only if there is some. A result from
	// before there were results is in the job's row, and so is a snapshot from before there were snapshots, and a short
	// request.
	jobColumns = stateColumns + ", request, request_bytes, snapshot"
	// stateColumns are those of a job without its request and its snapshot.
	stateColumns = "seq, doc, result, result_bytes, coalesce(length(snapshot), snapshot_bytes)" + asideColumns
	// briefColumns are those of a job that is listed, without its result.
	briefColumns = "seq, doc, NULL, 0, 0" + asideColumns
	// asideColumns are those of what is beside the document, as of the same moment.
	asideColumns = `, CASE WHEN aside_bytes > 0 THEN (SELECT aside FROM asides a WHERE a.seq = jobs.seq) END,
		CASE WHEN aside_bytes > 0 THEN (SELECT file FROM asides a WHERE a.seq = jobs.seq) END,
		CASE WHEN aside_bytes > 0 THEN (SELECT file_bytes FROM asides a WHERE a.seq = jobs.seq) END`
)

// Submit stores a job durably. A job whose ID exists stays as it is. The error is execution.ErrFull if too many jobs,
// of all tenants or of this one, are queued, and an *execution.QuotaError if the tenant's quota is exceeded.
func (s *Store) Submit(ctx context.Context, job execution.Job) error {
	doc, aside, err := share.EncodeJob(job)
	if err != nil {
		return fmt.Errorf("submit job: %w", err)
	}
	err = s.filed(ctx, func(tx *sql.Tx, files *filing) error {
		size, err := insertJob(ctx, tx, files, job, doc)
		if err != nil || size < 0 {
			return err // it is there
		}
		if len(job.Result) > 0 {
			if err := writeResult(ctx, tx, job); err != nil {
				return err
			}
		}
		if len(job.Snapshot) > 0 {
			if err := writeSnapshot(ctx, tx, files, job.ID, job.Snapshot); err != nil {
				return err
			}
		}
		if len(aside) > 0 {
			if err := writeAside(ctx, tx, files, job.ID, aside); err != nil {
				return err
			}
		}
		size += len(doc) + aside.Len() + len(job.Result) + len(job.Snapshot)
		return s.jobsWithin(ctx, tx, job, int64(size)+rowBytes)
	})
	if err != nil {
		return fmt.Errorf("submit job: %w", err)
	}
	return nil
}

// insertJob inserts a job without its result and its snapshot, and returns the size of its request; -1 if a job with
// its ID exists. A job that has ended needs no request.
func insertJob(ctx context.Context, tx *sql.Tx, files *filing, job execution.Job, doc []byte) (size int, err error) {
	parts := execution.Stored{[]byte("{}")}
	if job.EndedAt.IsZero() {
		if parts, err = job.Request.Stored(); err != nil {
			return 0, err
		}
	}
	inRow, elsewhere := []byte{}, parts.Len()
	if elsewhere < apartFrom {
		inRow, elsewhere = parts.Bytes(), 0
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO jobs
		(id, tenant, subject, status, priority, not_before, owner, cancel, doc, request, request_bytes)
		VALUES (?, ?, ?, ?, ?, ?, '', 0, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		job.ID, job.Tenant, job.Subject, string(job.Status), priority(job.Request.Priority), millis(dueAt(job)), doc, inRow,
		elsewhere)
	if err != nil {
		return 0, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return -1, err
	}
	if elsewhere > 0 {
		k, err := files.keep(parts)
		if err != nil {
			return 0, err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO requests (seq, request, file, file_bytes)
			VALUES ((SELECT seq FROM jobs WHERE id = ?), ?, ?, ?)`, job.ID, k.value, k.file, k.bytes)
		if err != nil {
			return 0, err
		}
	}
	return parts.Len(), nil
}

// jobsWithin returns an error if a job that was just added is one too many or exceeds its tenant's quota.
func (s *Store) jobsWithin(ctx context.Context, tx *sql.Tx, job execution.Job, bytes int64) error {
	var all int64
	if err := tx.QueryRowContext(ctx, "SELECT coalesce(sum(n), 0) FROM usage WHERE kind = ? AND subject = ''",
		kindQueued).Scan(&all); err != nil {
		return err
	}
	use := measuring(ctx, tx)
	if err := use.QueueHas(job, all, s.cfg.MaxJobs, s.cfg.MaxJobsPerTenant); err != nil {
		return err
	}
	if err := s.roomForMore(ctx, tx); err != nil {
		return err
	}
	return use.JobWithin(job, bytes, s.storage(job.Tenant))
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

// Job returns a job. The error is execution.ErrNotFound if there is none.
func (d *database) Job(ctx context.Context, id string) (execution.Job, error) {
	return readJob(ctx, d, jobColumns, scanWhole, id)
}

// JobState returns a job without its request and its snapshot.
func (d *database) JobState(ctx context.Context, id string) (execution.Job, error) {
	return readJob(ctx, d, stateColumns, scanState, id)
}

// JobStatus returns the status of a job.
func (d *database) JobStatus(ctx context.Context, id string) (status execution.Status, err error) {
	err = loading(func() error {
		return d.read(ctx, func() error {
			return scanned(d.db.QueryRowContext(ctx, "SELECT status FROM jobs WHERE id = ?", id).Scan(&status))
		})
	})
	return status, err
}

func readJob(ctx context.Context, d *database, columns string, scan func(scanner) (jobRow, error), id string) (
	job execution.Job, err error) {
	err = loading(func() error {
		return d.read(ctx, func() error {
			row, err := scan(d.db.QueryRowContext(ctx, "SELECT "+columns+" FROM jobs WHERE id = ?", id))
			if err == nil {
				job, err = d.job(ctx, d.db, row)
			}
			return err
		})
	})
	return job, err
}

// Claim claims the next queued job and marks it as running. It takes the first tenant in order after the given one
// that is not in passOver; of that tenant the highest priority, and then the oldest job. Passing the tenant of the
// last job serves all tenants in turn. The error is execution.ErrNotFound if no job may start now.
func (s *Store) Claim(ctx context.Context, now time.Time, after string, passOver []string) (execution.Job, error) {
	jobs, err := s.ClaimSome(ctx, now, after, passOver, 1)
	if len(jobs) == 0 {
		return execution.Job{}, err
	}
	return jobs[0], nil
}

// ClaimSome claims at most so many jobs in one transaction, as consecutive calls of Claim do. A job whose content is
// lost lets others go first for a minute. Its error is returned beside the jobs that are claimed.
func (s *Store) ClaimSome(ctx context.Context, now time.Time, after string, passOver []string,
	most int) (jobs []execution.Job, err error) {
	over := "[]"
	if len(passOver) > 0 {
		list, err := json.Marshal(passOver)
		if err != nil {
			return nil, err
		}
		over = string(list)
	}
	// A read does not wait for writers, so a vain look costs next to nothing.
	some, err := s.any(ctx, "SELECT 1"+startable+" LIMIT 1", millis(now), over)
	if err != nil || !some {
		return nil, cmp.Or(err, execution.ErrNotFound)
	}
	var lost error
	err = s.filed(ctx, func(tx *sql.Tx, files *filing) error {
		jobs, lost = nil, nil
		last := after
		for passed := 0; len(jobs) < most && passed < rowsAtOnce; {
			job, seq, err := next(ctx, s.database, tx, now, last, over)
			if errors.Is(err, execution.ErrContentLost) {
				lost = err
				passed++
				if err := postpone(ctx, tx, seq, now); err != nil {
					return err
				}
				continue
			}
			if errors.Is(err, execution.ErrNotFound) && (len(jobs) > 0 || lost != nil) {
				return nil
			}
			if err != nil {
				return err
			}
			was := job
			job.Status, job.Owner, job.StartedAt = execution.Running, s.owner, now.UTC()
			if err := s.write(ctx, tx, files, job, was, share.Aside(was)); err != nil {
				return err
			}
			jobs, last = append(jobs, job), job.Tenant
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return jobs, lost
}

// postpone makes a queued job startable in a minute. [Store.Take], which is for one job, does not heed that.
func postpone(ctx context.Context, tx *sql.Tx, seq int64, now time.Time) error {
	_, err := tx.ExecContext(ctx, "UPDATE jobs SET not_before = ? WHERE seq = ?", millis(now.Add(time.Minute)), seq)
	return err
}

// startable selects queued jobs that may start at ?1, of tenants that are not in the list ?2. No job waits for an hour:
// a time further ahead was set by a clock that was set back since.
const startable = " FROM jobs WHERE status = 'queued' AND (not_before <= ?1 OR not_before > ?1 + 3600000) " +
	"AND tenant NOT IN (SELECT value FROM json_each(?2))"

// next returns the next job of the first tenant after a given one, and the number of its row.
func next(
	ctx context.Context, d *database, tx *sql.Tx, now time.Time, after, over string,
) (execution.Job, int64, error) {
	const some = "SELECT " + jobColumns + startable + " AND tenant "
	const order = " ORDER BY tenant, priority DESC, seq LIMIT 1"
	row, err := scanWhole(tx.QueryRowContext(ctx, some+"> ?3"+order, millis(now), over, after))
	if errors.Is(err, execution.ErrNotFound) {
		row, err = scanWhole(tx.QueryRowContext(ctx, some+"<= ?3"+order, millis(now), over, after))
	}
	if err != nil {
		return execution.Job{}, 0, err
	}
	job, err := d.job(ctx, tx, row)
	return job, row.seq, err
}

// Take claims the job with an ID if it is queued and may start now. Otherwise the error is execution.ErrNotFound.
func (s *Store) Take(ctx context.Context, now time.Time, id string) (execution.Job, error) {
	return s.ChangeJob(ctx, id, func(job *execution.Job) error {
		if job.Status != execution.Queued || job.NotBefore.After(now) && !job.NotBefore.After(now.Add(time.Hour)) {
			return execution.ErrNotFound
		}
		job.Status, job.Owner, job.StartedAt = execution.Running, s.owner, now.UTC()
		return nil
	})
}

// ChangeJob passes a job to fn and stores the result in one transaction. If fn fails, nothing changes and its error
// is returned. fn replaces the result and the snapshot as a whole, if at all: it must not change their bytes.
func (s *Store) ChangeJob(ctx context.Context, id string, fn func(*execution.Job) error) (execution.Job, error) {
	return changeJob(ctx, s, jobColumns, scanWhole, id, fn)
}

// ChangeJobState does what ChangeJob does, with a job without its request and its snapshot. The snapshot stays as it is
// unless fn sets another.
func (s *Store) ChangeJobState(ctx context.Context, id string, fn func(*execution.Job) error) (execution.Job, error) {
	return changeJob(ctx, s, stateColumns, scanState, id, fn)
}

func changeJob(ctx context.Context, s *Store, columns string, scan func(scanner) (jobRow, error), id string,
	fn func(*execution.Job) error) (execution.Job, error) {
	var job, was execution.Job
	var aside execution.Stored
	err := s.filed(ctx, func(tx *sql.Tx, files *filing) error {
		row, err := scan(tx.QueryRowContext(ctx, "SELECT "+columns+" FROM jobs WHERE id = ?", id))
		if err == nil {
			job, err = s.job(ctx, tx, row)
		}
		if err != nil {
			return err
		}
		was, aside = job, share.Aside(job)
		if err := fn(&job); err != nil {
			return err
		}
		if err := share.MayWrite(job); err != nil {
			return err
		}
		if was.Wait != nil && was.Wait.Lost {
			aside = execution.Stored{nil} // it goes
		}
		if err := s.write(ctx, tx, files, job, was, aside); err != nil {
			return err
		}
		return s.sessionWithin(ctx, tx, job, int64(len(job.Snapshot)-was.SnapshotBytes))
	})
	ends := !job.EndedAt.IsZero() && was.EndedAt.IsZero()
	if err == nil && (ends || len(job.Snapshot) > 0 && was.SnapshotBytes >= ofOwn || aside.Len() >= ofOwn) {
		_ = s.unlink(ctx) // the next Prune tries again
	}
	if len(job.Snapshot) > 0 {
		job.SnapshotBytes = len(job.Snapshot)
	}
	return job, err
}

// write stores a job that is there. was is the job as it is stored, of which the result and the snapshot count, with
// what is beside it.
func (s *Store) write(
	ctx context.Context, tx *sql.Tx, files *filing, job, was execution.Job, beside execution.Stored,
) error {
	doc, aside, err := share.EncodeJob(job)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(aside, beside, bytes.Equal) {
		if err := writeAside(ctx, tx, files, job.ID, aside); err != nil {
			return err
		}
	}
	var callback sql.NullInt64
	if job.Callback != nil && job.Callback.State == execution.CallbackPending {
		callback = sql.NullInt64{Int64: millis(job.Callback.Next), Valid: true}
	}
	// Nobody needs the request and the snapshot of a job that has ended.
	_, err = tx.ExecContext(ctx, `UPDATE jobs SET status = ?, not_before = ?, owner = ?, cancel = ?, callback = ?,
		ended = ?6, doc = ?, request = CASE WHEN ?6 IS NULL THEN request ELSE CAST('{}' AS BLOB) END,
		request_bytes = CASE WHEN ?6 IS NULL THEN request_bytes ELSE 0 END WHERE id = ?`,
		string(job.Status), millis(dueAt(job)), job.Owner, job.Cancel, callback, orNull(job.EndedAt), doc, job.ID)
	if err != nil {
		return err
	}
	if !bytes.Equal(job.Result, was.Result) {
		if err := writeResult(ctx, tx, job); err != nil {
			return err
		}
	}
	snapshot, had := job.Snapshot, was.Snapshot
	if !job.EndedAt.IsZero() && was.SnapshotBytes > 0 {
		snapshot, had = nil, []byte{0}
	}
	if !bytes.Equal(snapshot, had) {
		if err := writeSnapshot(ctx, tx, files, job.ID, snapshot); err != nil {
			return err
		}
	}
	if job.EndedAt.IsZero() {
		return nil
	}
	return s.makeRoomForResults(ctx, tx, job.Tenant, job.ID)
}

// writeResult replaces the stored result of a job.
func writeResult(ctx context.Context, tx *sql.Tx, job execution.Job) error {
	const keep = "INSERT OR REPLACE INTO results (seq, result) VALUES ((SELECT seq FROM jobs WHERE id = ?), ?)"
	if _, err := tx.ExecContext(ctx, keep, job.ID, orEmpty(job.Result)); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "UPDATE jobs SET result = NULL, result_bytes = ? WHERE id = ?", len(job.Result), job.ID)
	return err
}

// writeSnapshot replaces the stored snapshot of a job. An empty one is deleted.
func writeSnapshot(ctx context.Context, tx *sql.Tx, files *filing, id string, snapshot []byte) error {
	if err := replace(ctx, tx, files, "snapshot", id, execution.Stored{snapshot}); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "UPDATE jobs SET snapshot = NULL, snapshot_bytes = ? WHERE id = ?", len(snapshot), id)
	return err
}

// writeAside replaces what is beside the document of a job. Without parts it is deleted.
func writeAside(ctx context.Context, tx *sql.Tx, files *filing, id string, parts execution.Stored) error {
	if err := replace(ctx, tx, files, "aside", id, parts); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "UPDATE jobs SET aside_bytes = ? WHERE id = ?", parts.Len(), id)
	return err
}

// replace replaces what the table of a kind has of a job.
func replace(
	ctx context.Context, tx *sql.Tx, files *filing, what, id string, parts execution.Stored,
) error {
	statement, args := "DELETE FROM "+what+"s WHERE seq = (SELECT seq FROM jobs WHERE id = ?)", []any{id}
	if parts.Len() > 0 {
		k, err := files.keep(parts)
		if err != nil {
			return err
		}
		statement = "INSERT INTO " + what + "s (seq, " + what + ", file, file_bytes) VALUES ((SELECT seq FROM jobs " +
			"WHERE id = ?), ?, ?, ?) ON CONFLICT (seq) DO UPDATE SET " + what + " = excluded." + what +
			", file = excluded.file, file_bytes = excluded.file_bytes"
		args = append(args, k.value, k.file, k.bytes)
	}
	_, err := tx.ExecContext(ctx, statement, args...)
	return err
}

// orEmpty returns an empty value, and not NULL, for nil.
func orEmpty(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Cancelled returns the IDs of this process's running jobs that are to be stopped.
func (s *Store) Cancelled(ctx context.Context) ([]string, error) {
	return s.strings(ctx, "SELECT id FROM jobs WHERE status = 'running' AND owner = ? AND cancel = 1", s.owner)
}

// Callbacks claims at most limit callbacks that are due until a later time, so that one process at a time delivers
// each. Each tenant has its share of the limit. A job whose content is lost is passed over.
func (s *Store) Callbacks(ctx context.Context, now, again time.Time, limit int) ([]execution.Job, error) {
	tenants, part, err := s.dueTenants(ctx, callbacks(), now, limit)
	if err != nil || len(tenants) == 0 {
		return nil, err
	}
	var out []execution.Job
	err = s.change(ctx, func(tx *sql.Tx) error {
		out = nil
		for _, tenant := range tenants {
			const query = "SELECT " + jobColumns + " FROM jobs WHERE tenant = ? AND callback IS NOT NULL AND callback <= ? " +
				"ORDER BY callback LIMIT ?"
			rows, err := tx.QueryContext(ctx, query, tenant, millis(now), min(part, limit-len(out)))
			if err != nil {
				return err
			}
			due, err := s.all(ctx, tx, rows, scanWhole)
			if err != nil && !errors.Is(err, execution.ErrContentLost) {
				return err
			}
			for _, job := range due {
				if _, err := tx.ExecContext(ctx, "UPDATE jobs SET callback = ?, owner = ? WHERE id = ?", millis(again), s.owner,
					job.ID); err != nil {
					return err
				}
			}
			if out = append(out, due...); len(out) >= limit {
				return nil
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("take callbacks: %w", err)
	}
	return out, nil
}

// Gone reports whether a tenant's receiver is gone. If until is set, Gone marks it as gone until then.
func (s *Store) Gone(ctx context.Context, tenant, url string, now, until time.Time) (bool, error) {
	if !until.IsZero() {
		err := s.exec(ctx, "INSERT OR REPLACE INTO gone (tenant, url, until) VALUES (?, ?, ?)", tenant, url, millis(until))
		return true, err
	}
	return s.any(ctx, "SELECT 1 FROM gone WHERE tenant = ? AND url = ? AND until > ? AND until <= ?",
		tenant, url, millis(now), millis(now.Add(longestMemory)))
}
