package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/infra/state/pgstate"
	"github.com/airlock-run/airlock/infra/state/pgstate/pgtest"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
)

// counter counts the statements that go to a database, each of which is one round trip.
type counter struct{ n atomic.Int64 }

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.n.Add(1)
	return ctx
}

func (*counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// BenchmarkFleet measures three gateways that share a state: each submits jobs of twelve tenants, and all run them. The
// jobs do nothing, so it measures the state. Postgres flushes every commit.
func BenchmarkFleet(b *testing.B) {
	const gateways = 3
	b.Run("sqlite", func(b *testing.B) {
		dir := b.TempDir()
		fleetOf(b, gateways, func() (jobs.Store, func() error) {
			s, err := sqlitestate.Open(dir, sqlitestate.Config{})
			if err != nil {
				b.Fatal(err)
			}
			return s, s.Close
		}, nil)
	})
	b.Run("postgres", func(b *testing.B) {
		server := pgtest.New(b, pgtest.Durable...)
		url, queries := strings.Replace(server.Database(b), "pool_max_conns=4", "pool_max_conns=16", 1), &counter{}
		fleetOf(b, gateways, func() (jobs.Store, func() error) {
			s, err := pgstate.Open(b.Context(), url, pgstate.Config{Tracer: queries})
			if err != nil {
				b.Fatal(err)
			}
			return s, s.Close
		}, queries)
	})
}

func fleetOf(
	b *testing.B, gateways int, open func() (jobs.Store, func() error), queries *counter, wakes ...jobs.Queues,
) {
	const submitters, tenants = 8, 12
	var ended atomic.Int64
	all := make(chan struct{})
	runner := &script{run: func(ctx context.Context, job execution.Job) (execution.Result, time.Duration) {
		return done(ctx, job)
	}}
	total := int64(b.N)
	var queues []*jobs.Queue
	for range gateways {
		store, shut := open()
		cfg := jobs.Config{Store: counting{store, &ended, total, all}, Runner: runner, Workers: 16, Now: time.Now,
			Random: rand.Float64, Logger: slog.New(slog.DiscardHandler)}
		if len(wakes) > 0 {
			cfg.Store, cfg.Queues = taking{counting{store, &ended, total, all}, store.(jobs.CallbackTaker)}, wakes[0]
		}
		q, err := jobs.New(cfg)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := errors.Join(q.Stop(context.Background()), shut()); err != nil {
				b.Error(err)
			}
		})
		queues = append(queues, q)
		q.Start(b.Context())
	}
	if queries != nil {
		queries.n.Store(0)
	}
	b.ResetTimer()
	began := time.Now()
	var next atomic.Int64
	var submitting sync.WaitGroup
	for _, q := range queues {
		for range submitters {
			submitting.Go(func() {
				for n := next.Add(1); n <= total; n = next.Add(1) {
					job := execution.Job{ID: fmt.Sprintf("exec_%026d", n), Tenant: fmt.Sprint("t", n%tenants),
						Request: execution.Request{Code: "6 * 7"}}
					if err := q.Submit(b.Context(), job); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
	}
	submitting.Wait()
	submitted := time.Since(began)
	<-all
	b.ReportMetric(float64(total)/submitted.Seconds(), "submits/s")
	b.ReportMetric(float64(total)/time.Since(began).Seconds(), "jobs/s")
	if queries != nil {
		b.ReportMetric(float64(queries.n.Load())/float64(total), "queries/job")
	}
}

// counting is a store that closes a channel when so many jobs have ended.
type counting struct {
	jobs.Store
	ended *atomic.Int64
	total int64
	all   chan struct{}
}

// taking is counting of a store that is used with queues.
type taking struct {
	counting
	jobs.CallbackTaker
}

func (c counting) ChangeJob(ctx context.Context, id string,
	fn func(*execution.Job) error) (execution.Job, error) {
	return c.count(c.Store.ChangeJob(ctx, id, fn))
}

func (c counting) ChangeJobState(ctx context.Context, id string,
	fn func(*execution.Job) error) (execution.Job, error) {
	return c.count(c.Store.ChangeJobState(ctx, id, fn))
}

func (c counting) count(job execution.Job, err error) (execution.Job, error) {
	if err == nil && job.Ended() && c.ended.Add(1) == c.total {
		close(c.all)
	}
	return job, err
}
