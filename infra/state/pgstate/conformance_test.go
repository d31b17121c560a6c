package pgstate_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/jobs/jobstest"
	"github.com/airlock-run/airlock/infra/state/pgstate"
	"github.com/airlock-run/airlock/infra/state/pgstate/pgtest"
	"github.com/airlock-run/airlock/infra/state/statetest"
)

var server *pgtest.Server

func TestMain(m *testing.M) {
	var err error
	if server, err = pgtest.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if server != nil {
		server.Stop()
	}
	os.Exit(code)
}

// fleet is a state in a database. No process of it counts as dead, however slow the machine is, until Kill.
type fleet struct {
	url  string
	way  string // the URL that processes use
	dead map[*pgstate.Store]bool
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	if server == nil {
		t.Skip("Postgres is not installed")
	}
	url := server.Database(t)
	return &fleet{url: url, way: url, dead: map[*pgstate.Store]bool{}}
}

func (f *fleet) open(t *testing.T, url string) *pgstate.Store {
	t.Helper()
	s, err := pgstate.Open(t.Context(), url, pgstate.Config{MaxJobsPerTenant: 50, DeadAfter: time.Hour,
		Settle: time.Nanosecond, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if f.dead[s] {
			return
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (f *fleet) Process(t *testing.T) statetest.Store { return f.open(t, f.way) }

func (f *fleet) Kill(t *testing.T, s statetest.Store) {
	t.Helper()
	store := s.(*pgstate.Store)
	f.dead[store] = true
	server.Exec(t, f.url, "UPDATE airlock.processes SET seen = seen - interval '2 hours' WHERE id = $1", store.Die())
}

// mortal returns a process whose connection can be cut.
func (f *fleet) mortal(t *testing.T) (jobs.Store, func(lost bool) (mend func())) {
	m := way(t, f.url)
	return f.open(t, m.url), func(lost bool) func() {
		m.after(0, lost, true)
		return func() {}
	}
}

// empty removes what earlier processes left, and the processes that still live stay.
func (f *fleet) empty(t *testing.T) {
	t.Helper()
	server.Exec(t, f.url, `TRUNCATE airlock.functions, airlock.versions, airlock.jobs, airlock.gone, airlock.deliveries,
		airlock.events, airlock.usage`)
}

func (*fleet) Now() time.Time { return time.Now() }

// A process stops or loses its connection at each step while executions wait.
func TestWaitingFaults(t *testing.T) {
	t.Parallel()
	jobstest.TestWaitingFaults(t, func(t *testing.T) jobstest.State {
		f := newFleet(t)
		return jobstest.State{Now: f.Now, Mortal: f.mortal,
			Process: func(t *testing.T) jobs.Store { return f.Process(t) },
			Kill:    func(t *testing.T, s jobs.Store) { f.Kill(t, s.(statetest.Store)) }}
	})
}

func TestConformance(t *testing.T) {
	t.Parallel()
	statetest.Test(t, func(t *testing.T) statetest.State { return newFleet(t) })
	statetest.TestPaused(t, func(t *testing.T) statetest.State { return newFleet(t) })
}

// A lost content stops its own execution only.
func TestLostRequest(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	statetest.TestLost(t, f, func(t *testing.T) {
		server.Exec(t, f.url, `UPDATE airlock.jobs SET request = substr(request, 1, 1000) WHERE octet_length(request) > 1000`)
	})
}

// Lost values of an execution that waits stop this execution only.
func TestLostValues(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	statetest.TestLostValues(t, f, func(t *testing.T) {
		server.Exec(t, f.url, `UPDATE airlock.jobs SET aside = substr(aside, 1, 1000) WHERE aside IS NOT NULL`)
	})
}

// A session cannot grow beyond the quota of its tenant.
func TestSessionGrowth(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	const most = 1 << 20
	s, err := pgstate.Open(t.Context(), f.url, pgstate.Config{DeadAfter: time.Hour, Timeout: time.Minute,
		Storage: func(string) execution.Storage { return execution.Storage{Jobs: most}.OrDefault() }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	statetest.SessionGrowth(t, s, time.Now(), most)
}

// Each kind of growth ends at its quota, over two processes, and leaves another tenant alone.
func TestQuotas(t *testing.T) {
	t.Parallel()
	statetest.Quotas(t, func(t *testing.T) ([2]statetest.QuotaStore, func(tenant, quota string) int64) {
		f := newFleet(t)
		var processes [2]statetest.QuotaStore
		for i := range processes {
			s, err := pgstate.Open(t.Context(), f.url, pgstate.Config{DeadAfter: time.Hour, Timeout: time.Minute,
				Storage: statetest.SmallQuotas})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			processes[i] = s
		}
		return processes, nil
	}, execution.QuotaFunctions, execution.QuotaSchedules, execution.QuotaJobs, execution.QuotaKeys,
		execution.QuotaDeliveries)
}

func TestResultsMakeRoom(t *testing.T) {
	t.Parallel()
	s, err := pgstate.Open(t.Context(), newFleet(t).url, pgstate.Config{DeadAfter: time.Hour, Timeout: time.Minute,
		Storage: statetest.SmallQuotas})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	statetest.ResultsMakeRoom(t, s, func() (bytes int64) {
		stats, err := s.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range stats.Usage {
			if u.Tenant == "t" && u.Quota == execution.QuotaResults {
				bytes += u.Bytes
			}
		}
		return bytes
	})
}

// Each transaction of a process may have another session, as behind a PgBouncer that pools by transaction.
func TestConformanceThroughPgBouncer(t *testing.T) {
	t.Parallel()
	if server == nil {
		t.Skip("Postgres is not installed")
	}
	through := server.Bouncer(t)
	statetest.Test(t, func(t *testing.T) statetest.State {
		f := newFleet(t)
		f.way = through(f.url)
		return f
	})
}
