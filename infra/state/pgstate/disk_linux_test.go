package pgstate_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/pgstate"
	"github.com/airlock-run/airlock/infra/state/pgstate/pgtest"
	"github.com/airlock-run/airlock/infra/state/statetest"
)

// When the disk of the database is full, changes fail with a named error. What was acknowledged stays, can be read and
// ends, and changes succeed again when there is space.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root may mount a file system that the server can use")
	}
	disk := statetest.NewDisk(t, 48<<20)
	if disk == nil {
		return
	}
	space := filepath.Join(disk.Dir, "space")
	if err := os.Mkdir(space, 0o777); err != nil {
		t.Fatal(err)
	}
	for dir := space; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	server := pgtest.New(t) // of its own, because its disk fills up
	info, err := os.Stat(server.Dir)
	if err != nil {
		t.Fatal(err)
	}
	owner := info.Sys().(*syscall.Stat_t)
	if err := os.Chown(space, int(owner.Uid), int(owner.Gid)); err != nil {
		t.Fatal(err)
	}
	url := server.Database(t)
	name := fmt.Sprintf("space_%d", os.Getpid())
	database, _, _ := strings.Cut(strings.TrimPrefix(url, "postgres://postgres@/"), "?")
	postgres := strings.Replace(url, "/"+database+"?", "/postgres?", 1)
	server.Exec(t, postgres, "CREATE TABLESPACE "+name+" LOCATION '"+space+"'")
	server.Exec(t, postgres, "ALTER DATABASE "+database+" SET TABLESPACE "+name)
	s, err := pgstate.Open(t.Context(), url, pgstate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	submit := func(n int) error {
		return s.Submit(t.Context(), execution.Job{ID: fmt.Sprintf("exec_%010d", n), Tenant: "t", Status: execution.Queued,
			Request: execution.Request{Code: strings.Repeat(fmt.Sprintf("%016d", n), 64)}})
	}
	var acknowledged int
	for ; acknowledged < 3; acknowledged++ {
		if err := submit(acknowledged); err != nil {
			t.Fatal(err)
		}
	}
	disk.Fill()
	var full *execution.StoreError
	for err = nil; err == nil && acknowledged < 100_000; acknowledged++ { // the existing pages have some free space
		err = submit(acknowledged)
	}
	acknowledged-- // the last was refused
	if !errors.As(err, &full) || full.Fault != execution.StoreFull {
		t.Fatalf("after %d jobs: %v", acknowledged, err)
	}
	if _, err := s.Job(t.Context(), fmt.Sprintf("exec_%010d", acknowledged)); !errors.Is(err, execution.ErrNotFound) {
		t.Errorf("the refused job: %v", err)
	}
	disk.Free()
	for n := range acknowledged {
		job, err := s.Job(t.Context(), fmt.Sprintf("exec_%010d", n))
		if err != nil || job.Status != execution.Queued || !strings.HasPrefix(job.Request.Code, fmt.Sprintf("%016d", n)) {
			t.Fatalf("job %d: %s, %v", n, job.Status, err)
		}
	}
	if err := submit(acknowledged); err != nil {
		t.Errorf("with space again: %v", err)
	}
}
