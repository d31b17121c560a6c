package gateway_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/queue"
	"github.com/airlock-run/airlock/gateway/ratelimit"
	"github.com/airlock-run/airlock/gateway/results"
	"github.com/airlock-run/airlock/gateway/schedule"
	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
	"github.com/airlock-run/airlock/policy"
)

// wall is a clock that a test sets.
type wall struct {
	mu sync.Mutex
	at time.Time
}

func (w *wall) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

func (w *wall) add(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

const day = 24 * time.Hour

// A clock that is set forward or back by an hour, a day or a year neither delays nor repeats anything.
func TestClockJumps(t *testing.T) {
	t.Parallel()
	for name, check := range map[string]func(t *testing.T, clock *wall, jump time.Duration){
		"limits of callers": limitJumps, "quotas of a minute and a day": quotaJumps, "places in line": queueJumps,
		"idempotency keys in memory": onceJumps, "idle sessions": leaseJumps, "schedules": scheduleJumps,
		"jobs that wait": jobJumps, "keys in the state": keyJumps, "callbacks": callbackJumps,
		"chains of records": chainJumps,
		"tokens":            tokenJumps,
	} {
		for _, jump := range []time.Duration{time.Hour, -time.Hour, day, -day, 365 * day, -365 * day} {
			t.Run(fmt.Sprint(name, " ", jump), func(t *testing.T) {
				t.Parallel()
				check(t, &wall{at: time.Date(2026, 3, 10, 12, 0, 30, 0, time.UTC)}, jump)
			})
		}
	}
}

func limitJumps(t *testing.T, clock *wall, jump time.Duration) {
	l, err := ratelimit.New(ratelimit.Config{Window: time.Minute, Max: 3, Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	take := func() bool {
		v, err := l.Take(t.Context(), "a")
		if err != nil || v.Reset < 0 || v.Reset > 2*time.Minute {
			t.Errorf("%+v, %v", v, err)
		}
		return v.Allowed
	}
	for range 3 {
		if !take() {
			t.Fatal("refused below the limit")
		}
	}
	if take() {
		t.Fatal("allowed beyond the limit")
	}
	clock.add(jump)
	if jump < 0 && take() {
		t.Error("a clock that was set back allows more")
	}
	clock.add(62 * time.Second)
	if !take() {
		t.Error("refused a window later")
	}
}

func quotaJumps(t *testing.T, clock *wall, jump time.Duration) {
	counter := func(window time.Duration) *ratelimit.Limiter {
		l, err := ratelimit.New(ratelimit.Config{Window: window, Max: 1, Now: clock.now})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	q := &ratelimit.Quotas{
		Minute: counter(time.Minute), Day: counter(day),
		Of: func(string) policy.Quota { return policy.Quota{PerMinute: 9, PerDay: 2} },
	}
	allowed := func() bool {
		v, err := q.Take(t.Context(), "t")
		if err != nil {
			t.Fatal(err)
		}
		return v.Allowed
	}
	for i := range 3 {
		if allowed() != (i < 2) {
			t.Fatalf("execution %d of a quota of two is not decided as it should be", i+1)
		}
	}
	clock.add(jump)
	if jump < 0 && allowed() {
		t.Error("a clock that was set back allows more")
	}
	clock.add(25 * time.Hour)
	if !allowed() {
		t.Error("refused a day later")
	}
}

func queueJumps(t *testing.T, clock *wall, jump time.Duration) {
	q, err := queue.New(queue.Config{Places: 4, Depth: 0, Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	place, err := q.Acquire(t.Context(), queue.Normal, "gone")
	if err != nil {
		t.Fatal(err)
	}
	clock.add(jump)
	place.Release()
	clock.add(11 * time.Second) // the caller who is gone no longer counts as recent
	for n := range 4 {
		if p, err := q.Acquire(t.Context(), queue.Normal, "here"); err != nil || p.Waited < 0 {
			t.Errorf("place %d: %v", n, err)
		}
	}
	var full *queue.Full
	if _, err := q.Acquire(t.Context(), queue.Normal, "here"); !errors.As(err, &full) || full.RetryAfter < time.Second ||
		full.RetryAfter > time.Minute {
		t.Errorf("%+v", err)
	}
}

func onceJumps(t *testing.T, clock *wall, jump time.Duration) {
	o, err := results.NewOnce(10, 1000, clock.now)
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256(nil)
	state := func() results.State { s, _ := o.Begin("a", "k", digest); return s }
	if state() != results.Fresh {
		t.Fatal("not fresh")
	}
	o.Finish("k", results.Saved{Status: 200})
	clock.add(jump)
	if got := state(); jump < day && got != results.Done {
		t.Errorf("after the jump it is %v", got)
	}
	clock.add(25 * time.Hour)
	o.Abandon("k") // where the jump made it fresh
	if got := state(); got != results.Fresh {
		t.Errorf("a day later it is %v", got)
	}
}

func leaseJumps(t *testing.T, clock *wall, jump time.Duration) {
	l := bounds.NewLeases(10, time.Minute, clock.now)
	n := 0
	for ; ; n++ {
		leave, err := l.Enter(bounds.Owner{Tenant: "t"})
		if err != nil {
			break
		}
		l.Hold(fmt.Sprint(n), leave)
	}
	clock.add(jump)
	_, _ = l.Enter(bounds.Owner{Tenant: "t"}) // the leases read the clock; there is no free place
	clock.add(time.Minute)
	if _, err := l.Enter(bounds.Owner{Tenant: "t"}); err != nil {
		t.Errorf("idle sessions of a minute ago are held, %d of them", n)
	}
}

// opened is a state of the test itself.
func opened(t *testing.T) *sqlitestate.Store {
	t.Helper()
	store, err := sqlitestate.Open(t.TempDir(), sqlitestate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func scheduleJumps(t *testing.T, clock *wall, jump time.Duration) {
	store := opened(t)
	for _, missed := range []string{schedule.Skip, schedule.Once, schedule.All} {
		if err := store.Change(t.Context(), "t", missed, func(
			f *execution.SavedFunction,
		) (*execution.FunctionContent, error) {
			f.Schedule = &execution.FunctionSchedule{Cron: "* * * * *", Missed: missed}
			return nil, schedule.Check(f.Schedule, clock.now())
		}); err != nil {
			t.Fatal(err)
		}
	}
	runs := map[string][]time.Time{}
	c, err := schedule.New(schedule.Config{Store: store, Now: clock.now, Logger: slog.New(slog.DiscardHandler),
		Submit: func(_ context.Context, f execution.SavedFunction, _ string, at time.Time) error {
			runs[f.Name] = append(runs[f.Name], at)
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	turn := func() {
		t.Helper()
		if err := c.RunDue(t.Context()); err != nil {
			t.Error(err)
		}
	}
	turn()
	clock.add(time.Minute)
	turn()
	clock.add(jump)
	turn()
	most := map[string]int{schedule.Skip: 3, schedule.Once: 3, schedule.All: schedule.MaxMissed + 2}
	for name, most := range most {
		if len(runs[name]) == 0 || len(runs[name]) > most {
			t.Errorf("%s: %d runs", name, len(runs[name]))
		}
	}
	clear(runs)
	clock.add(time.Minute)
	turn()
	for name := range most {
		if list := runs[name]; len(list) != 1 || clock.now().Sub(list[0]) > time.Minute || list[0].After(clock.now()) {
			t.Errorf("%s runs at %v, and it is %v", name, list, clock.now())
		}
	}
}

func jobJumps(t *testing.T, clock *wall, jump time.Duration) {
	store := opened(t)
	job := execution.Job{
		ID: "exec_0000000001", Tenant: "t", Status: execution.Queued,
		Times: execution.Times{NotBefore: clock.now().Add(30 * time.Second)},
	}
	if err := store.Submit(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	clock.add(jump)
	clock.add(time.Hour + time.Minute) // the most that a job waits
	if _, err := store.Claim(t.Context(), clock.now(), "", nil); err != nil {
		t.Errorf("it waits for the clock: %v", err)
	}
}

func keyJumps(t *testing.T, clock *wall, jump time.Duration) {
	store := opened(t)
	key := execution.Key{Quota: execution.QuotaKeys, Tenant: "t", Name: "k"}
	begin := func() bool {
		begun, _, _, err := store.Begin(t.Context(), key, "m", clock.now(), clock.now().Add(day))
		if err != nil {
			t.Fatal(err)
		}
		return begun
	}
	if !begin() {
		t.Fatal("not fresh")
	}
	if err := store.Finish(t.Context(), "k", []byte("answer")); err != nil {
		t.Fatal(err)
	}
	clock.add(jump)
	prune := func() {
		if err := store.Prune(t.Context(), clock.now(), clock.now().Add(-7*day)); err != nil {
			t.Fatal(err)
		}
	}
	prune()
	if jump < day && begin() {
		t.Error("finished work is repeated")
	}
	clock.add(2*day + time.Hour)
	prune()
	if !begin() {
		t.Error("it is kept until the clock has caught up")
	}
}

func callbackJumps(t *testing.T, clock *wall, jump time.Duration) {
	store := opened(t)
	if err := store.Submit(
		t.Context(),
		execution.Job{
			ID: "exec_0000000001", Tenant: "t", Status: execution.Queued, Callback: &execution.Callback{URL: "http://x"},
		},
	); err != nil {
		t.Fatal(err)
	}
	if _, err := store.ChangeJob(t.Context(), "exec_0000000001", func(j *execution.Job) error {
		j.Status, j.EndedAt, j.Callback.State, j.Callback.Next = execution.Completed, clock.now(),
			execution.CallbackPending, clock.now().Add(time.Hour)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	clock.add(jump)
	clock.add(2 * time.Hour)
	if err := store.Prune(t.Context(), clock.now(), clock.now().Add(-7*day)); err != nil {
		t.Fatal(err)
	}
	if due, err := store.Callbacks(t.Context(), clock.now(), clock.now().Add(time.Minute), 8); err != nil ||
		len(due) != 1 {
		t.Errorf("%d are due, %v", len(due), err)
	}
}

func chainJumps(t *testing.T, clock *wall, jump time.Duration) {
	store, err := filerecords.Open(t.TempDir(), filerecords.Config{Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	for range 3 {
		for range 2 {
			if err := store.Append(t.Context(), recordstest.Sample(clock.now())); err != nil {
				t.Fatal(err)
			}
			clock.add(time.Second)
		}
		clock.add(jump)
		if err := store.Ready(t.Context()); err != nil {
			t.Error(err)
		}
	}
	report, err := store.Verify(t.Context())
	if err != nil || !report.OK() || report.Records != 6 {
		t.Errorf("%+v, %v", report, err)
	}
}

func tokenJumps(t *testing.T, clock *wall, jump time.Duration) {
	auth, err := authn.New(authn.Config{Keys: hs256(t), Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	began := clock.now()
	signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"sub": "a", "scope": "execute", "iat": began.Unix(), "nbf": began.Unix(), "exp": began.Add(10 * time.Minute).Unix(),
	}).SignedString([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	good := func() bool {
		_, err := auth.Authenticate("Bearer "+signed, "")
		if refusal := (*authn.Refusal)(nil); err != nil &&
			(!errors.As(err, &refusal) || strings.Contains(refusal.Reason, clock.now().String())) {
			t.Error(err)
		}
		return err == nil
	}
	if !good() {
		t.Fatal("a good token is refused")
	}
	clock.add(jump)
	if good() { // the token has ended, or is not valid yet
		t.Error("a token is taken outside its time")
	}
	clock.add(-jump)
	if !good() {
		t.Error("a good token is refused once the clock is right")
	}
	clock.add(12 * time.Minute)
	if good() {
		t.Error("a token outlives its time")
	}
}
