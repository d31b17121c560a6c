package pgstate

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/internal/share"
)

const (
	jobColumns = rowColumns + "request, result, snapshot, coalesce(octet_length(snapshot), 0)"
	// stateColumns leave out the request and the snapshot.
	stateColumns = rowColumns + "'{}'::bytea, result, NULL::bytea, coalesce(octet_length(snapshot), 0)"
	rowColumns   = "id, status, coalesce(owner, ''), coalesce(claim, ''), started, change, doc, aside, "
)

// A jobRow is a stored job. Its columns take precedence over its document, because a claim changes only columns.
type jobRow struct {
	id                           []byte
	status, owner, claim, change string
	started                      int64
	doc, aside, request          []byte
	result, snapshot             []byte
	snapshotBytes                int
	idle                         time.Duration // of an orphan
	isState                      bool          // it is without its request and its snapshot
}

// columns returns where the columns of a job are scanned to.
func (r *jobRow) columns() []any {
	return []any{&r.id, &r.status, &r.owner, &r.claim, &r.started, &r.change, &r.doc, &r.aside, &r.request, &r.result,
		&r.snapshot, &r.snapshotBytes}
}

func scanJob(row pgx.Row) (*jobRow, error) { return scanRow(row, &jobRow{}) }

// scanState reads a row of stateColumns.
func scanState(row pgx.Row) (*jobRow, error) { return scanRow(row, &jobRow{isState: true}) }

func scanRow(row pgx.Row, r *jobRow) (*jobRow, error) {
	err := row.Scan(r.columns()...)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, execution.ErrNotFound
	}
	return r, err
}

// job decodes a row.
func (r *jobRow) job() (execution.Job, error) {
	job, err := share.DecodeJob(r.doc, r.aside)
	if errors.Is(err, share.ErrAside) && r.isState {
		job, err = share.DecodeAlone(r.doc)
	}
	if err == nil {
		job.Request, err = share.DecodeRequest(r.request)
	}
	if err != nil {
		return job, unreadable("job "+string(r.id), err)
	}
	job.Status, job.Owner = execution.Status(r.status), ""
	job.StartedAt, job.Idle = fromMillis(r.started), r.idle
	if r.owner != "" {
		job.Owner = r.owner + "." + r.claim
	}
	if len(r.result) > 0 {
		job.Result = r.result
	}
	if len(r.snapshot) > 0 {
		job.Snapshot = r.snapshot
	}
	job.SnapshotBytes = r.snapshotBytes
	return job, nil
}

// decodeJobs returns the jobs of rows. If the content of some is lost, it returns the others with the error.
func decodeJobs(rows []*jobRow) (out []execution.Job, lost error) {
	for _, r := range rows {
		job, err := r.job()
		if errors.Is(err, execution.ErrContentLost) {
			lost = err
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, job)
	}
	return out, lost
}

// passOver returns what decodeJobs returned, and no error if only some of the jobs are lost.
func passOver(jobs []execution.Job, err error) ([]execution.Job, error) {
	if len(jobs) > 0 && errors.Is(err, execution.ErrContentLost) {
		return jobs, nil
	}
	return jobs, err
}

// unreadable returns the fault of a document that does not parse.
func unreadable(what string, err error) error {
	return &execution.StoreError{Fault: execution.StoreCorrupt, Err: fmt.Errorf("read %s: %w", what, err)}
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

// Submit stores a job durably. A job whose ID exists stays as it is. The error is execution.ErrFull if too many jobs,
// of all tenants or of this one, are queued, and an *execution.QuotaError if the tenant's quota is exceeded.
func (s *Store) Submit(ctx context.Context, job execution.Job) error {
	doc, aside, err := share.EncodeJob(job)
	if err != nil {
		return fmt.Errorf("submit job: %w", err)
	}
	parts, err := job.Request.Stored()
	if err != nil {
		return fmt.Errorf("submit job: %w", err)
	}
	request := parts.Bytes()
	n := newJob{job: job, doc: doc, aside: aside.Bytes(), request: request, change: rand.Text()}
	stored := false
	err = s.do(ctx, func(ctx context.Context) error {
		if n.room, err = s.roomFor(ctx, n); err != nil {
			return err
		}
		if job.Status == execution.Paused || len(request) > bytesOfBatch {
			return nil // the batches leave out results, snapshots and asides, and send bytes as digits
		}
		stored, err = s.submits.do(ctx, n)
		return err
	})
	if err == nil && !stored {
		err = s.submitUnderLock(ctx, n)
	}
	if err != nil {
		return fmt.Errorf("submit job: %w", err)
	}
	return nil
}

// A newJob is a job to submit.
type newJob struct {
	job                 execution.Job
	doc, aside, request []byte
	change              string
	room                room
}

func (n newJob) bytes() int64 {
	return int64(len(n.doc)+len(n.request)+len(n.aside)+len(n.job.Result)+len(n.job.Snapshot)) + rowBytes
}

func (n newJob) values() []any {
	j := n.job
	return []any{[]byte(j.ID), []byte(j.Tenant), []byte(j.Subject), string(j.Status), priority(j.Request.Priority),
		millis(dueAt(j)), n.change, n.doc, n.request}
}

// submitUnderLock submits a job of a tenant that is near a limit.
func (s *Store) submitUnderLock(ctx context.Context, n newJob) error {
	return s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockTenant(ctx, tx, n.job.Tenant); err != nil {
			return err
		}
		tag, err := execBytes(ctx, tx, `INSERT INTO airlock.jobs
			(id, tenant, subject, status, priority, not_before, change, doc, request, aside, result, snapshot)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (id) DO NOTHING`,
			append(n.values(), orNone(n.aside), []byte(n.job.Result), n.job.Snapshot)...)
		if err != nil || tag.RowsAffected() == 0 {
			return err // it is there
		}
		return s.jobsWithin(ctx, tx, n)
	})
}

// Job returns a job. The error is execution.ErrNotFound if there is none.
func (s *Store) Job(ctx context.Context, id string) (job execution.Job, err error) {
	var row *jobRow
	err = s.do(ctx, func(ctx context.Context) error {
		row, err = readJob(ctx, s.pool, jobColumns, id)
		return err
	})
	if err != nil {
		return job, err
	}
	return row.job()
}

// JobState returns a job without its request and its snapshot.
func (s *base) JobState(ctx context.Context, id string) (job execution.Job, err error) {
	var row *jobRow
	err = s.do(ctx, func(ctx context.Context) error {
		row, err = readJob(ctx, s.pool, stateColumns, id)
		return err
	})
	if err != nil {
		return job, err
	}
	return row.job()
}

// JobStatus returns the status of a job.
func (s *base) JobStatus(ctx context.Context, id string) (status execution.Status, err error) {
	err = s.do(ctx, func(ctx context.Context) error {
		err := s.pool.QueryRow(ctx, "SELECT status FROM airlock.jobs WHERE id = $1", []byte(id)).Scan(&status)
		if errors.Is(err, pgx.ErrNoRows) {
			return execution.ErrNotFound
		}
		return err
	})
	return status, err
}

func readJob(ctx context.Context, q querier, columns, id string) (*jobRow, error) {
	scan := scanJob
	if columns == stateColumns {
		scan = scanState
	}
	return scan(q.QueryRow(ctx, "SELECT "+columns+" FROM airlock.jobs WHERE id = $1", binary(), []byte(id)))
}

// Claim claims the next queued job and marks it as running. It takes the first tenant in order after the given one
// that is not in passOver; of that tenant the highest priority, and then the oldest job. The error is
// execution.ErrNotFound if no job may start now.
func (s *Store) Claim(ctx context.Context, now time.Time, after string, passOver []string) (execution.Job, error) {
	return first(s.ClaimSome(ctx, now, after, passOver, 1))
}

// ClaimSome claims at most so many jobs, as consecutive calls of Claim do. If the content of a job is lost, it returns
// the others with the error, and the job may start in a minute.
func (s *Store) ClaimSome(ctx context.Context, now time.Time, after string, passOver []string,
	most int) ([]execution.Job, error) {
	over := make([][]byte, len(passOver))
	for i, tenant := range passOver {
		over[i] = []byte(tenant)
	}
	return s.take(ctx, now, most, func(ctx context.Context, tokens []string) ([]*jobRow, error) {
		return collect(ctx, s.pool, scanJob, "SELECT "+jobColumns+" FROM airlock.claim_some($1, $2, $3, 0, $4, $5)",
			binary(), s.id, tokens, millis(now), []byte(after), over)
	})
}

// Take claims the job with an ID if it is queued and may start now. Otherwise the error is execution.ErrNotFound.
func (s *Store) Take(ctx context.Context, now time.Time, id string) (execution.Job, error) {
	return first(s.take(ctx, now, 1, func(ctx context.Context, tokens []string) ([]*jobRow, error) {
		return collect(ctx, s.pool, scanJob, `UPDATE airlock.jobs SET status = 'running', owner = $2, claim = $3, change = $3,
			claimed = clock_timestamp(), started = $4, start_before = 0
			WHERE id = $1 AND status = 'queued' AND (not_before <= $4 OR not_before > $4 + 3600000)
			RETURNING `+jobColumns, []byte(id), s.id, tokens[0], millis(now))
	}))
}

func first(jobs []execution.Job, err error) (execution.Job, error) {
	if err != nil {
		return execution.Job{}, err
	}
	return jobs[0], nil
}

// take runs a statement that claims jobs, each under a token. The error is execution.ErrNotFound if it claims none. If
// the content of a job is lost, take postpones it and returns the others with the error.
func (s *Store) take(ctx context.Context, now time.Time, most int,
	claim func(ctx context.Context, tokens []string) ([]*jobRow, error)) (jobs []execution.Job, err error) {
	tokens := make([]string, most)
	for i := range tokens {
		tokens[i] = rand.Text()
		s.jobs.begin(tokens[i])
	}
	var rows []*jobRow
	again := false
	err = s.do(ctx, func(ctx context.Context) (err error) {
		if again { // the answer to the first attempt may have been lost
			rows, err = collect(ctx, s.pool, scanJob, "SELECT "+jobColumns+
				" FROM airlock.jobs WHERE status = 'running' AND owner = $1 AND claim = ANY ($2::text[])", s.id, tokens)
			if err != nil || len(rows) > 0 {
				return err
			}
		}
		again = true
		rows, err = claim(ctx, tokens)
		return err
	})
	if err == nil {
		jobs, err = decodeJobs(rows)
	}
	if err == nil && len(jobs) == 0 {
		err = execution.ErrNotFound
	}
	decoded := map[string]bool{}
	for _, job := range jobs {
		decoded[job.ID] = true
	}
	var lost []string
	for _, row := range rows {
		if decoded[string(row.id)] {
			s.jobs.hold(row.claim, row)
		} else {
			lost = append(lost, row.claim)
		}
	}
	if len(lost) > 0 {
		err = errors.Join(err, postpone(ctx, s, lost, now))
	}
	s.jobs.dropUnheld(tokens)
	return jobs, err
}

// postpone makes the jobs of claims queued again, and startable in a minute. [Store.Take] does not heed that.
func postpone(ctx context.Context, s *Store, claims []string, now time.Time) error {
	return s.do(ctx, func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, `UPDATE airlock.jobs SET status = 'queued', owner = NULL, claim = NULL, started = 0,
			not_before = $1, change = $2 WHERE status = 'running' AND owner = $3 AND claim = ANY ($4::text[])`,
			millis(now.Add(time.Minute)), rand.Text(), s.id, claims)
		return err
	})
}

// ChangeJob passes a job to fn and stores the result. fn may be called more than once. If fn fails, nothing changes
// and its error is returned.
func (s *Store) ChangeJob(ctx context.Context, id string, fn func(*execution.Job) error) (execution.Job, error) {
	return changeJob(ctx, s, jobColumns, id, fn)
}

// ChangeJobState does what ChangeJob does, with a job that may be without its request and its snapshot. The snapshot
// stays as it is unless fn sets another.
func (s *Store) ChangeJobState(ctx context.Context, id string, fn func(*execution.Job) error) (execution.Job, error) {
	return changeJob(ctx, s, stateColumns, id, fn)
}

func changeJob(
	ctx context.Context, s *Store, columns, id string, fn func(*execution.Job) error,
) (execution.Job, error) {
	var job execution.Job
	var refused error
	var owned string // the token of the claim by which the job had its owner
	token := rand.Text()
	known := s.jobs.rowOf(id) // it saves a read, if nobody has changed the job since its claim
	err := s.do(ctx, func(ctx context.Context) error {
		row := known
		if known = nil; row == nil {
			var err error
			if row, err = readJob(ctx, s.pool, columns, id); err != nil {
				return err
			}
			if row.change == token { // an earlier attempt succeeded and its answer was lost
				return nil
			}
		}
		var err error
		if job, err = row.job(); err != nil {
			return err
		}
		owned = row.claim
		before := job.SnapshotBytes
		if refused = fn(&job); refused != nil {
			return nil
		}
		if err := share.MayWrite(job); err != nil {
			return err
		}
		if err := s.sessionWithin(ctx, job, int64(len(job.Snapshot)-before)); err != nil {
			return err
		}
		return s.write(ctx, job, row, token)
	})
	if err = errors.Join(refused, err); err != nil {
		return job, onlyOne(refused, err)
	}
	if job.Status != execution.Running {
		s.jobs.letGo(owned)
	}
	if len(job.Snapshot) > 0 {
		job.SnapshotBytes = len(job.Snapshot)
	}
	return job, nil
}

// onlyOne returns the error of a caller's func as it is.
func onlyOne(refused, err error) error {
	if refused != nil {
		return refused
	}
	return err
}

// orNone returns NULL for no bytes.
func orNone(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// largeSnapshot and largeAside are the sizes from which a snapshot, and what is beside a document, are not written in a
// batch, which sends bytes as digits.
const (
	largeSnapshot = 1 << 20
	largeAside    = 128 << 10
)

// write replaces a row that was read. The error is errMoved if it has changed since.
func (s *Store) write(ctx context.Context, job execution.Job, row *jobRow, token string) error {
	doc, aside, err := share.EncodeJob(job)
	if err != nil {
		return err
	}
	w := jobWrite{
		row: row, job: job, doc: doc, token: token, hasResult: bytes.Equal(job.Result, row.result),
		hasSnapshot: bytes.Equal(job.Snapshot, row.snapshot), hasAside: share.Same(aside, row.aside),
	}
	if !w.hasAside {
		w.aside = orNone(aside.Bytes())
	}
	var results int64
	if (len(w.snapshot()) > largeSnapshot || len(w.aside) > largeAside) && job.EndedAt.IsZero() {
		results, err = writeLarge(ctx, s, w)
	} else {
		results, err = s.writes.do(ctx, w)
	}
	if err != nil || job.EndedAt.IsZero() ||
		results+int64(len(doc)+len(job.Result)) <= s.storage(job.Tenant).Results {
		return err
	}
	return s.makeRoomForResults(ctx, job.Tenant, job.ID)
}
