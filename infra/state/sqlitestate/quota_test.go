package sqlitestate_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
	"github.com/airlock-run/airlock/infra/state/statetest"
)

const mb = 1 << 20

// A session cannot grow beyond the quota of its tenant.
func TestSessionGrowth(t *testing.T) {
	t.Parallel()
	s, err := sqlitestate.Open(t.TempDir(), sqlitestate.Config{Storage: statetest.SmallQuotas})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	statetest.SessionGrowth(t, s, time.Now(), mb)
}

func limited(t *testing.T, dir string) *sqlitestate.Store {
	t.Helper()
	s, err := sqlitestate.Open(dir, sqlitestate.Config{Storage: statetest.SmallQuotas})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, s) })
	return s
}

// used returns what a tenant has of a quota.
func used(t *testing.T, s *sqlitestate.Store, tenant, quota string) (bytes int64) {
	t.Helper()
	stats, err := s.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range stats.Usage {
		if u.Tenant == tenant && u.Quota == quota {
			bytes += u.Bytes
		}
	}
	return bytes
}

// Each kind of growth ends at its quota, over two processes that share the file, and leaves another tenant alone.
func TestQuotas(t *testing.T) {
	t.Parallel()
	statetest.Quotas(t, func(t *testing.T) ([2]statetest.QuotaStore, func(tenant, quota string) int64) {
		dir := t.TempDir()
		one, two := limited(t, dir), limited(t, dir)
		return [2]statetest.QuotaStore{one, two}, func(tenant, quota string) int64 { return used(t, one, tenant, quota) }
	}, execution.QuotaFunctions, execution.QuotaSchedules, execution.QuotaJobs, execution.QuotaKeys,
		execution.QuotaDeliveries)
}

// One subject that uses up its tenant's quota leaves a little for the others.
func TestSubjectsShare(t *testing.T) {
	t.Parallel()
	s, err := sqlitestate.Open(t.TempDir(), sqlitestate.Config{MaxJobsPerTenant: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, s)
	n := 0
	submit := func(subject string) error {
		n++
		return s.Submit(t.Context(), execution.Job{ID: fmt.Sprintf("exec_%010d", n), Tenant: "t", Subject: subject,
			Status: execution.Queued})
	}
	for range 90 {
		if err := submit("greedy"); err != nil {
			t.Fatalf("after %d: %v", n, err)
		}
	}
	if err := submit("greedy"); !errors.Is(err, execution.ErrFull) {
		t.Errorf("the last tenth: %v", err)
	}
	if err := submit("modest"); err != nil {
		t.Errorf("somebody else: %v", err)
	}
}

// The oldest results of a tenant are deleted for newer ones, except those whose receivers have not been called. If only
// those are left, further results are refused.
func TestResultsMakeRoom(t *testing.T) {
	t.Parallel()
	s := limited(t, t.TempDir())
	statetest.ResultsMakeRoom(t, s, func() int64 { return used(t, s, "t", execution.QuotaResults) })
}

// The usage of a tenant is the sum of its rows after any sequence of changes.
func TestUsageAddsUp(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	s := limited(t, dir)
	for n := range 4 {
		if err := s.Change(t.Context(), "t", fmt.Sprint("f", n%2), add("code")); err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("exec_%010d", n)
		if err := s.Submit(t.Context(), execution.Job{ID: id, Tenant: "t", Subject: "s",
			Status: execution.Queued}); err != nil {
			t.Fatal(err)
		}
		if err := s.KeepEvent(t.Context(), "t", "f0", id, []byte("event"), now); err != nil {
			t.Fatal(err)
		}
		key := execution.Key{Quota: execution.QuotaKeys, Tenant: "t", Subject: "s", Name: id}
		if _, _, _, err := s.Begin(t.Context(), key, "m", now, now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if n > 1 {
			if err := errors.Join(s.Finish(t.Context(), id, []byte("answer"))); err != nil {
				t.Fatal(err)
			}
			if _, err := s.ChangeJob(t.Context(), id, func(j *execution.Job) error {
				j.Status, j.EndedAt, j.Result = execution.Completed, now, []byte(`"r"`)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if used(t, s, "t", execution.QuotaFunctions) == 0 || used(t, s, "t", execution.QuotaJobs) == 0 ||
		used(t, s, "t", execution.QuotaKeys) == 0 {
		t.Error("nothing is counted")
	}
	for n := range 4 {
		if err := s.Abandon(t.Context(), fmt.Sprintf("exec_%010d", n)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.ChangeJob(t.Context(), fmt.Sprintf("exec_%010d", n),
			func(j *execution.Job) error { j.Status, j.EndedAt = execution.Cancelled, now; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"f0", "f1"} {
		if err := s.Delete(t.Context(), "t", name); err != nil {
			t.Fatal(err)
		}
	}
	later := now.Add(2 * time.Hour)
	if err := s.Prune(t.Context(), later, later.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	stats, err := s.Stats(t.Context())
	if err != nil || len(stats.Usage) != 0 {
		t.Errorf("all is gone, and %+v is counted, %v", stats.Usage, err)
	}
}

// Deletion returns space to the disk.
func TestDeletionFrees(t *testing.T) {
	t.Parallel()
	for _, old := range []bool{false, true} {
		t.Run(fmt.Sprint("made by an older version ", old), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if old {
				madeBefore(t, dir)
			}
			s := open(t, dir)
			defer shut(t, s)
			size := func() int64 {
				f, err := s.Stats(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return f.FileBytes
			}
			for n := range 40 {
				if err := s.Change(t.Context(), "t", "f", add(strings.Repeat(fmt.Sprint(n), 200<<10))); err != nil {
					t.Fatal(err)
				}
			}
			before := size()
			if err := s.Delete(t.Context(), "t", "f"); err != nil {
				t.Fatal(err)
			}
			if after := size(); before < 8*mb || after > mb {
				t.Errorf("%d bytes, and %d after", before, after)
			}
		})
	}
}

// madeBefore makes a file of a version that neither counted usage nor returned space.
func madeBefore(t *testing.T, dir string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "state.db")+"?_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("testdata", "step2.sql"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(text)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// Data of an older version is kept, and counts.
func TestOlderFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	madeBefore(t, dir)
	s := open(t, dir)
	defer shut(t, s)
	f, err := s.Function(t.Context(), "t", "old")
	if err != nil || f.Name != "old" {
		t.Errorf("%+v, %v", f, err)
	}
	for _, kind := range []string{execution.QuotaFunctions, execution.QuotaJobs} {
		if n := used(t, s, "t", kind); n < 500 {
			t.Errorf("%s take %d bytes, want at least 500", kind, n)
		}
	}
	if job, err := s.Claim(t.Context(), time.Now(), "", nil); err != nil || job.ID != "exec_0000000001" {
		t.Errorf("%+v, %v", job, err)
	}
}

// A tenant with thousands of due functions or callbacks does not delay the single one of another tenant.
func TestDueIsFair(t *testing.T) {
	t.Parallel()
	s, err := sqlitestate.Open(t.TempDir(),
		sqlitestate.Config{Storage: func(string) execution.Storage { return execution.Storage{Schedules: 5000} }})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, s)
	now := time.Now()
	for n := range 300 {
		tenant := "many"
		if n == 299 {
			tenant = "one"
		}
		if err := s.Change(t.Context(), tenant, fmt.Sprint("f", n),
			func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
				f.Schedule = &execution.FunctionSchedule{Next: now.Add(time.Duration(n-300) * time.Minute)}
				return nil, nil // no content
			}); err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("exec_%010d", n)
		if err := s.Submit(t.Context(), execution.Job{ID: id, Tenant: tenant, Status: execution.Queued,
			Callback: &execution.Callback{URL: "http://x"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.ChangeJob(t.Context(), id, func(j *execution.Job) error {
			j.Status, j.EndedAt, j.Callback.State, j.Callback.Next = execution.Completed, now, execution.CallbackPending,
				now.Add(time.Duration(n-300)*time.Second)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	due, err := s.Due(t.Context(), now, 10)
	if err != nil || len(due) > 10 || !strings.Contains(fmt.Sprint(tenants(due)), "one") {
		t.Errorf("%v, %v", tenants(due), err)
	}
	calls, err := s.Callbacks(t.Context(), now, now.Add(time.Minute), 8)
	found := false
	for _, job := range calls {
		found = found || job.Tenant == "one"
	}
	if err != nil || !found || len(calls) > 8 {
		t.Errorf("%d callbacks, that of the other among them: %t, %v", len(calls), found, err)
	}
}

func tenants(list []execution.SavedFunction) (names []string) {
	for _, f := range list {
		names = append(names, f.Tenant)
	}
	return names
}
