package statetest

import (
	"errors"
	"slices"
	"strings"
	"testing"

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
