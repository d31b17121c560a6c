package sqlitestate_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
)

// ended stores a job with a callback and ends it with a result of a size.
func ended(t *testing.T, s *sqlitestate.Store, id string, size int, now time.Time) json.RawMessage {
	t.Helper()
	result := json.RawMessage(`"` + strings.Repeat("x", size) + `"`)
	job := execution.Job{ID: id, Tenant: "t", Status: execution.Queued,
		Callback: &execution.Callback{URL: "http://x", State: execution.CallbackWaiting}}
	if err := s.Submit(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	_, err := s.ChangeJob(t.Context(), id, func(j *execution.Job) error {
		j.Status, j.EndedAt, j.Result = execution.Completed, now, result
		j.Callback.State, j.Callback.Next = execution.CallbackPending, now
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// The changes of a job after its end do not write its result again.
func TestResultIsWrittenOnce(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	s := open(t, dir)
	defer shut(t, s)
	result := ended(t, s, "exec_0000000001", 2*mb, now)
	log := func() int64 {
		info, err := os.Stat(filepath.Join(dir, "state.db-wal"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	due, err := s.Callbacks(t.Context(), now, now.Add(time.Minute), 8)
	if err != nil || len(due) != 1 || !bytes.Equal(due[0].Result, result) {
		t.Fatalf("%d callbacks, %v", len(due), err)
	}
	job, err := s.ChangeJob(t.Context(), "exec_0000000001", func(j *execution.Job) error {
		j.Callback.State, j.Callback.Attempts = execution.CallbackDelivered, 1
		return nil
	})
	if err != nil || !bytes.Equal(job.Result, result) {
		t.Fatalf("the changed job has %d bytes of its result, %v", len(job.Result), err)
	}
	if written := log(); written == 0 || written > 256<<10 {
		t.Errorf("%d bytes were written, want some and far less than the result's %d", written, len(result))
	}
}

// A result is deleted with its job, and counts until then.
func TestResultGoesWithItsJob(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	s := open(t, dir)
	defer shut(t, s)
	ended(t, s, "exec_0000000001", mb, now.Add(-time.Hour))
	if got := used(t, s, "t", execution.QuotaResults); got < mb || got > mb+8<<10 {
		t.Errorf("the result counts as %d bytes", got)
	}
	_, err := s.ChangeJob(t.Context(), "exec_0000000001", func(j *execution.Job) error {
		j.Callback = nil
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Prune(t.Context(), now, now); err != nil {
		t.Fatal(err)
	}
	if got := used(t, s, "t", execution.QuotaResults); got != 0 {
		t.Errorf("%d bytes count without a job", got)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var rows int
	if err := db.QueryRow("SELECT count(*) FROM results").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d results without a job, %v", rows, err)
	}
}

// A result that an older version wrote into the row of its job is read, counts, and stays until it is replaced.
func TestResultOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	s := open(t, dir)
	defer shut(t, s)
	ended(t, s, "exec_0000000001", 10, now)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	old := `"` + strings.Repeat("o", mb) + `"`
	if _, err := db.Exec("DELETE FROM results"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE jobs SET result = ?, result_bytes = 0", []byte(old)); err != nil {
		t.Fatal(err)
	}
	if got := used(t, s, "t", execution.QuotaResults); got < mb {
		t.Errorf("it counts as %d bytes", got)
	}
	for _, result := range []string{old, `"new"`} {
		job, err := s.ChangeJob(t.Context(), "exec_0000000001", func(j *execution.Job) error {
			if string(j.Result) != old {
				t.Errorf("the job has %d bytes of the result", len(j.Result))
			}
			j.Result = json.RawMessage(result)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if job, err = s.Job(t.Context(), job.ID); err != nil || string(job.Result) != result {
			t.Errorf("read %.20q, %v; want %.20q", job.Result, err, result)
		}
	}
	if got := used(t, s, "t", execution.QuotaResults); got > 8<<10 {
		t.Errorf("%d bytes count after the result was replaced", got)
	}
}

// A change of a paused job does not write its snapshot again. The snapshot counts until it is replaced, and is deleted
// when the job ends or is deleted.
func TestSnapshotIsWrittenOnce(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	s := open(t, dir)
	defer shut(t, s)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	first, second := bytes.Repeat([]byte("1"), 2*mb), bytes.Repeat([]byte("2"), mb)
	session := execution.Job{ID: "sess_0000000001", Tenant: "t", Status: execution.Paused, Waits: execution.Waits{
		Snapshot: first, Wait: &execution.Wait{DueAt: now.Add(time.Hour), Session: &execution.Session{}},
	}}
	if err := s.Submit(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	change := func(fn func(*execution.Job)) (written int64) {
		t.Helper()
		if _, err := db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.ChangeJob(t.Context(), session.ID, func(j *execution.Job) error { fn(j); return nil }); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, "state.db-wal"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	is := func(want []byte) {
		t.Helper()
		job, err := s.Job(t.Context(), session.ID)
		if err != nil || !bytes.Equal(job.Snapshot, want) {
			t.Errorf("the snapshot has %d bytes, %v; want %d", len(job.Snapshot), err, len(want))
		}
		kept := int64(len(want))
		if got := used(t, s, "t", execution.QuotaJobs); got < kept || got > kept+8<<10 {
			t.Errorf("the job counts as %d bytes, want a little more than %d", got, kept)
		}
	}
	is(first)
	if written := change(func(j *execution.Job) { j.Wait.Session.Running = "exec_1" }); written == 0 || written > 256<<10 {
		t.Errorf("%d bytes were written, want some and far less than the snapshot's %d", written, len(first))
	}
	is(first)
	change(func(j *execution.Job) { j.Snapshot = second })
	is(second)
	// As an older version stored it.
	if _, err := db.Exec("DELETE FROM snapshots"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE jobs SET snapshot = ?, snapshot_bytes = 0", first); err != nil {
		t.Fatal(err)
	}
	is(first)
	change(func(j *execution.Job) { j.Wait.Session.Running = "exec_2" })
	is(first)
	change(func(j *execution.Job) { j.Snapshot = second })
	is(second)
	change(func(j *execution.Job) { j.Status, j.EndedAt = execution.Completed, now })
	var rows int
	if err := db.QueryRow("SELECT count(*) FROM snapshots").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d snapshots of a job that has ended, %v", rows, err)
	}
	session.ID = "sess_0000000002"
	if err := s.Submit(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("DELETE FROM jobs WHERE id = ?", session.ID); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow("SELECT count(*) FROM snapshots").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d snapshots of a job that was deleted, %v", rows, err)
	}
}
