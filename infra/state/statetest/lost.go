package statetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// TestLost checks what becomes of an execution whose large request is lost: others are claimed and are taken over from
// a process that died, and it can end. lose deletes all large contents of a state.
func TestLost(t *testing.T, state State, lose func(t *testing.T)) {
	t.Helper()
	dying, living := state.Process(t), state.Process(t)
	large := execution.Request{Code: strings.Repeat("x", 2<<20)}
	submit(t, dying, execution.Job{ID: id(1), Tenant: "t", Request: large})
	submit(t, dying, execution.Job{ID: id(2), Tenant: "t"})
	submit(t, dying, execution.Job{ID: id(3), Tenant: "u"})
	lose(t)
	var claimed []string
	for range 3 {
		jobs, err := dying.ClaimSome(t.Context(), state.Now(), "", nil, 2)
		for _, job := range jobs {
			claimed = append(claimed, job.ID)
		}
		if err == nil && len(jobs) == 0 {
			t.Error("nothing is claimed, without an error")
		}
	}
	if slices.Sort(claimed); !slices.Equal(claimed, []string{id(2), id(3)}) {
		t.Errorf("claimed %v", claimed)
	}
	if _, err := living.Job(t.Context(), id(1)); !errors.Is(err, execution.ErrContentLost) {
		t.Errorf("read: %v", err)
	}
	state.Kill(t, dying)
	found, _ := living.Orphans(t.Context()) // the error may be that of the lost one
	var orphans []string
	for _, job := range found {
		orphans = append(orphans, job.ID)
	}
	if slices.Sort(orphans); !slices.Equal(orphans, claimed) {
		t.Errorf("orphans %v", orphans)
	}
	if _, err := living.JobState(t.Context(), id(1)); err != nil {
		t.Errorf("state: %v", err)
	}
	ended, err := living.ChangeJobState(t.Context(), id(1), end(state.Now()))
	if err != nil || !ended.Ended() {
		t.Errorf("ended: %v", err)
	}
	if status, err := living.JobStatus(t.Context(), id(1)); err != nil || status != ended.Status {
		t.Errorf("%s, %v", status, err)
	}
}

// TestLostValues checks what becomes of an execution that waits and whose long values are lost: it is shown and can
// end, and nothing else; another goes on. lose deletes all large contents of a state.
func TestLostValues(t *testing.T, state State, lose func(t *testing.T)) {
	t.Helper()
	s, now := state.Process(t), state.Now()
	value := json.RawMessage(`"` + strings.Repeat("x", 2<<20) + `"`)
	hurt, well := pausedJob(1, "t", "s", now), pausedJob(2, "t", "s", now)
	hurt.Wait.Pending[0].Args = value
	store(t, s, hurt)
	store(t, s, well)
	lose(t)
	for range 2 { // reading changes nothing
		due, err := s.DueWaits(t.Context(), now.Add(time.Minute), 10)
		if err != nil || !slices.Contains(ids(due), well.ID) {
			t.Errorf("due: %v, %v", ids(due), err)
		}
		paused, err := s.Paused(t.Context(), "t", "", "", 10)
		if err != nil || !slices.Equal(ids(paused), []string{hurt.ID, well.ID}) {
			t.Errorf("paused: %v, %v", ids(paused), err)
		}
	}
	if job, err := s.JobState(t.Context(), hurt.ID); err != nil || !job.Wait.Lost || job.Status != execution.Paused {
		t.Errorf("state: %v, %+v", err, job.Wait)
	}
	if _, err := s.Job(t.Context(), hurt.ID); !errors.Is(err, execution.ErrContentLost) {
		t.Errorf("read: %v", err)
	}
	resume := func(j *execution.Job) error {
		j.Status = execution.Queued
		return nil
	}
	if _, err := s.ChangeJobState(t.Context(), hurt.ID, resume); !errors.Is(err, execution.ErrContentLost) {
		t.Errorf("resumed: %v", err)
	}
	if _, err := s.ChangeJobState(t.Context(), well.ID, resume); err != nil {
		t.Errorf("another is resumed: %v", err)
	}
	for _, fn := range []func(*execution.Job) error{
		func(j *execution.Job) error {
			j.Wait.Ending = &execution.Ending{Status: execution.Cancelled, At: now}
			return nil
		},
		end(now),
	} {
		if _, err := s.ChangeJobState(t.Context(), hurt.ID, fn); err != nil {
			t.Errorf("end: %v", err)
		}
	}
	if job, err := s.JobState(t.Context(), hurt.ID); err != nil || !job.Ended() {
		t.Errorf("after its end: %s, %v", job.Status, err)
	}
}

// TestLostSnapshot checks what becomes of an execution that waits and whose snapshot is lost: it is shown, it cannot go
// on, and it can end; another goes on. lose deletes all large contents of a state.
func TestLostSnapshot(t *testing.T, state State, lose func(t *testing.T)) {
	t.Helper()
	s, now := state.Process(t), state.Now()
	hurt, well := pausedJob(1, "t", "s", now), pausedJob(2, "t", "s", now)
	hurt.Snapshot = bytes.Repeat([]byte("snapshot"), 128<<10)
	store(t, s, hurt)
	store(t, s, well)
	lose(t)
	if job, err := s.JobState(t.Context(), hurt.ID); err != nil || job.Status != execution.Paused {
		t.Errorf("state: %s, %v", job.Status, err)
	}
	if paused, err := s.Paused(t.Context(), "t", "", "", 10); err != nil ||
		!slices.Equal(ids(paused), []string{hurt.ID, well.ID}) {
		t.Errorf("paused: %v, %v", ids(paused), err)
	}
	for _, id := range []string{hurt.ID, well.ID} {
		_, err := s.ChangeJobState(t.Context(), id, func(j *execution.Job) error {
			j.Status = execution.Queued
			return nil
		})
		if err != nil {
			t.Errorf("resume: %v", err)
		}
	}
	var claimed []string
	for range 3 {
		jobs, _ := s.ClaimSome(t.Context(), state.Now(), "", nil, 2) // the error may be that of the lost one
		claimed = append(claimed, ids(jobs)...)
	}
	if !slices.Equal(claimed, []string{well.ID}) {
		t.Errorf("claimed %v", claimed)
	}
	if _, err := s.ChangeJobState(t.Context(), hurt.ID, end(now)); err != nil {
		t.Errorf("end: %v", err)
	}
	if status, err := s.JobStatus(t.Context(), hurt.ID); err != nil || status != execution.Completed {
		t.Errorf("after its end: %s, %v", status, err)
	}
}
