package pgstate

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/airlock-run/airlock/functions/execution"
)

func (n newJob) size() int { return int(n.bytes()) }

// submitAll stores the jobs of a batch. The outcome of a job is false if its tenant's use is near a limit: whether the
// job fits is then decided under a lock.
func (s *Store) submitAll(ctx context.Context, batch []*operation[newJob, bool]) error {
	var ids, tenants, subjects, docs, requests [][]byte
	var statuses, changes []string
	var priorities, starts, sizes, queued, jobs, results, addQueued, addJobs []int64
	for _, op := range batch {
		n, j := op.in, op.in.job
		ids, tenants, subjects = append(ids, []byte(j.ID)), append(tenants, []byte(j.Tenant)), append(subjects,
			[]byte(j.Subject))
		statuses, changes = append(statuses, string(j.Status)), append(changes, n.change)
		priorities, starts = append(priorities, int64(priority(j.Request.Priority))), append(starts, millis(j.NotBefore))
		docs, requests, sizes = append(docs, n.doc), append(requests, n.request), append(sizes, n.bytes())
		queued, jobs, results = append(queued, n.room.queued), append(jobs, n.room.jobs), append(results, n.room.results)
		addQueued, addJobs = append(addQueued, n.room.addQueued), append(addJobs, n.room.addJobs)
	}
	stored, err := collect(ctx, s.pool, scanNumber, `WITH batch AS (
			SELECT *, count(*) OVER before AS n_before, sum(size) OVER before AS size_before
			FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::text[], $5::bigint[], $6::bigint[], $7::text[],
				$8::bytea[], $9::bytea[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[],
				$15::bigint[]) WITH ORDINALITY
				AS b (id, tenant, subject, status, priority, not_before, change, doc, request, size, max_queued, max_jobs,
					max_results, add_queued, add_jobs, nth)
			WINDOW before AS (PARTITION BY tenant ORDER BY nth ROWS UNBOUNDED PRECEDING)
		), used AS (
			SELECT tenant, coalesce(sum(n) FILTER (WHERE kind = 'queued'), 0) AS queued,
				coalesce(sum(bytes) FILTER (WHERE kind IN ('queued', 'running')), 0) AS jobs,
				coalesce(sum(bytes) FILTER (WHERE kind = 'results'), 0) AS results
			FROM airlock.usage WHERE tenant = ANY ($2::bytea[]) AND kind IN ('queued', 'running', 'results') AND subject = ''
			GROUP BY tenant
		), fitting AS (
			SELECT batch.* FROM batch LEFT JOIN used ON used.tenant = batch.tenant
			WHERE coalesce(used.queued, 0) <= max_queued AND coalesce(used.jobs, 0) <= max_jobs
				AND coalesce(used.results, 0) <= max_results AND n_before <= add_queued AND size_before <= add_jobs
		), stored AS (
			INSERT INTO airlock.jobs (id, tenant, subject, status, priority, not_before, change, doc, request)
			SELECT id, tenant, subject, status, priority, not_before, change, doc, request FROM fitting ORDER BY nth
			ON CONFLICT (id) DO NOTHING
		)
		SELECT nth FROM fitting`, ids, tenants, subjects, statuses, priorities, starts, changes, docs, requests, sizes,
		queued, jobs, results, addQueued, addJobs)
	for _, nth := range stored {
		batch[nth-1].out = true
	}
	return err
}

// A jobWrite replaces a row that was read.
type jobWrite struct {
	row   *jobRow
	job   execution.Job
	doc   []byte
	token string
	// The row has the result, the snapshot, or what is beside the document: it is not sent again.
	hasResult, hasSnapshot, hasAside bool
	aside                            []byte // if the row has it not
}

func (w jobWrite) size() int { return len(w.doc) + len(w.aside) + len(w.result()) + len(w.snapshot()) }

func (w jobWrite) result() []byte {
	if w.hasResult {
		return nil
	}
	return w.job.Result
}

func (w jobWrite) snapshot() []byte {
	if w.hasSnapshot {
		return nil
	}
	return w.job.Snapshot
}

// writeAll replaces the rows of a batch. The outcome is the size of the tenant's results before. The error of a row
// that has changed since it was read is errMoved.
func (s *Store) writeAll(ctx context.Context, batch []*operation[jobWrite, int64]) error {
	return writeRows(ctx, s.pool, batch)
}

// writeLarge does what writeAll does, for one row with a large snapshot or much beside its document, which it sends as
// bytes.
func writeLarge(ctx context.Context, s *Store, w jobWrite) (results int64, err error) {
	whole := w
	w.hasSnapshot, w.hasAside, w.aside = true, true, nil
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		op := &operation[jobWrite, int64]{in: w}
		if err := writeRows(ctx, tx, []*operation[jobWrite, int64]{op}); err != nil {
			return err
		}
		results = op.out
		if op.err != nil {
			return op.err
		}
		_, err := execBytes(ctx, tx, `UPDATE airlock.jobs SET
			snapshot = CASE WHEN $1::boolean THEN snapshot ELSE $2::bytea END,
			aside = CASE WHEN $3::boolean THEN aside ELSE $4::bytea END WHERE id = $5`,
			whole.hasSnapshot, whole.snapshot(), whole.hasAside, whole.aside, w.row.id)
		return err
	})
	return results, err
}

func writeRows(ctx context.Context, q querier, batch []*operation[jobWrite, int64]) error {
	// Statements that lock rows in the same order do not lock one another out.
	slices.SortFunc(batch, func(a, b *operation[jobWrite, int64]) int {
		return cmp.Compare(string(a.in.row.id), string(b.in.row.id))
	})
	var ids, docs, asides, results, snapshots [][]byte
	var lasts, statuses, owners, claims, tokens []string
	var cancels, hasResults, hasSnapshots, hasAsides []bool
	var starts, started []int64
	var callbacks, ends []*int64
	byToken := map[string]*operation[jobWrite, int64]{}
	for _, op := range batch {
		w, j := op.in, op.in.job
		op.out, op.err = 0, errMoved
		byToken[w.token] = op
		owner, claim, _ := strings.Cut(j.Owner, ".")
		var callback *int64
		if j.Callback != nil && j.Callback.State == execution.CallbackPending {
			at := millis(j.Callback.Next)
			callback = &at
		}
		ids, lasts, statuses = append(ids, w.row.id), append(lasts, w.row.change), append(statuses, string(j.Status))
		starts, owners, claims = append(starts, millis(dueAt(j))), append(owners, owner), append(claims, claim)
		cancels, callbacks, ends = append(cancels, j.Cancel), append(callbacks, callback), append(ends, orNull(j.EndedAt))
		started, snapshots = append(started, millis(j.StartedAt)), append(snapshots, w.snapshot())
		docs, results, tokens = append(docs, w.doc), append(results, w.result()), append(tokens, w.token)
		asides, hasAsides = append(asides, w.aside), append(hasAsides, w.hasAside)
		hasResults, hasSnapshots = append(hasResults, w.hasResult), append(hasSnapshots, w.hasSnapshot)
	}
	// Nobody needs the request and the snapshot of a job that has ended.
	written, err := collect(ctx, q, scanWritten, `WITH batch AS (
			SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::boolean[],
				$8::bigint[], $9::bigint[], $10::bigint[], $11::bytea[], $12::bytea[], $13::text[], $14::bytea[], $15::boolean[],
				$16::boolean[], $17::bytea[], $18::boolean[])
				AS b (id, last, status, not_before, owner, claim, cancel, callback, ended, started, doc, result, token, snapshot,
					has_result, has_snapshot, aside, has_aside)
		), written AS (
			UPDATE airlock.jobs j SET status = b.status, not_before = b.not_before, owner = nullif(b.owner, ''),
				claim = nullif(b.claim, ''), cancel = b.cancel, callback = b.callback, caller = NULL, ended = b.ended,
				started = b.started, doc = b.doc,
				result = CASE WHEN b.has_result THEN j.result ELSE b.result END,
				request = CASE WHEN b.ended IS NULL THEN j.request ELSE '{}'::bytea END,
				snapshot = CASE WHEN b.ended IS NOT NULL THEN NULL WHEN b.has_snapshot THEN j.snapshot ELSE b.snapshot END,
				aside = CASE WHEN b.ended IS NOT NULL THEN NULL WHEN b.has_aside THEN j.aside ELSE b.aside END,
				change = b.token
			FROM batch b WHERE j.id = b.id AND j.change = b.last
			RETURNING j.tenant, j.change
		), used AS (
			SELECT u.tenant, sum(u.bytes)::bigint AS bytes FROM airlock.usage u
			WHERE u.tenant IN (SELECT tenant FROM written) AND u.kind = 'results' AND u.subject = '' GROUP BY u.tenant
		)
		SELECT written.change, coalesce(used.bytes, 0) FROM written LEFT JOIN used ON used.tenant = written.tenant`,
		ids, lasts, statuses, starts, owners, claims, cancels, callbacks, ends, started, docs, results, tokens, snapshots,
		hasResults, hasSnapshots, asides, hasAsides)
	for _, w := range written {
		op := byToken[w.token]
		op.out, op.err = w.results, nil
	}
	return err
}

// A writtenRow is a row that writeAll has replaced.
type writtenRow struct {
	token   string
	results int64
}

func scanWritten(row pgx.Row) (w writtenRow, err error) {
	err = row.Scan(&w.token, &w.results)
	return w, err
}

func scanNumber(row pgx.Row) (n int64, err error) {
	err = row.Scan(&n)
	return n, err
}
