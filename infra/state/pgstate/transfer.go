package pgstate

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/internal/share"
	"github.com/airlock-run/airlock/infra/state/transfer"
)

// A Transfer copies from a Store and to it.
type Transfer struct{ *Store }

var _ transfer.Store = Transfer{}

// Holds reports whether the state holds anything.
func (s Transfer) Holds(ctx context.Context) (holds bool, err error) {
	err = s.do(ctx, func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM airlock.functions) OR EXISTS (SELECT 1 FROM airlock.jobs)
			OR EXISTS (SELECT 1 FROM airlock.deliveries) OR EXISTS (SELECT 1 FROM airlock.documents)`).Scan(&holds)
	})
	return holds, err
}

// InUse reports whether another process writes heartbeats.
func (s Transfer) InUse(ctx context.Context) (used bool, err error) {
	err = s.do(ctx, func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, "SELECT EXISTS ("+live+" AND p.id <> $2)", s.cfg.DeadAfter.Seconds(), s.id).Scan(&used)
	})
	return used, err
}

// Export passes everything to fn.
func (s Transfer) Export(ctx context.Context, fn func(transfer.Item) error) error {
	return errors.Join(s.exportFunctions(ctx, fn), s.exportJobs(ctx, fn), s.exportRest(ctx, fn))
}

func (s Transfer) exportFunctions(ctx context.Context, fn func(transfer.Item) error) error {
	var tenant, name []byte
	for tenant, name = []byte{}, []byte{}; ; {
		list, err := s.functions(ctx, `SELECT doc FROM airlock.functions WHERE (tenant, name) > ($1, $2)
			ORDER BY tenant, name LIMIT 1`, tenant, name) // each may be as large as it can be
		if err != nil || len(list) == 0 {
			return err
		}
		for _, f := range list {
			if c := bytes.Compare([]byte(f.Tenant), tenant); c < 0 || c == 0 && f.Name <= string(name) {
				return fmt.Errorf("the function %q of tenant %q is stored under the name of another", f.Name, f.Tenant)
			}
			tenant, name = []byte(f.Tenant), []byte(f.Name)
			contents := map[int]execution.FunctionContent{}
			for _, v := range f.Versions {
				c, err := s.Content(ctx, f.Tenant, f.Name, v.Version)
				if errors.Is(err, execution.ErrNotFound) {
					continue // deleted
				}
				if err != nil {
					return err
				}
				contents[v.Version] = c
			}
			if err := fn(transfer.Item{Function: &transfer.Function{Saved: f, Contents: contents}}); err != nil {
				return err
			}
		}
	}
}

// largestID bounds the ID of a job. No gateway draws one that comes near.
const largestID = 1 << 10

func (s Transfer) exportJobs(ctx context.Context, fn func(transfer.Item) error) error {
	type numbered struct {
		seq int64
		id  []byte
	}
	for after := int64(math.MinInt64); ; {
		var page []numbered
		err := s.do(ctx, func(ctx context.Context) (err error) {
			page, err = collect(ctx, s.pool, func(row pgx.Row) (n numbered, err error) {
				err = row.Scan(&n.seq, &n.id)
				if err == nil && len(n.id) > largestID {
					err = fmt.Errorf("the state is damaged: the ID of a job has %d bytes", len(n.id))
				}
				return n, err
			}, "SELECT seq, id FROM airlock.jobs WHERE seq > $1 ORDER BY seq LIMIT 1000", after)
			return err
		})
		if err != nil || len(page) == 0 {
			return err
		}
		for _, n := range page {
			if n.seq <= after {
				return errors.New("the state is damaged: its jobs do not end, or are not in the order that was asked for")
			}
			after = n.seq
			job, err := s.Job(ctx, string(n.id))
			if errors.Is(err, execution.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if err := fn(transfer.Item{Job: &job}); err != nil {
				return err
			}
		}
	}
}

// exportRest passes keys, events, receivers and anchors to fn, on a connection without the time limit of operations.
func (s Transfer) exportRest(ctx context.Context, fn func(transfer.Item) error) error {
	for _, step := range []struct {
		query string
		scan  func(pgx.Row) (transfer.Item, error)
	}{
		{"SELECT key, mark, until, tenant, subject, kind, answer FROM airlock.deliveries", scanKey},
		{"SELECT tenant, name, id, at, event FROM airlock.events ORDER BY seq", scanEvent},
		{"SELECT tenant, url, until FROM airlock.gone", scanGone},
		{"SELECT name, body FROM airlock.documents", scanDocument},
	} {
		rows, err := s.pool.Query(ctx, step.query)
		if err != nil {
			return judge(ctx, err)
		}
		for rows.Next() {
			item, err := step.scan(rows)
			if err == nil {
				err = fn(item)
			}
			if err != nil {
				rows.Close()
				return err
			}
		}
		if err := rows.Err(); err != nil {
			return judge(ctx, err)
		}
	}
	return nil
}

func scanKey(row pgx.Row) (transfer.Item, error) {
	var name, mark, tenant, subject []byte
	var until int64
	k := &transfer.Key{}
	err := row.Scan(&name, &mark, &until, &tenant, &subject, &k.Key.Quota, &k.Answer)
	k.Key.Name, k.Mark, k.Key.Tenant, k.Key.Subject = string(name), string(mark), string(tenant), string(subject)
	k.Until = time.UnixMilli(until)
	return transfer.Item{Key: k}, err
}

func scanEvent(row pgx.Row) (transfer.Item, error) {
	var tenant, name, id []byte
	var at int64
	e := &transfer.Event{}
	err := row.Scan(&tenant, &name, &id, &at, &e.Event)
	e.Tenant, e.Function, e.ID, e.At = string(tenant), string(name), string(id), time.UnixMilli(at)
	return transfer.Item{Event: e}, err
}

func scanGone(row pgx.Row) (transfer.Item, error) {
	var tenant, url []byte
	var until int64
	err := row.Scan(&tenant, &url, &until)
	return transfer.Item{Gone: &transfer.Gone{Tenant: string(tenant), URL: string(url), Until: time.UnixMilli(until)}}, err
}

func scanDocument(row pgx.Row) (transfer.Item, error) {
	d := &transfer.Document{}
	err := row.Scan(&d.Name, &d.Body)
	return transfer.Item{Document: d}, err
}

// Import stores an item, or replaces it. Quotas do not apply: what was accepted is kept.
func (s Transfer) Import(ctx context.Context, item transfer.Item) error {
	switch {
	case item.Function != nil:
		return s.importFunction(ctx, *item.Function)
	case item.Job != nil:
		return s.importJob(ctx, *item.Job)
	case item.Key != nil:
		k := item.Key
		_, err := s.exec(ctx, `INSERT INTO airlock.deliveries (key, mark, until, owner, claim, tenant, subject, kind, answer)
			VALUES ($1, $2, $3, $4, $4, $5, $6, $7, $8) ON CONFLICT (key) DO UPDATE SET mark = excluded.mark,
			until = excluded.until, answer = excluded.answer`, []byte(k.Key.Name), []byte(k.Mark), millis(k.Until),
			transfer.MovedOwner, []byte(k.Key.Tenant), []byte(k.Key.Subject), quotaOf(k.Key), k.Answer)
		return err
	case item.Event != nil:
		e := item.Event
		_, err := s.exec(ctx, `INSERT INTO airlock.events (tenant, name, id, at, event) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (tenant, name, id) DO NOTHING`, []byte(e.Tenant), []byte(e.Function), []byte(e.ID), millis(e.At),
			e.Event)
		return err
	case item.Gone != nil:
		_, err := s.Gone(ctx, item.Gone.Tenant, item.Gone.URL, time.Time{}, item.Gone.Until)
		return err
	}
	_, err := s.exec(ctx, `INSERT INTO airlock.documents (name, tag, body) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET tag = excluded.tag, body = excluded.body`, item.Document.Name, rand.Text(),
		item.Document.Body)
	return err
}

func (s Transfer) importFunction(ctx context.Context, f transfer.Function) error {
	doc, err := json.Marshal(f.Saved)
	if err != nil {
		return err
	}
	var next *int64
	if f.Saved.Schedule != nil {
		next = orNull(f.Saved.Schedule.Next)
	}
	tenant, name := []byte(f.Saved.Tenant), []byte(f.Saved.Name)
	return s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		for version, content := range f.Contents {
			parts, err := content.Stored()
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `INSERT INTO airlock.versions (tenant, name, version, content) VALUES ($1, $2, $3, $4)
				ON CONFLICT (tenant, name, version) DO UPDATE SET content = excluded.content`, tenant, name, version,
				parts.Bytes())
			if err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `INSERT INTO airlock.functions (tenant, name, next, change, doc) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (tenant, name) DO UPDATE SET next = excluded.next, change = excluded.change, doc = excluded.doc`,
			tenant, name, next, rand.Text(), doc)
		return err
	})
}

func (s Transfer) importJob(ctx context.Context, job execution.Job) error {
	doc, aside, err := share.EncodeJob(job)
	if err != nil {
		return err
	}
	parts, err := job.Request.Stored()
	if err != nil {
		return err
	}
	n := newJob{job: job, doc: doc, request: parts.Bytes(), change: rand.Text()}
	owner, claim, _ := strings.Cut(job.Owner, ".")
	var callback *int64
	if job.Callback != nil && job.Callback.State == execution.CallbackPending {
		at := millis(job.Callback.Next)
		callback = &at
	}
	return s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "DELETE FROM airlock.jobs WHERE id = $1", []byte(job.ID)); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO airlock.jobs (id, tenant, subject, status, priority, not_before, change, doc,
			request, owner, claim, claimed, started, cancel, callback, ended, result, snapshot, aside)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, nullif($10, ''), nullif($11, ''), clock_timestamp(), $12, $13, $14, $15,
			$16, $17, $18)`,
			append(n.values(), owner, claim, millis(job.StartedAt), job.Cancel, callback,
				orNull(job.EndedAt), []byte(job.Result), job.Snapshot, orNone(aside.Bytes()))...)
		return err
	})
}
