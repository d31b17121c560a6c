package jobs

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/meter"
)

// oneJob is a store that holds one job.
type oneJob struct {
	Store
	job execution.Job
}

func (s *oneJob) ChangeJob(_ context.Context, _ string, fn func(*execution.Job) error) (execution.Job, error) {
	job := copyOf(s.job)
	if err := fn(&job); err != nil {
		return s.job, err
	}
	s.job = job
	return job, nil
}

// Each end of a job and each attempt of a callback is counted once, other changes are not.
func TestCounting(t *testing.T) {
	t.Parallel()
	work := meter.NewWork()
	store := &counting{&oneJob{job: execution.Job{Status: execution.Queued, Callback: &execution.Callback{
		State: execution.CallbackWaiting,
	}}}, work}
	for _, change := range []func(*execution.Job) error{
		func(j *execution.Job) error { j.Status = execution.Running; return nil },
		func(*execution.Job) error { return errTaken },
		func(j *execution.Job) error {
			j.Status = execution.TimedOut
			callBack(j, time.Unix(0, 0))
			return nil
		},
		func(j *execution.Job) error { j.Callback.Attempts++; return nil },
		func(j *execution.Job) error { j.Callback.Next = time.Unix(9, 0); return nil },
		func(j *execution.Job) error {
			j.Callback.Attempts++
			j.Callback.State = execution.CallbackDelivered
			return nil
		},
		func(j *execution.Job) error { j.Callback.Problem = ""; return nil },
	} {
		_, _ = store.ChangeJob(t.Context(), "", change) // one of them fails
	}
	for _, state := range []string{execution.CallbackFailed, execution.CallbackDisabled} {
		pending := execution.Job{Status: execution.Completed, Callback: &execution.Callback{State: execution.CallbackPending}}
		ended := copyOf(pending)
		ended.Callback.State = state
		store.count(pending, ended)
	}
	session := execution.Job{Status: execution.Cancelled, Waits: execution.Waits{Wait: &execution.Wait{
		Session: &execution.Session{},
	}}}
	store.count(execution.Job{Status: execution.Paused}, session)

	e, err := meter.NewExposition(meter.New())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Add(work); err != nil {
		t.Fatal(err)
	}
	text, err := e.Text()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if (strings.HasPrefix(name, "airlock_jobs") || strings.HasPrefix(name, "airlock_callback")) && value != "0" {
			got[name] = value
		}
	}
	want := map[string]string{`airlock_jobs_ended_total{status="timeout"}`: "1"}
	for _, outcome := range []string{"delivered", "retried", "given_up", "gone"} {
		maps.Copy(want, map[string]string{`airlock_callback_attempts_total{outcome="` + outcome + `"}`: "1"})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the counts differ (-want +got):\n%s", diff)
	}
}
