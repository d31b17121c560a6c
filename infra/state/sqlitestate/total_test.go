package sqlitestate_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
)

// Many tenants, each within its quota, cannot fill the disk, because there is a common limit. Beyond it the store
// refuses changes with StoreFull and still reads and deletes. Deletion frees space.
func TestTotal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const most = 8 << 20
	s, err := sqlitestate.Open(dir, sqlitestate.Config{MaxBytes: most})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, s) })
	save := func(tenant int) error {
		return s.Submit(t.Context(), execution.Job{
			ID: fmt.Sprintf("exec_%010d", tenant), Tenant: fmt.Sprint("tenant", tenant),
			Request: execution.Request{Code: strings.Repeat("x", 200<<10)},
		})
	}
	tenants := 0
	for err = nil; err == nil && tenants < 100; tenants++ {
		err = save(tenants)
	}
	var fault *execution.StoreError
	if !errors.As(err, &fault) || fault.Fault != execution.StoreFull {
		t.Fatalf("after %d tenants: %v", tenants, err)
	}
	info, err := os.Stat(filepath.Join(dir, "state.db"))
	if err != nil || info.Size() > most || tenants < 20 {
		t.Errorf("%d bytes, %d tenants, %v", info.Size(), tenants, err)
	}
	if _, err := s.Job(t.Context(), "exec_0000000000"); err != nil {
		t.Error(err)
	}
	for n := range 5 {
		job, err := s.ChangeJob(t.Context(), fmt.Sprintf("exec_%010d", n), func(j *execution.Job) error {
			j.Status, j.EndedAt = execution.Cancelled, time.Now().UTC()
			return nil
		})
		if err != nil {
			t.Fatalf("%s: %v", job.ID, err)
		}
	}
	if err := s.Prune(t.Context(), time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := save(1000); err != nil {
		t.Errorf("after there was room again: %v", err)
	}
}
