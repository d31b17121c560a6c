package sqlitestate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/internal/share"
)

// This file reads jobs from their rows.

// jobs returns the jobs of a query for jobColumns.
func (d *database) jobs(ctx context.Context, query string, args ...any) ([]execution.Job, error) {
	return d.query(ctx, scanWhole, query, args...)
}

// states returns the jobs of a query for stateColumns or briefColumns.
func (d *database) states(ctx context.Context, query string, args ...any) ([]execution.Job, error) {
	return d.query(ctx, scanState, query, args...)
}

func (d *database) query(ctx context.Context, scan func(scanner) (jobRow, error), query string, args ...any) (
	out []execution.Job, err error) {
	err = loading(func() error {
		return d.read(ctx, func() error {
			rows, err := d.db.QueryContext(ctx, query, args...)
			if err != nil {
				return fmt.Errorf("read jobs: %w", err)
			}
			out, err = d.all(ctx, d.db, rows, scan)
			return err
		})
	})
	return out, err
}

// all returns the jobs of all rows. If the content of some is lost, it returns the others with the error.
func (d *database) all(ctx context.Context, q querier, rows *sql.Rows, scan func(scanner) (jobRow, error)) (
	out []execution.Job, err error) {
	var read []jobRow
	for rows.Next() {
		row, err := scan(rows)
		if err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		read = append(read, row)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	var lost error
	for _, row := range read {
		job, err := d.job(ctx, q, row)
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

type scanner interface{ Scan(...any) error }

// A querier is the database, or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// A jobRow is a row of the columns of a job.
type jobRow struct {
	seq               int64
	doc, result       []byte
	resultBytes       int
	snapshotBytes     int
	aside             kept
	request, snapshot []byte
	requestBytes      int
	whole             bool // it has the last three
}

// scanState reads a row of stateColumns or briefColumns.
func scanState(row scanner) (r jobRow, err error) {
	err = r.scan(row)
	return r, scanned(err)
}

// scanWhole reads a row of jobColumns.
func scanWhole(row scanner) (r jobRow, err error) {
	r.whole = true
	err = r.scan(row, &r.request, &r.requestBytes, &r.snapshot)
	return r, scanned(err)
}

// scan reads the columns of every row, and those that follow.
func (r *jobRow) scan(row scanner, more ...any) error {
	var file sql.NullString
	var bytes sql.NullInt64
	err := row.Scan(append([]any{
		&r.seq, &r.doc, &r.result, &r.resultBytes, &r.snapshotBytes, &r.aside.value, &file, &bytes}, more...)...)
	r.aside.file, r.aside.bytes = file.String, int(bytes.Int64)
	return err
}

func scanned(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return execution.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("read a job: %w", err)
	}
	return nil
}

// job returns the job of a row, with what other tables and files have of it.
func (d *database) job(ctx context.Context, q querier, r jobRow) (job execution.Job, err error) {
	aside, err := d.load(r.aside)
	if err == nil {
		if job, err = share.DecodeJob(r.doc, aside); err != nil {
			err = unreadable("a job", err)
		}
	}
	if errors.Is(err, execution.ErrContentLost) && !r.whole {
		var file sql.NullString
		read := q.QueryRowContext(ctx, "SELECT file FROM asides WHERE seq = ?", r.seq).Scan(&file)
		if read == nil && file.String == r.aside.file { // and not because another change was faster
			job, err = share.DecodeAlone(r.doc)
		}
	}
	if err != nil {
		return job, err
	}
	job.SnapshotBytes = r.snapshotBytes
	if len(r.result) == 0 && r.resultBytes > 0 {
		err := q.QueryRowContext(ctx, "SELECT result FROM results WHERE seq = ?", r.seq).Scan(&r.result)
		if err != nil {
			return job, gone(err)
		}
	}
	if len(r.result) > 0 {
		job.Result = r.result
	}
	if !r.whole {
		return job, nil
	}
	if r.requestBytes > 0 {
		if r.request, err = d.apart(ctx, q, "request", r.seq); err != nil {
			return job, err
		}
	}
	if job.Request, err = share.DecodeRequest(r.request); err != nil {
		return job, unreadable("a job", err)
	}
	if r.snapshot == nil && r.snapshotBytes > 0 {
		if r.snapshot, err = d.apart(ctx, q, "snapshot", r.seq); err != nil {
			return job, err
		}
	}
	if len(r.snapshot) > 0 {
		job.Snapshot = r.snapshot
	}
	return job, nil
}

// apart returns the request or the snapshot of a job from its table, or from its file.
func (d *database) apart(ctx context.Context, q querier, what string, seq int64) ([]byte, error) {
	var k kept
	query := "SELECT " + what + ", file, file_bytes FROM " + what + "s WHERE seq = ?"
	if err := q.QueryRowContext(ctx, query, seq).Scan(&k.value, &k.file, &k.bytes); err != nil {
		return nil, gone(err)
	}
	return d.load(k)
}

// gone returns an error by which a job is read again whose other rows are no longer there: it was changed meanwhile.
func gone(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fileFault(fs.ErrNotExist)
	}
	return err
}
