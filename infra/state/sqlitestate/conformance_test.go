package sqlitestate_test

import (
	"testing"
	"time"

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

func (folder) Now() time.Time { return time.Now() }

func TestConformance(t *testing.T) {
	t.Parallel()
	statetest.Test(t, func(t *testing.T) statetest.State { return folder{t.TempDir(), map[statetest.Store]bool{}} })
	statetest.TestPaused(t, func(t *testing.T) statetest.State { return folder{t.TempDir(), map[statetest.Store]bool{}} })
}
