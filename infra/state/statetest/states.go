package statetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
)

// state returns a job without its request and its snapshot.
func state(t *testing.T, s Store, id string) execution.Job {
	t.Helper()
	job, err := s.JobState(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if status, err := s.JobStatus(t.Context(), id); err != nil || status != job.Status {
		t.Errorf("the status of job %s is %q, %v; want %q", id, status, err, job.Status)
	}
	return job
}

// whole returns a job with everything.
func whole(t *testing.T, s Store, id string) execution.Job {
	t.Helper()
	job, err := s.Job(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// changeState changes a job that is read without its request and its snapshot.
func changeState(t *testing.T, s Store, id string, fn func(*execution.Job) error) execution.Job {
	t.Helper()
	job, err := s.ChangeJobState(t.Context(), id, fn)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// longRequest returns a request of 8 MiB with files of text and of bytes.
func longRequest() execution.Request {
	files := map[string]execution.File{"a.js": execution.File("1"), "empty": {}}
	for _, name := range []string{"b.js", "bytes"} {
		files[name] = bytes.Repeat([]byte(name+"\xc3\xa9\n\""), 4<<20/10)
	}
	files["bytes"][0] = 0xff
	return execution.Request{Code: "1", Priority: "high", Input: []byte(`{"a":[1]}`), Files: files}
}

// states checks that reads and changes of the state of a job leave its request as it is, and its place in the queue.
func states(t *testing.T, s State) {
	p := s.Process(t)
	for n, request := range map[int]execution.Request{
		1: {Code: "1", Priority: "high"}, 2: {Code: strings.Repeat("x", 100<<10), Priority: "high"}, 3: longRequest(),
	} {
		submit(t, p, execution.Job{ID: id(10 + n), Tenant: "a", Request: execution.Request{Code: "0"}})
		submit(t, p, execution.Job{ID: id(n), Tenant: "a", Request: request})
		job := state(t, p, id(n))
		if job.Status != execution.Queued || job.Tenant != "a" {
			t.Errorf("job %d is %s of %s", n, job.Status, job.Tenant)
		}
		job, err := p.Claim(t.Context(), s.Now(), "", nil)
		if err != nil || job.ID != id(n) {
			t.Fatalf("claimed %s, %v; want %s", job.ID, err, id(n))
		}
		changeState(t, p, id(n), func(j *execution.Job) error {
			j.Status, j.Owner, j.Attempts = execution.Queued, "", 1
			return nil
		})
		got := whole(t, p, id(n))
		if got.Attempts != 1 || string(encoded(t, got.Request)) != string(encoded(t, request)) {
			t.Errorf("job %d has %d attempts and another request", n, got.Attempts)
		}
		if job, err = p.Claim(t.Context(), s.Now(), "", nil); err != nil || job.ID != id(n) {
			t.Fatalf("claimed %s again, %v; want %s, whose priority is high", job.ID, err, id(n))
		}
		if string(encoded(t, job.Request)) != string(encoded(t, request)) {
			t.Errorf("job %d was claimed with another request", n)
		}
		changeState(t, p, id(n), end(s.Now()))
		if got = whole(t, p, id(n)); got.Status != execution.Completed || len(got.Request.Code)+len(got.Request.Files) > 0 {
			t.Errorf("job %d has ended as %s, with a request of %d files", n, got.Status, len(got.Request.Files))
		}
		if string(got.Result) != string(state(t, p, id(n)).Result) {
			t.Errorf("the state of job %d has another result", n)
		}
		if _, err := p.Take(t.Context(), s.Now(), id(10+n)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.JobState(t.Context(), id(99)); !errors.Is(err, execution.ErrNotFound) {
		t.Errorf("the state of no job: %v", err)
	}
	if _, err := p.JobStatus(t.Context(), id(99)); !errors.Is(err, execution.ErrNotFound) {
		t.Errorf("the status of no job: %v", err)
	}
	_, err := p.ChangeJobState(t.Context(), id(99), func(*execution.Job) error { return nil })
	if !errors.Is(err, execution.ErrNotFound) {
		t.Errorf("a change of no job: %v", err)
	}
}

func encoded(t *testing.T, r execution.Request) []byte {
	t.Helper()
	b, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// waitStates checks that a change of the state of a paused job leaves its snapshot as it is, unless it sets another.
func waitStates(t *testing.T, s State) {
	p := s.Process(t)
	for n, size := range []int{100, 100 << 10, 3 << 20} {
		job := pausedJob(n, "a", "ann", s.Now().Add(time.Hour))
		job.Snapshot = bytes.Repeat([]byte("s"), size)
		store(t, p, job)
		expect := func(what string, want []byte) {
			t.Helper()
			got := whole(t, p, job.ID)
			if !bytes.Equal(got.Snapshot, want) {
				t.Errorf("%s: the snapshot has %d bytes, want %d", what, len(got.Snapshot), len(want))
			}
			sizes := []int{got.SnapshotBytes, state(t, p, job.ID).SnapshotBytes}
			if diff := cmp.Diff([]int{len(want), len(want)}, sizes); diff != "" {
				t.Errorf("%s: %s", what, diff)
			}
		}
		expect("stored", job.Snapshot)
		later := s.Now().Add(2 * time.Hour).UTC()
		changed := changeState(t, p, job.ID, func(j *execution.Job) error {
			if len(j.Snapshot) > 0 {
				return errors.New("it was read with its snapshot")
			}
			j.Wait = j.Wait.Clone()
			j.Wait.DueAt = later
			return nil
		})
		if changed.SnapshotBytes != size || !whole(t, p, job.ID).Wait.DueAt.Equal(later) {
			t.Errorf("changed to %+v", changed.Wait)
		}
		expect("after another change", job.Snapshot)
		other := bytes.Repeat([]byte("t"), size/2)
		changeState(t, p, job.ID, func(j *execution.Job) error { j.Snapshot = other; return nil })
		expect("after it was replaced", other)
		change(t, p, job.ID, func(j *execution.Job) error { j.Snapshot = nil; return nil })
		expect("after it was removed", nil)
		change(t, p, job.ID, func(j *execution.Job) error { j.Snapshot = other; return nil })
		expect("after it was set again", other)
		changeState(t, p, job.ID, end(s.Now()))
		expect("after the end", nil)
	}
}

// waitAsides checks that long values that a paused job waits for, and that answer it, are read as they were stored,
// with the job and in lists, whatever changes beside them, and that they are gone when the job has ended.
func waitAsides(t *testing.T, s State) {
	p := s.Process(t)
	value := func(letter string, size int) json.RawMessage {
		return json.RawMessage(`"` + strings.Repeat(letter, size) + `"`)
	}
	for n, size := range []int{4 * execution.LongValue, 100 << 10, 1 << 20} {
		job := pausedJob(n, "asides", "ann", s.Now().Add(time.Hour))
		job.Wait.Pending = []execution.Pending{
			{Waiting: execution.Waiting{Seq: 1, Kind: execution.WaitApproval, Tool: "pay", Args: value("a", size)}},
			{Waiting: execution.Waiting{Seq: 2, Kind: execution.WaitApproval, Schema: value("s", size/4)}},
		}
		store(t, p, job)
		expect := func(what string) {
			t.Helper()
			listed, err := p.Paused(t.Context(), "asides", "ann", "", 10)
			if err != nil || len(listed) != 1 {
				t.Fatalf("%s: %d jobs are listed, %v", what, len(listed), err)
			}
			for where, got := range map[string]execution.Job{
				"whole": whole(t, p, job.ID), "state": state(t, p, job.ID), "list": listed[0]} {
				if !reflect.DeepEqual(job.Wait.Pending, got.Wait.Pending) {
					t.Fatalf("%s, %s: the job waits for something else", what, where)
				}
			}
		}
		expect("stored")
		set := func(pending ...execution.Pending) {
			changeState(t, p, job.ID, func(j *execution.Job) error {
				j.Wait = j.Wait.Clone()
				j.Wait.Pending = pending
				return nil
			})
			job.Wait.Pending = pending
		}
		first, second := job.Wait.Pending[0], job.Wait.Pending[1]
		first.Answer = &execution.Answer{Seq: 1, Call: true, Args: value("b", size)}
		set(first, second)
		expect("with an answer")
		second.Answer = &execution.Answer{Seq: 2, Value: value("c", size/2)}
		set(first, second)
		expect("with two answers")
		changeState(t, p, job.ID, func(j *execution.Job) error { j.Attempts++; return nil })
		expect("after another change")
		set(second)
		expect("after one operation")
		set(execution.Pending{Waiting: execution.Waiting{Seq: 3, Kind: execution.WaitSleep}})
		expect("without long values")
		set(second)
		changeState(t, p, job.ID, end(s.Now()))
		if got := whole(t, p, job.ID).Wait.Pending; len(got) == 1 && len(got[0].Schema)+len(got[0].Answer.Value) > 0 {
			t.Error("an ended job keeps its long values")
		}
	}
}

// longSources checks that versions with long sources are read as they were saved.
func longSources(t *testing.T, s State) {
	p := s.Process(t)
	reader, ok := p.(interface {
		Content(ctx context.Context, tenant, name string, version int) (execution.FunctionContent, error)
	})
	if !ok {
		t.Fatal("the store has no contents")
	}
	for version, request := range []execution.Request{longRequest(), {Code: "1"}, longRequest()} {
		request.Policy = []string{"a", "b", "c"}[version]
		content := execution.FunctionContent{Request: request, Env: map[string]string{"A": "b"}, Scopes: []string{"run"}}
		if version > 0 {
			content.Sum = request.Sources().Sum()
		}
		err := p.Change(t.Context(), "a", "f", func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
			f.Versions = append(f.Versions, execution.FunctionVersion{Version: version + 1})
			return &content, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := reader.Content(t.Context(), "a", "f", version+1)
		if err != nil || string(encoded(t, got.Request)) != string(encoded(t, request)) {
			t.Errorf("version %d is another one, %v", version+1, err)
		}
		if diff := cmp.Diff([]any{content.Env, content.Scopes}, []any{got.Env, got.Scopes}); diff != "" {
			t.Error(diff)
		}
	}
	if err := p.Delete(t.Context(), "a", "f"); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Content(t.Context(), "a", "f", 1); !errors.Is(err, execution.ErrNotFound) {
		t.Errorf("a version of a deleted function: %v", err)
	}
}
