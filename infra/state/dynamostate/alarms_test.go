package dynamostate_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/schedule"
	"github.com/airlock-run/airlock/infra/state/alarms"
	"github.com/airlock-run/airlock/infra/state/alarms/alarmstest"
	"github.com/airlock-run/airlock/infra/state/dynamostate"
)

// withAlarms returns a fleet whose processes set alarms.
func withAlarms(t *testing.T) (*fleet, *alarmstest.Server) {
	t.Helper()
	f, s := newFleet(t), alarmstest.Start()
	t.Cleanup(s.Close)
	set, err := alarms.Open(t.Context(), s.URL(), alarms.Config{Endpoint: s.Endpoint(), Attempts: 1, Now: f.Now})
	if err != nil {
		t.Fatal(err)
	}
	f.alarms = set
	return f, s
}

// turns does what a process does that only alarms wake, until so many have fired.
func turns(t *testing.T, f *fleet, s *alarmstest.Server, store *dynamostate.Store, w *world, most int) (made int) {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	queue, err := jobs.New(jobs.Config{Store: store, Runner: w, Now: f.Now, Logger: quiet,
		Random: func() float64 { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	clock, err := schedule.New(schedule.Config{Store: store, Now: f.Now, Logger: quiet,
		Submit: func(ctx context.Context, fn execution.SavedFunction, id string, _ time.Time) error {
			return queue.Submit(ctx, execution.Job{ID: id, Tenant: fn.Tenant})
		}})
	if err != nil {
		t.Fatal(err)
	}
	for ; made < most; made++ {
		at, is := s.Next()
		if !is {
			return made
		}
		f.until(at)
		s.Fire(f.Now())
		armed := dynamostate.Arm(t.Context(), store, time.Hour)
		err := errors.Join(armed, clock.RunDue(t.Context()), queue.RunDue(t.Context(), ""))
		if err != nil {
			t.Fatal(err)
		}
	}
	return made
}

// Whenever a process dies, alarms alone wake the next one, which ends every acknowledged job and continues schedules.
func TestAlarmsSurviveDeathBetweenAnyTwoSteps(t *testing.T) {
	t.Parallel()
	for name, carry := range map[string]bool{"before a request": false, "before its answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			for !awoken(t, n, carry) && n < 200 {
				n++
			}
			if n < 12 || n == 200 {
				t.Errorf("a life of %d requests is not the one that is meant", n)
			}
		})
	}
}

func awoken(t *testing.T, n int, carry bool) bool {
	t.Helper()
	state, s := withAlarms(t)
	d := die(t, state, n, carry, "@hourly")
	turns(t, state, s, d.heir, d.world, 4)
	d.ended(t, d.acknowledged)
	f, err := d.heir.Function(t.Context(), "t", "f")
	if err != nil {
		t.Fatal(err)
	}
	if at, is := s.Next(); !is || at.After(f.Schedule.Next.Add(time.Minute)) {
		t.Errorf("%s: the next alarm is at %v (%v), and the schedule is due at %v", d.what, at, is, f.Schedule.Next)
	}
	return d.survived
}

// A state without work, and with jobs that have ended, has no alarms.
func TestIdleStateSetsNoAlarm(t *testing.T) {
	t.Parallel()
	state, s := withAlarms(t)
	w := &world{runs: map[string]int{}, told: map[string]int{}}
	store := state.open(t, server.Endpoint, 4)
	if err := dynamostate.Arm(t.Context(), store, time.Hour); err != nil {
		t.Fatal(err)
	}
	if at, is := s.Next(); is {
		t.Errorf("an empty state is looked at at %v", at)
	}
	job := execution.Job{ID: "exec_0000000001", Tenant: "t", Status: execution.Queued}
	if err := store.Submit(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if made := turns(t, state, s, store, w, 10); made == 0 || made > 4 || w.runs[job.ID] != 1 {
		t.Errorf("%d turns, %d runs", made, w.runs[job.ID])
	}
	if at, is := s.Next(); is {
		t.Errorf("a state without work is looked at at %v", at)
	}
}

// An alarm fires for a job that starts later, and not before its time.
func TestLaterWorkHasAnAlarmAtItsTime(t *testing.T) {
	t.Parallel()
	state, s := withAlarms(t)
	store := state.open(t, server.Endpoint, 4)
	start := state.Now().Add(3 * time.Hour)
	err := store.Submit(t.Context(),
		execution.Job{ID: "exec_0000000001", Tenant: "t", Status: execution.Queued,
			Times: execution.Times{NotBefore: start}})
	if err != nil {
		t.Fatal(err)
	}
	if at, is := s.Next(); !is || at.Before(start.Truncate(time.Millisecond)) || at.After(start.Add(time.Minute)) {
		t.Errorf("the alarm is at %v (%v), the job starts at %v", at, is, start)
	}
}

// Arm replaces alarms that were lost, and those of a copied state, which never existed.
func TestArmReplacesLostAlarms(t *testing.T) {
	t.Parallel()
	state, s := withAlarms(t)
	set := state.alarms
	state.alarms = nil
	plain := state.open(t, server.Endpoint, 4)
	soon := state.Now().Add(10 * time.Minute)
	for i, at := range []time.Time{soon, soon.Add(3 * time.Hour)} {
		err := plain.Submit(t.Context(), execution.Job{ID: fmt.Sprintf("exec_000000000%d", i), Tenant: "t",
			Status: execution.Queued, Times: execution.Times{NotBefore: at}})
		if err != nil {
			t.Fatal(err)
		}
	}
	state.alarms = set
	if err := dynamostate.Arm(t.Context(), state.open(t, server.Endpoint, 4), time.Hour); err != nil {
		t.Fatal(err)
	}
	if fired := s.Fire(state.Now().Add(24 * time.Hour)); len(fired) != 1 {
		t.Errorf("the alarms of the next hour are %q, want one", fired)
	}
}

// Work whose alarm cannot be set is not accepted: nobody might look for it.
func TestWorkWithoutAlarmIsRefused(t *testing.T) {
	t.Parallel()
	state, s := withAlarms(t)
	store := state.open(t, server.Endpoint, 4)
	s.Fail(http.StatusInternalServerError)
	job := execution.Job{ID: "exec_0000000001", Tenant: "t", Status: execution.Queued}
	err := store.Submit(t.Context(), job)
	if known := (*execution.StoreError)(nil); !errors.As(err, &known) || known.Fault != execution.StoreBusy {
		t.Errorf("error %v, want that the state is busy", err)
	}
	if _, err := store.Job(t.Context(), job.ID); !errors.Is(err, execution.ErrNotFound) {
		t.Errorf("the job is there: %v", err)
	}
	s.Fail(0)
	if err := store.Submit(t.Context(), job); err != nil {
		t.Error(err)
	}
}

// A process that claims a job, or a callback, may die. The index may be behind, so the turn of an earlier alarm may
// have missed the claim: it sets an alarm of its own.
func TestClaimSetsAnAlarm(t *testing.T) {
	t.Parallel()
	state, s := withAlarms(t)
	store, ctx := state.open(t, server.Endpoint, 4), t.Context()
	job := execution.Job{ID: "exec_0000000001", Tenant: "t", Status: execution.Queued,
		Callback: &execution.Callback{URL: "http://x", State: execution.CallbackWaiting}}
	claims := func(what string, claim func() error) {
		t.Helper()
		s.Fire(state.Now().Add(time.Hour))
		state.until(state.Now().Add(time.Minute))
		if err := claim(); err != nil {
			t.Fatal(err)
		}
		if at, is := s.Next(); !is || at.After(state.Now().Add(3*time.Minute)) {
			t.Errorf("the alarm for %s is at %v (%v)", what, at, is)
		}
	}
	if err := store.Submit(ctx, job); err != nil {
		t.Fatal(err)
	}
	claims("a job that runs", func() error {
		_, err := store.Claim(ctx, state.Now(), "", nil)
		return err
	})
	claims("a callback that waits", func() error {
		_, err := store.ChangeJob(ctx, job.ID, func(j *execution.Job) error {
			j.Status, j.Owner, j.EndedAt, j.Result = execution.Completed, "", state.Now(), []byte(`{}`)
			j.Callback.State, j.Callback.Next = execution.CallbackPending, state.Now()
			return nil
		})
		return err
	})
	claims("a callback that is made", func() error {
		_, err := store.TakeCallback(ctx, state.Now(), state.Now().Add(time.Minute), job.ID)
		return err
	})
}
