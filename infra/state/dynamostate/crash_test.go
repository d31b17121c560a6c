package dynamostate_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/schedule"
	"github.com/airlock-run/airlock/infra/state/dynamostate"
)

// mortal is the connection of one process to the server. It breaks before a request, or between a request and its
// answer.
type mortal struct {
	server *httptest.Server
	mu     sync.Mutex
	armed  bool
	left   int // requests that go through
	carry  bool
	died   bool
	once   bool // only that one request fails
}

// after breaks the connection after so many requests. If carry is true, the next one still arrives and is not answered.
// If once is true, only that one request fails.
func (m *mortal) after(requests int, carry, once bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.armed, m.left, m.carry, m.once = true, requests, carry, once
}

func (m *mortal) dead() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.died
}

// way returns a connection to the table.
func way(t *testing.T) *mortal {
	t.Helper()
	to, err := url.Parse(server.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host }}
	m := &mortal{}
	m.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		if !m.armed {
			m.mu.Unlock()
			proxy.ServeHTTP(w, r)
			return
		}
		m.left--
		through, last := m.left >= 0 || m.once && m.left < -1, m.left == -1
		m.died = m.died || !through
		m.mu.Unlock()
		if through {
			proxy.ServeHTTP(w, r)
			return
		}
		if last && m.carry {
			proxy.ServeHTTP(httptest.NewRecorder(), r)
		}
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(m.server.Close)
	return m
}

// world holds the effects of jobs: the records of executions, and callbacks.
type world struct {
	mu         sync.Mutex
	runs, told map[string]int
}

func (w *world) Run(_ context.Context, job execution.Job) (execution.Result, time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs[job.ID]++
	return execution.Result{ID: job.ID, Status: execution.Completed}, 0
}

func (w *world) Recorded(_ context.Context, job execution.Job) (execution.Result, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return execution.Result{ID: job.ID, Status: execution.Completed}, w.runs[job.ID] > 0, nil
}

func (w *world) Send(_ context.Context, job execution.Job) jobs.Receipt {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told[job.ID]++
	return jobs.Receipt{Delivered: true}
}

const every = "* * * * *"

// life performs the usual work of a process, one request after the other, until the process dies. It returns the
// acknowledged jobs.
func life(ctx context.Context, s *dynamostate.Store, w *world, now time.Time) (acknowledged []string, err error) {
	clock, err := schedule.New(schedule.Config{Store: s, Now: func() time.Time { return now },
		Logger: slog.New(slog.DiscardHandler),
		Submit: func(ctx context.Context, f execution.SavedFunction, id string, _ time.Time) error {
			err := s.Submit(ctx, execution.Job{ID: id, Tenant: f.Tenant, Status: execution.Queued})
			if err == nil {
				acknowledged = append(acknowledged, id)
			}
			return err
		}})
	if err != nil {
		return nil, err
	}
	if err := clock.RunDue(ctx); err != nil {
		return acknowledged, err
	}
	const mine = "exec_0000000001"
	job := execution.Job{ID: mine, Tenant: "t", Status: execution.Queued,
		Callback: &execution.Callback{URL: "http://x", State: execution.CallbackWaiting}}
	if err := s.Submit(ctx, job); err != nil {
		return acknowledged, err
	}
	acknowledged = append(acknowledged, mine)
	for {
		job, err := s.Claim(ctx, now, "", nil)
		if errors.Is(err, execution.ErrNotFound) {
			break
		}
		if err != nil {
			return acknowledged, err
		}
		if job.Attempts == 0 && job.ID == mine { // no place at first
			_, err = s.ChangeJob(ctx, job.ID, func(j *execution.Job) error {
				j.Status, j.Owner, j.Attempts, j.NotBefore = execution.Queued, "", 1, now
				return nil
			})
		} else {
			result, _ := w.Run(ctx, job)
			_, err = s.ChangeJob(ctx, job.ID, func(j *execution.Job) error {
				j.Status, j.Owner, j.EndedAt, j.Result = result.Status, "", now, []byte(`{}`)
				if j.Callback != nil {
					j.Callback.State, j.Callback.Next = execution.CallbackPending, now
				}
				return nil
			})
		}
		if err != nil {
			return acknowledged, err
		}
	}
	due, err := s.Callbacks(ctx, now, now.Add(time.Minute), 8)
	if err != nil {
		return acknowledged, err
	}
	for _, job := range due {
		w.Send(ctx, job)
		_, err := s.ChangeJob(ctx, job.ID,
			func(j *execution.Job) error { j.Callback.State = execution.CallbackDelivered; return nil })
		if err != nil {
			return acknowledged, err
		}
	}
	return acknowledged, nil
}

// A process may die between any two requests, or between a request and its answer. The next process then ends every
// acknowledged job, which runs once and whose receiver is called.
func TestDeathBetweenAnyTwoSteps(t *testing.T) {
	t.Parallel()
	for name, carry := range map[string]bool{"before a request": false, "before its answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			for !survived(t, n, carry) && n < 200 {
				n++
			}
			if n < 12 || n == 200 {
				t.Errorf("a life of %d requests is not the one that is meant", n)
			}
		})
	}
}

// A death is that of a process in a life, and what it leaves.
type death struct {
	what         string // for messages
	heir         *dynamostate.Store
	world        *world
	acknowledged []string
	began        time.Time
	survived     bool // the life ended before the request at which it was to die
}

// die lets a process live until its request n, in a state with a schedule that is due.
func die(t *testing.T, state *fleet, n int, carry bool, cron string) death {
	t.Helper()
	d := death{what: fmt.Sprintf("died at request %d (carried out: %v)", n, carry), began: state.Now(),
		heir: state.open(t, server.Endpoint, 4), world: &world{runs: map[string]int{}, told: map[string]int{}}}
	err := d.heir.Change(t.Context(), "t", "f", func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
		f.Schedule = &execution.FunctionSchedule{Cron: cron, TimeZone: "UTC", Missed: schedule.All,
			Next: d.began.Truncate(time.Minute)}
		return nil, nil //nolint:nilnil // no new content
	})
	if err != nil {
		t.Fatal(err)
	}
	m := way(t)
	mortal := state.open(t, m.server.URL, 1)
	m.after(n, carry, false)
	acknowledged, dead := life(t.Context(), mortal, d.world, d.began)
	if dead != nil && !m.dead() {
		t.Fatalf("%s: %v", d.what, dead)
	}
	state.Kill(t, mortal) // the minute for which callbacks are claimed is over, too
	d.acknowledged, d.survived = acknowledged, !m.dead()
	return d
}

// ended checks that jobs have ended once, and that their receivers were called.
func (d death) ended(t *testing.T, ids []string) {
	t.Helper()
	for _, id := range ids {
		job, err := d.heir.Job(t.Context(), id)
		if err != nil || job.Status != execution.Completed || d.world.runs[id] != 1 {
			t.Errorf("%s: %s is %s, ran %d times, %v", d.what, id, job.Status, d.world.runs[id], err)
		}
		if job.Callback != nil && job.Callback.State != execution.CallbackDelivered {
			t.Errorf("%s: the callback of %s is %+v", d.what, id, job.Callback)
		}
		if job.Callback != nil && (d.world.told[id] < 1 || d.world.told[id] > 2) {
			t.Errorf("%s: %s was told of %d times", d.what, id, d.world.told[id])
		}
	}
	for id, times := range d.world.runs {
		if times != 1 {
			t.Errorf("%s: %s ran %d times", d.what, id, times)
		}
	}
}

func survived(t *testing.T, n int, carry bool) bool {
	t.Helper()
	state, ctx := newFleet(t), t.Context()
	d := die(t, state, n, carry, every)
	what, heir, w, began, acknowledged := d.what, d.heir, d.world, d.began, d.acknowledged
	now := state.Now()
	queue, err := jobs.New(jobs.Config{Store: heir, Runner: w, Now: state.Now, Random: func() float64 { return 0 },
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	scheduled := ""
	clock, err := schedule.New(schedule.Config{Store: heir, Now: func() time.Time { return began },
		Logger: slog.New(slog.DiscardHandler),
		Submit: func(ctx context.Context, f execution.SavedFunction, id string, _ time.Time) error {
			scheduled = id
			return queue.Submit(ctx, execution.Job{ID: id, Tenant: f.Tenant})
		}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(clock.RunDue(ctx), queue.RunDue(ctx, ""), queue.RunDue(ctx, "")); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	all := acknowledged
	if scheduled != "" { // otherwise, the dead process had advanced the schedule
		all = append(all, scheduled)
	}
	d.ended(t, all)
	if len(acknowledged)+len(scheduled) == 0 {
		t.Errorf("%s: the schedule was forgotten", what)
	}
	if left, err := heir.Due(ctx, now.Add(time.Hour), 10); err != nil || len(left) != 1 ||
		!left[0].Schedule.Next.After(began) {
		t.Errorf("%s: the schedule is %v, %v", what, left, err)
	}
	return d.survived
}

// A process whose answers are lost repeats its requests and recognizes its own changes.
func TestAnswerLost(t *testing.T) {
	t.Parallel()
	const id = "exec_0000000001"
	for n := 0; ; n++ {
		state, m := newFleet(t), way(t)
		s := state.open(t, m.server.URL, 4)
		m.after(n, true, true)
		if err := s.Submit(t.Context(), execution.Job{ID: id, Tenant: "t", Status: execution.Queued}); err != nil {
			t.Fatalf("request %d: %v", n, err)
		}
		claimed, err := s.Claim(t.Context(), state.Now(), "", nil)
		if err != nil {
			t.Fatalf("request %d: %v", n, err)
		}
		job, err := s.ChangeJob(t.Context(), id, func(j *execution.Job) error { j.Attempts++; return nil })
		if err != nil || job.Owner != claimed.Owner || job.Attempts != 1 {
			t.Errorf("request %d: %+v %v", n, job, err)
		}
		name := func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
			f.Versions = append(f.Versions, execution.FunctionVersion{Version: len(f.Versions) + 1})
			return &execution.FunctionContent{}, nil
		}
		if err := s.Change(t.Context(), "t", "f", name); err != nil {
			t.Errorf("request %d: %v", n, err)
		}
		if f, err := s.Function(t.Context(), "t", "f"); err != nil || len(f.Versions) != 1 {
			t.Errorf("request %d: %d versions, %v", n, len(f.Versions), err)
		}
		begun, _, _, err := s.Begin(t.Context(), execution.Key{Name: "k"}, "mark", state.Now(), state.Now().Add(time.Hour))
		if err != nil || !begun {
			t.Errorf("request %d: begun %v, %v", n, begun, err)
		}
		if !m.dead() {
			if n < 10 {
				t.Errorf("only %d requests", n)
			}
			return
		}
	}
}

// A process changes a job while its own claim of that job is on its way. The claim succeeds, and the job is no orphan.
func TestChangeDuringClaim(t *testing.T) {
	t.Parallel()
	const id = "exec_0000000001"
	state := newFleet(t)
	to, err := url.Parse(server.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host }}
	var s *dynamostate.Store
	var claiming sync.Once
	armed := make(chan struct{})
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-armed:
			if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".UpdateItem") {
				claiming.Do(func() {
					_, err := s.ChangeJob(t.Context(), id, func(j *execution.Job) error { j.Cancel = true; return nil })
					if err != nil {
						t.Error(err)
					}
				})
			}
		default:
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(between.Close)
	s = state.open(t, between.URL, 4)
	if err := s.Submit(t.Context(), execution.Job{ID: id, Tenant: "t", Status: execution.Queued}); err != nil {
		t.Fatal(err)
	}
	close(armed)
	job, err := s.Claim(t.Context(), state.Now(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if job.Status != execution.Running || !job.Cancel {
		t.Errorf("%+v", job)
	}
	if orphans, err := s.Orphans(t.Context()); err != nil || len(orphans) > 0 {
		t.Errorf("%d orphans, %v", len(orphans), err)
	}
}
