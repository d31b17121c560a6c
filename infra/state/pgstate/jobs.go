package pgstate

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/airlock-run/airlock/functions/execution"
)

const jobColumns = "id, status, coalesce(owner, ''), coalesce(claim, ''), started, start_before, change, doc, " +
	"request, result"

// A jobRow is a stored job. Its columns take precedence over its document, because a claim changes only columns.
type jobRow struct {
	id                           []byte
	status, owner, claim, change string
	started, startBefore         int64
	doc, request, result         []byte
}

func scanJob(row pgx.Row) (*jobRow, error) {
	r := &jobRow{}
	err := row.Scan(&r.id, &r.status, &r.owner, &r.claim, &r.started, &r.startBefore, &r.change, &r.doc, &r.request,
		&r.result)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, execution.ErrNotFound
	}
	return r, err
}

// job decodes a row.
func (r *jobRow) job() (execution.Job, error) {
	var job execution.Job
	if err := errors.Join(json.Unmarshal(r.doc, &job), json.Unmarshal(r.request, &job.Request)); err != nil {
		return job, unreadable("a job", err)
	}
	job.Status, job.Owner = execution.Status(r.status), ""
	job.StartedAt, job.StartBefore = fromMillis(r.started), fromMillis(r.startBefore)
	if r.owner != "" {
		job.Owner = r.owner + "." + r.claim
	}
	if len(r.result) > 0 {
		job.Result = r.result
	}
	return job, nil
}

func decodeJobs(rows []*jobRow) ([]execution.Job, error) {
	var out []execution.Job
	for _, r := range rows {
		job, err := r.job()
		if err != nil {
			return nil, err
		}
		out = append(out, job)
	}
	return out, nil
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
	doc, err := json.Marshal(job)
	if err != nil {
		return fmt.Errorf("submit job: %w", err)
	}
	request, err := json.Marshal(job.Request)
	if err != nil {
		return fmt.Errorf("submit job: %w", err)
	}
	n := newJob{job: job, doc: doc, request: request, change: rand.Text()}
	stored := false
	err = s.do(ctx, func(ctx context.Context) error {
		limits, err := s.fastLimits(ctx, n)
		if err != nil {
			return err
		}
		return s.pool.QueryRow(ctx, "SELECT airlock.submit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
			append(n.values(), limits[:]...)...).Scan(&stored)
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
	job          execution.Job
	doc, request []byte
	change       string
}

func (n newJob) bytes() int64 { return int64(len(n.doc)+len(n.request)) + rowBytes }

func (n newJob) values() []any {
	j := n.job
	return []any{[]byte(j.ID), []byte(j.Tenant), []byte(j.Subject), string(j.Status), priority(j.Request.Priority),
		millis(j.NotBefore), n.change, n.doc, n.request}
}

// submitUnderLock submits a job of a tenant that is near a limit.
func (s *Store) submitUnderLock(ctx context.Context, n newJob) error {
	return s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockTenant(ctx, tx, n.job.Tenant); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `INSERT INTO airlock.jobs
			(id, tenant, subject, status, priority, not_before, change, doc, request)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING`, n.values()...)
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
		row, err = readJob(ctx, s.pool, id)
		return err
	})
	if err != nil {
		return job, err
	}
	return row.job()
}

func readJob(ctx context.Context, q querier, id string) (*jobRow, error) {
	return scanJob(q.QueryRow(ctx, "SELECT "+jobColumns+" FROM airlock.jobs WHERE id = $1", []byte(id)))
}

// Claim claims the next queued job and marks it as running. It takes the first tenant in order after the given one
// that is not in passOver; of that tenant the highest priority, and then the oldest job. The error is
// execution.ErrNotFound if no job may start now.
func (s *Store) Claim(ctx context.Context, now time.Time, after string, passOver []string) (execution.Job, error) {
	over := make([][]byte, len(passOver))
	for i, tenant := range passOver {
		over[i] = []byte(tenant)
	}
	return s.take(ctx, func(ctx context.Context, token string) (*jobRow, error) {
		return scanJob(s.pool.QueryRow(ctx, "SELECT "+jobColumns+" FROM airlock.claim($1, $2, $3, $4, $5, $6)",
			s.id, token, millis(now), millis(s.startBefore(now)), []byte(after), over))
	})
}

// Take claims the job with an ID if it is queued and may start now. Otherwise the error is execution.ErrNotFound.
func (s *Store) Take(ctx context.Context, now time.Time, id string) (execution.Job, error) {
	return s.take(ctx, func(ctx context.Context, token string) (*jobRow, error) {
		return scanJob(s.pool.QueryRow(ctx, `UPDATE airlock.jobs SET status = 'running', owner = $2, claim = $3, change = $3,
			claimed = clock_timestamp(), started = $4, start_before = $5
			WHERE id = $1 AND status = 'queued' AND (not_before <= $4 OR not_before > $4 + 3600000)
			RETURNING `+jobColumns, []byte(id), s.id, token, millis(now), millis(s.startBefore(now))))
	})
}

// take runs a statement that claims a job under a token.
func (s *Store) take(ctx context.Context,
	claim func(ctx context.Context, token string) (*jobRow, error)) (execution.Job, error) {
	token := rand.Text()
	s.jobs.begin(token)
	var row *jobRow
	again := false
	err := s.do(ctx, func(ctx context.Context) (err error) {
		if again { // the answer to the first attempt may have been lost
			row, err = scanJob(s.pool.QueryRow(ctx, "SELECT "+jobColumns+
				" FROM airlock.jobs WHERE status = 'running' AND owner = $1 AND claim = $2", s.id, token))
			if !errors.Is(err, execution.ErrNotFound) {
				return err
			}
		}
		again = true
		row, err = claim(ctx, token)
		return err
	})
	if err != nil {
		s.jobs.drop(token)
		return execution.Job{}, err
	}
	job, err := row.job()
	if err != nil {
		s.jobs.drop(token)
		return execution.Job{}, err
	}
	s.jobs.hold(token, row)
	return job, nil
}

// startBefore returns the latest start of a job that is claimed now.
func (s *Store) startBefore(now time.Time) time.Time {
	if s.cfg.Outlive == 0 {
		return time.Time{}
	}
	return now.Add(s.cfg.Outlive / 2)
}

// ChangeJob passes a job to fn and stores the result. fn may be called more than once. If fn fails, nothing changes
// and its error is returned.
func (s *Store) ChangeJob(ctx context.Context, id string, fn func(*execution.Job) error) (execution.Job, error) {
	var job execution.Job
	var refused error
	token := rand.Text()
	known := s.jobs.rowOf(id) // it saves a read, if nobody has changed the job since its claim
	err := s.do(ctx, func(ctx context.Context) error {
		row := known
		if known = nil; row == nil {
			var err error
			if row, err = readJob(ctx, s.pool, id); err != nil {
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
		if refused = fn(&job); refused != nil {
			return nil
		}
		return s.write(ctx, job, row, token)
	})
	if err = errors.Join(refused, err); err != nil {
		return job, onlyOne(refused, err)
	}
	if job.Status != execution.Running {
		s.letGo(id)
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

// write replaces a row that was read. The error is errMoved if it has changed since.
func (s *Store) write(ctx context.Context, job execution.Job, row *jobRow, token string) error {
	doc, err := json.Marshal(job)
	if err != nil {
		return err
	}
	owner, claim, _ := strings.Cut(job.Owner, ".")
	var callback *int64
	if job.Callback != nil && job.Callback.State == execution.CallbackPending {
		at := millis(job.Callback.Next)
		callback = &at
	}
	ended := orNull(job.EndedAt)
	// Nobody needs the request of a job that has ended.
	const update = `UPDATE airlock.jobs SET status = $3, not_before = $4, owner = nullif($5, ''), claim = nullif($6, ''),
		cancel = $7, callback = $8, caller = NULL, ended = $9, started = $10, start_before = $11, doc = $12, result = $13,
		request = CASE WHEN $9::bigint IS NULL THEN request ELSE '{}'::bytea END, change = $14
		WHERE id = $1 AND change = $2
		RETURNING (SELECT coalesce(sum(u.bytes), 0)::bigint FROM airlock.usage u
			WHERE u.tenant = jobs.tenant AND u.kind = 'results' AND u.subject = '')`
	var results int64
	err = s.pool.QueryRow(ctx, update, row.id, row.change, string(job.Status), millis(job.NotBefore), owner, claim,
		job.Cancel, callback, ended, millis(job.StartedAt), millis(job.StartBefore), doc, []byte(job.Result), token).
		Scan(&results)
	if errors.Is(err, pgx.ErrNoRows) {
		return errMoved
	}
	if err != nil || ended == nil || results+int64(len(doc)+len(job.Result)) <= s.storage(job.Tenant).Results {
		return err
	}
	return s.makeRoomForResults(ctx, job.Tenant, job.ID)
}

// letGo forgets the claim of a job that this process no longer runs.
func (s *Store) letGo(id string) {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	for token, c := range s.jobs.claims {
		if c.row != nil && string(c.row.id) == id {
			delete(s.jobs.claims, token)
		}
	}
}
