package pgstate

import (
	"cmp"
	"context"
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/internal/share"
)

// A Store is one gateway's view of the state in a database. It is safe for concurrent use.
type Store struct {
	*base
	id    string // of this process
	jobs  held
	beat  heartbeat
	lease share.Lease

	submits group[newJob, bool]
	writes  group[jobWrite, int64]
}

// A base is the database with the bounds on what is stored there.
type base struct {
	pool *pgxpool.Pool
	cfg  Config

	mu     sync.Mutex
	probed time.Time // when Ready last succeeded
	queued queuedJobs
}

// Config configures a Store. The zero value has the defaults.
type Config struct {
	MaxJobs          int // jobs that have not begun; 100,000, counted every second
	MaxJobsPerTenant int // 20,000
	// Storage returns a tenant's current quota. It must be safe for concurrent use. Nil, or a zero field, means the
	// default.
	Storage func(tenant string) execution.Storage
	// Lease is how long after a heartbeat a function may begin a job of its process. A third of it is for clocks that
	// differ. Default DeadAfter.
	Lease time.Duration
	// Timeout bounds each operation. Default 3 seconds.
	Timeout time.Duration
	// DeadAfter is the age of a heartbeat from which its process has died. A process writes four in that time. Default
	// 8 seconds.
	DeadAfter time.Duration
	// Settle is how long a process has written heartbeats before it declares others dead. Default half of DeadAfter.
	Settle time.Duration
	// Tracer, which may be nil, sees every statement.
	Tracer pgx.QueryTracer
}

func (c Config) checked() (Config, error) {
	if c.MaxJobs < 0 || c.MaxJobsPerTenant < 0 || c.Lease < 0 || c.Timeout < 0 || c.DeadAfter < 0 || c.Settle < 0 {
		return c, errors.New("state: numbers and durations must not be negative")
	}
	c.MaxJobs = cmp.Or(c.MaxJobs, 100_000)
	c.MaxJobsPerTenant = cmp.Or(c.MaxJobsPerTenant, 20_000)
	c.Timeout = cmp.Or(c.Timeout, 3*time.Second)
	c.DeadAfter = cmp.Or(c.DeadAfter, 8*time.Second)
	c.Settle = cmp.Or(c.Settle, c.DeadAfter/2)
	c.Lease = cmp.Or(c.Lease, c.DeadAfter)
	return c, nil
}

// storage returns a tenant's quota.
func (s *base) storage(tenant string) execution.Storage {
	if s.cfg.Storage == nil {
		return execution.DefaultStorage()
	}
	return s.cfg.Storage(tenant).OrDefault()
}

// openTime bounds connecting and migrating.
const openTime = 30 * time.Second

// Open connects to the database at a URL, updates the schema, and starts to write heartbeats. No error contains the
// URL's password.
func Open(ctx context.Context, url string, cfg Config) (*Store, error) {
	cfg, err := cfg.checked()
	if err != nil {
		return nil, err
	}
	pooled, err := parse(url)
	if err != nil {
		return nil, err
	}
	pooled.ConnConfig.Tracer = cfg.Tracer
	starting, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), pooled)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	s := &Store{base: &base{pool: pool, cfg: cfg}, id: cryptorand.Text(),
		jobs:  held{claims: map[string]*claimed{}, byID: map[string]*claimed{}},
		lease: share.Lease{DeadAfter: cfg.DeadAfter, Length: cfg.Lease}}
	s.submits = group[newJob, bool]{carryOut: s.submitAll, size: newJob.size, timeout: cfg.Timeout}
	s.writes = group[jobWrite, int64]{carryOut: s.writeAll, size: jobWrite.size, timeout: cfg.Timeout}
	if err := migrate(starting, pool); err != nil {
		pool.Close()
		return nil, fmt.Errorf("state: %w", judge(starting, err))
	}
	if err := s.register(starting); err != nil {
		pool.Close()
		return nil, fmt.Errorf("state: %w", err)
	}
	s.beat.start(s)
	return s, nil
}

// Close closes all connections. Jobs that this process was running become orphans when it counts as dead.
func (s *Store) Close() error {
	s.beat.end()
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.Timeout)
	defer cancel()
	if len(s.jobs.tokens()) == 0 { // otherwise, its last heartbeat says how old they are
		// If that fails, the others find that the heartbeats have ended.
		_, _ = s.pool.Exec(ctx, "DELETE FROM airlock.processes WHERE id = $1", s.id)
	}
	s.pool.Close()
	return nil
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// do runs fn within the time of an operation. It runs fn again if the transaction lost a conflict, until that time has
// passed, and up to four times if the connection was lost: fn must recognize what an earlier attempt has done.
func (s *base) do(ctx context.Context, fn func(ctx context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	const reconnects = 4
	for lost, conflicts := 0, 0; ; {
		err := fn(bounded)
		pause, again := time.Duration(0), false
		switch {
		case err != nil && lostConflict(err):
			// Of several writers one always wins. Random pauses keep the others from meeting again.
			conflicts++
			pause, again = rand.N(time.Duration(min(conflicts, 10))*4*time.Millisecond), true
		case err != nil && lostConnection(err):
			lost++
			pause, again = time.Duration(lost)*20*time.Millisecond, lost <= reconnects
		}
		if !again || bounded.Err() != nil {
			if ctx.Err() != nil && err != nil {
				return ctx.Err()
			}
			return judge(bounded, err)
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-bounded.Done():
			wait.Stop()
		}
	}
}

// exec runs a statement that may be repeated.
func (s *base) exec(ctx context.Context, sql string, args ...any) (rows int64, err error) {
	err = s.do(ctx, func(ctx context.Context) error {
		tag, err := s.pool.Exec(ctx, sql, args...)
		rows = tag.RowsAffected()
		return err
	})
	return rows, err
}

// change runs fn in a transaction, which may be repeated.
func (s *base) change(ctx context.Context, fn func(ctx context.Context, tx pgx.Tx) error) error {
	return s.do(ctx, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return fn(ctx, tx) })
	})
}

// mostRows bounds the rows of any answer.
const mostRows = 10_000

// collect scans the rows of a query.
func collect[T any](ctx context.Context, q querier, scan func(pgx.Row) (T, error), sql string,
	args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		if len(out) == mostRows {
			return nil, fmt.Errorf("the database returned more than %d rows", mostRows)
		}
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, rows.Err()
}

// binary returns an option that asks for columns as bytes. Without it, pgx reads bytea as hexadecimal digits.
func binary() pgx.QueryResultFormats { return pgx.QueryResultFormats{pgx.BinaryFormatCode} }

// execBytes runs a statement whose parameters are bytes, texts and whole numbers. It sends bytes as they are: pgx would
// send twice as many hexadecimal digits.
func execBytes(ctx context.Context, tx pgx.Tx, sql string, args ...any) (pgconn.CommandTag, error) {
	values, formats := make([][]byte, len(args)), make([]int16, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case []byte:
			values[i], formats[i] = v, pgx.BinaryFormatCode
		default:
			values[i] = fmt.Append(nil, v)
		}
	}
	r := tx.Conn().PgConn().ExecParams(ctx, sql, values, nil, formats, nil).Read()
	return r.CommandTag, r.Err
}

func scanBytes(row pgx.Row) (b []byte, err error) {
	err = row.Scan(&b)
	return b, err
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func orNull(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
