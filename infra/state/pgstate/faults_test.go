package pgstate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/pgstate"
	"github.com/airlock-run/airlock/infra/state/pgstate/pgtest"
)

func openWith(t *testing.T, url string, cfg pgstate.Config) *pgstate.Store {
	t.Helper()
	s, err := pgstate.Open(t.Context(), url, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// isFault checks that everything reports a fault, within the time of an operation and without the password.
func isFault(t *testing.T, s *pgstate.Store, want execution.StoreFault) {
	t.Helper()
	for name, fn := range map[string]func() error{
		"submit": func() error {
			return s.Submit(t.Context(), execution.Job{ID: "exec_0000000099", Status: execution.Queued})
		},
		"claim": func() error { _, err := s.Claim(t.Context(), time.Now(), "", nil); return err },
		"ready": func() error { return s.Ready(t.Context()) },
		"key": func() error {
			_, _, _, err := s.Begin(t.Context(), execution.Key{Name: "k"}, "m", time.Now(), time.Now().Add(time.Hour))
			return err
		},
	} {
		began := time.Now()
		err := fn()
		var fault *execution.StoreError
		if !errors.As(err, &fault) || fault.Fault != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error has the password: %v", name, err)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}

// until waits until a func succeeds.
func until(t *testing.T, fn func() error) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		err := fn()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal(err)
		case <-tick.C:
		}
	}
}

// A server that stops loses nothing: its gateways answer in time meanwhile, and none counts as dead afterwards.
func TestServerStops(t *testing.T) {
	t.Parallel()
	own := pgtest.New(t)
	url := strings.Replace(own.Database(t), "postgres@", "postgres:hunter2@", 1)
	s := openWith(t, url, pgstate.Config{Settle: time.Hour})
	if err := s.Submit(t.Context(), execution.Job{ID: "exec_0000000001", Status: execution.Queued}); err != nil {
		t.Fatal(err)
	}
	job, err := s.Claim(t.Context(), time.Now(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	own.Halt()
	isFault(t, s, execution.StoreLost)
	if err := own.Run(); err != nil {
		t.Fatal(err)
	}
	until(t, func() error { return s.Ready(t.Context()) })
	if left, err := s.Orphans(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("%d orphans, %v", len(left), err)
	}
	done, err := s.ChangeJob(t.Context(), job.ID, func(j *execution.Job) error {
		if j.Owner != job.Owner {
			return errors.New("somebody else owns it")
		}
		j.Status, j.EndedAt, j.Owner = execution.Completed, time.Now(), ""
		return nil
	})
	if err != nil || done.Status != execution.Completed {
		t.Errorf("%s %v", done.Status, err)
	}
}

func TestReadOnlyServer(t *testing.T) {
	t.Parallel()
	own := pgtest.New(t)
	url := own.Database(t)
	s := openWith(t, url, pgstate.Config{})
	set := func(value string) {
		own.Exec(t, url, "ALTER SYSTEM SET default_transaction_read_only = "+value)
		own.Exec(t, url, "SELECT pg_reload_conf()")
	}
	set("on")
	readOnly := func(err error) error {
		var fault *execution.StoreError
		if errors.As(err, &fault) && fault.Fault == execution.StoreReadOnly {
			return nil
		}
		return errors.Join(errors.New("not read-only yet"), err)
	}
	until(t, func() error {
		return readOnly(s.Submit(t.Context(), execution.Job{ID: "exec_0000000002", Status: execution.Queued}))
	})
	until(t, func() error { return readOnly(s.Ready(t.Context())) })
	if _, err := s.Job(t.Context(), "exec_0000000001"); !errors.Is(err, execution.ErrNotFound) {
		t.Errorf("reading: %v", err)
	}
}

// A locked table delays callers by the timeout of an operation, and leaves no statement waiting at the server.
func TestLockedTable(t *testing.T) {
	t.Parallel()
	state := newFleet(t)
	s := openWith(t, state.url, pgstate.Config{Timeout: 300 * time.Millisecond})
	conn, err := pgx.Connect(t.Context(), strings.TrimSuffix(state.url, "&pool_max_conns=4"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const lock = "LOCK TABLE airlock.jobs, airlock.deliveries, airlock.probe, airlock.usage IN ACCESS EXCLUSIVE MODE"
	if _, err := tx.Exec(t.Context(), lock); err != nil {
		t.Fatal(err)
	}
	isFault(t, s, execution.StoreBusy)
	until(t, func() error {
		var waiting int
		err := tx.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting)
		if err == nil && waiting > 0 {
			err = errors.New("statements still wait")
		}
		return err
	})
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, func() error {
		return s.Submit(t.Context(), execution.Job{ID: "exec_0000000003", Status: execution.Queued})
	})
}

func TestOpenHidesThePassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"postgres://u:hunter2@127.0.0.1:1/d?connect_timeout=1", "postgres://u:hunter2@[x/d", "postgres://u:hunter2@h/d?x=%zz",
		"postgres://u:hunter2@127.0.0.1:port/d", "postgres://u:hunter2@127.0.0.1:1/d?sslmode=odd",
	} {
		s, err := pgstate.Open(t.Context(), url, pgstate.Config{})
		if err == nil {
			_ = s.Close()
			t.Errorf("%s was opened", url)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Error(err)
		}
	}
}

// A job that the database refuses does not fail the jobs that are submitted with it.
func TestRefusedJobFailsAlone(t *testing.T) {
	t.Parallel()
	s := openWith(t, newFleet(t).url, pgstate.Config{})
	var all sync.WaitGroup
	for n := range 60 {
		job := execution.Job{ID: fmt.Sprintf("exec_%010d", n), Tenant: "t", Status: execution.Queued}
		if n%20 == 7 {
			job.Status = "\x00" // no text of Postgres
		}
		all.Go(func() {
			if err := s.Submit(t.Context(), job); (err != nil) != (job.Status == "\x00") {
				t.Errorf("%s: %v", job.ID, err)
			}
		})
	}
	all.Wait()
}
