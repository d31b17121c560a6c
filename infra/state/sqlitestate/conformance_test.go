package sqlitestate_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/jobs/jobstest"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
	"github.com/airlock-run/airlock/infra/state/statetest"
)

// folder is a state on the disk.
type folder struct {
	dir  string
	dead map[statetest.Store]bool
}

func (f folder) Process(t *testing.T) statetest.Store {
	s, err := sqlitestate.Open(f.dir, sqlitestate.Config{MaxJobsPerTenant: 50})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !f.dead[s] {
			shut(t, s)
		}
	})
	return s
}

func (f folder) Kill(t *testing.T, s statetest.Store) {
	shut(t, s.(*sqlitestate.Store))
	f.dead[s] = true
}

// mortal returns a process. To cut its connection, another process locks the database for longer than a change waits.
func (f folder) mortal(t *testing.T) (jobs.Store, func(lost bool) (mend func())) {
	s := f.Process(t)
	other, err := sql.Open("sqlite", "file:"+filepath.Join(f.dir, "state.db")+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, func(lost bool) func() {
		if lost {
			return nil // nothing is between a process and its database
		}
		lock, err := other.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := lock.Rollback(); err != nil {
				t.Error(err)
			}
		}
	}
}

func (folder) Now() time.Time { return time.Now() }

// A process stops or loses its connection at each step while executions wait.
func TestWaitingFaults(t *testing.T) {
	t.Parallel()
	jobstest.TestWaitingFaults(t, func(t *testing.T) jobstest.State {
		f := folder{t.TempDir(), map[statetest.Store]bool{}}
		return jobstest.State{Now: f.Now, Mortal: f.mortal,
			Process: func(t *testing.T) jobs.Store { return f.Process(t) },
			Kill:    func(t *testing.T, s jobs.Store) { f.Kill(t, s.(statetest.Store)) }}
	})
}

func TestConformance(t *testing.T) {
	t.Parallel()
	statetest.Test(t, func(t *testing.T) statetest.State { return folder{t.TempDir(), map[statetest.Store]bool{}} })
	statetest.TestPaused(t, func(t *testing.T) statetest.State { return folder{t.TempDir(), map[statetest.Store]bool{}} })
}
