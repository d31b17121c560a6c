package jobstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/waits"
	"github.com/airlock-run/airlock/policy/audit"
)

// A State is a state that is empty at first.
type State struct {
	// Process returns the state for another process.
	Process func(t *testing.T) jobs.Store
	// Kill ends a process at once and waits until others may take its work over.
	Kill func(t *testing.T, s jobs.Store)
	// Now is the clock of all processes.
	Now func() time.Time
	// Mortal returns the state for another process, and a func that makes the next request of the process fail until mend
	// is called: before it is carried out or, if lost is true, after that. mend is nil if the store has no such fault.
	Mortal func(t *testing.T) (s jobs.Store, cut func(lost bool) (mend func()))
}

// A fault is what happens at a step of a process.
type fault string

const (
	stopsBefore fault = "the process stops before"
	stopsAfter  fault = "the process stops after"
	failsBefore fault = "the connection is cut before"
	failsAfter  fault = "the connection is cut after"
)

func (f fault) stops() bool { return f == stopsBefore || f == stopsAfter }

// mostSteps bounds the steps that are tried of a scenario.
const mostSteps = 80

// A scenario is an execution that pauses once, and how it goes on.
type scenario struct {
	name string
	// stored executions are jobs from the start; the callers of others wait.
	stored bool
	waits  execution.Waiting
	// act is the client's reaction to the pause. If it is nil, time passes.
	act  func(ctx context.Context, p *process) error
	pass time.Duration
	want execution.Status
}

var approval = execution.Waiting{Seq: 1, Kind: execution.WaitApproval, Tool: "payments:refund",
	Args: json.RawMessage(`{"order":7}`)}

func scenarios(now time.Time) []scenario {
	sleep := execution.Waiting{Seq: 1, Kind: execution.WaitSleep, DueAt: now.Add(time.Hour)}
	return []scenario{
		{name: "decide about a job", stored: true, waits: approval, act: decide, want: execution.Completed},
		{name: "decide", waits: approval, act: decide, want: execution.Completed},
		{name: "event", waits: execution.Waiting{Seq: 1, Kind: execution.WaitEvent, Name: "e"}, act: signal,
			want: execution.Completed},
		{name: "sleep", waits: sleep, pass: 2 * time.Hour, want: execution.Completed},
		{name: "expiry", waits: approval, pass: 25 * time.Hour, want: execution.Expired},
		{name: "cancel", waits: approval, act: cancel, want: execution.Cancelled},
	}
}

// TestWaitingFaults stops a process, or cuts its connection, before and after each single change of the store, each
// record and each call of a tool, while an execution parks, is decided about, gets an event, sleeps, expires, is
// cancelled, is claimed and goes on. The execution ends once, one decision counts, tools see one key, and each attempt
// has a record.
func TestWaitingFaults(t *testing.T, empty func(t *testing.T) State) {
	t.Helper()
	for n, s := range scenarios(time.Time{}) {
		for _, f := range []fault{stopsBefore, stopsAfter, failsBefore, failsAfter} {
			t.Run(s.name+"/"+string(f), func(t *testing.T) {
				t.Parallel()
				clock := &clock{state: empty(t)}
				heir := clock.state.Process(t) // it is there before the others, as the death of a process takes time
				step := 0
				for ; step < mostSteps; step++ {
					w := newWaitingWorld(t, clock, scenarios(clock.now())[n])
					w.id = fmt.Sprintf("exec_%010d", step)
					if !w.live(f, step, heir) {
						break
					}
					if t.Failed() {
						return
					}
				}
				if f.stops() && (step < 8 || step == mostSteps) {
					t.Errorf("%d steps are not those that are meant", step)
				}
			})
		}
	}
}

// A clock is ahead of that of a state.
type clock struct {
	state State
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.Now().Add(c.ahead)
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

// A waitingWorld holds the effects of processes outside the state: records, calls of tools, and the knowledge of a
// client.
type waitingWorld struct {
	*testing.T
	*clock
	scenario
	id    string // of the execution
	keys  *waits.Keys
	began time.Time

	mu       sync.Mutex
	next     int
	records  []audit.Record
	attempts []string // the IDs of the records that resumed segments are to have
	firsts   int      // the attempts at the first segment
	called   map[string]bool
	decision string // the record of the decision that was acknowledged
	started  bool   // the client knows that the execution exists
}

func newWaitingWorld(t *testing.T, c *clock, s scenario) *waitingWorld {
	t.Helper()
	keys, err := waits.ParseKeys(waits.NewKey("k"))
	if err != nil {
		t.Fatal(err)
	}
	return &waitingWorld{T: t, clock: c, scenario: s, keys: keys, began: c.now(), called: map[string]bool{}}
}

func (w *waitingWorld) newID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next++
	return fmt.Sprintf("%sx%d", w.id, w.next)
}

// Get implements jobs.Records.
func (w *waitingWorld) Get(_ context.Context, id string) (audit.Record, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.records {
		if r.ID == id {
			return r, nil
		}
	}
	return audit.Record{}, audit.ErrNotFound
}

// paused passes the records of pauses to fn.
func (w *waitingWorld) paused(_ context.Context, since, until time.Time, fn func(audit.Record) error) error {
	if r, err := w.Get(context.Background(), w.id); err == nil && !r.Time.Before(since) && r.Time.Before(until) &&
		r.Status == string(execution.Paused) {
		return fn(r)
	}
	return nil
}

// live runs a process until its fault at a step. If it stops there, another one finishes what it left; otherwise it
// goes on itself. live reports whether the process had so many steps.
func (w *waitingWorld) live(f fault, step int, next jobs.Store) bool {
	ctx := w.Context()
	heir := w.process(next)
	store, cut := jobs.Store(nil), (func(bool) func())(nil)
	if f.stops() {
		store = w.state.Process(w.T)
	} else {
		store, cut = w.state.Mortal(w.T)
	}
	p := w.process(store)
	p.fault, p.step, p.cut = f, step, cut
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		begun := false
		p.in("park", func() error {
			err := p.begin(ctx)
			w.started = err == nil
			if begun && !p.stored { // its caller has the error, and begins no second one
				return nil
			}
			begun = true
			return err
		})
		due := func() error { return p.queue.RunDue(ctx, "") }
		p.in("claim", due)
		p.in(p.name, func() error {
			if p.act == nil {
				w.clock.pass(p.scenario.pass)
				return due()
			}
			return p.act(ctx, p)
		})
		p.in("resume", due)
		p.in("end", due)
	}()
	<-ended
	p.step = -1
	if f.stops() && p.hit != "" {
		w.state.Kill(w.T, store)
	} else {
		heir = p
	}
	w.finish(ctx, heir, p.hit)
	return p.hit != ""
}

// finish completes the work of the process in its successor and checks the outcome.
func (w *waitingWorld) finish(ctx context.Context, heir *process, hit string) {
	acted := false
	var job execution.Job
	for range 6 {
		if err := heir.queue.RunDue(ctx, ""); err != nil {
			w.Fatalf("%s: %v", hit, err)
		}
		var err error
		job, err = heir.Job(ctx, w.id)
		switch {
		case errors.Is(err, execution.ErrNotFound):
			w.clock.pass(20 * time.Minute)
			continue
		case err != nil:
			w.Fatalf("%s: %v", hit, err)
		case job.Ended():
			w.check(job, hit)
			return
		case job.Status != execution.Paused || acted:
		case w.act == nil:
			w.clock.pass(w.scenario.pass)
		default:
			acted = true
			if err := w.act(ctx, heir); err != nil {
				w.Fatalf("%s: %v", hit, err)
			}
		}
	}
	if job.ID == "" && !w.started && len(w.records) == 0 {
		return // no client knows of it
	}
	w.Errorf("%s: it is still %q", hit, job.Status)
}

// check checks the records of an execution that has ended.
func (w *waitingWorld) check(job execution.Job, hit string) {
	want := w.want
	if !w.started && !w.stored {
		want = "" // its caller has an error
	}
	if want != "" && job.Status != want {
		w.Errorf("%s: it is %s, want %s: %s", hit, job.Status, want, job.Result)
	}
	decisions, ends, recorded, firsts := []string{}, []audit.Record{}, map[string]bool{}, 0
	for _, r := range w.records {
		recorded[r.ID] = true
		if r.Segment <= 1 && r.Decision == nil {
			firsts++
		}
		switch {
		case r.Decision != nil:
			decisions = append(decisions, r.ID)
		case r.Status != string(execution.Paused):
			ends = append(ends, r)
		}
	}
	if len(ends) == 0 || ends[len(ends)-1].Status != string(job.Status) {
		w.Errorf("%s: it is %s, and its records end with %+v", hit, job.Status, ends)
	}
	if n := len(decisions); n > 1 || w.decision != "" && (n != 1 || decisions[0] != w.decision) {
		w.Errorf("%s: %q was decided, recorded are %q", hit, w.decision, decisions)
	}
	for _, id := range w.attempts {
		if !recorded[id] {
			w.Errorf("%s: the attempt %s has no record", hit, id)
		}
	}
	if w.stored && firsts < w.firsts {
		w.Errorf("%s: %d attempts at the first segment have %d records", hit, w.firsts, firsts)
	}
	for key := range w.called {
		if key != w.id+":0" && key != w.id+":1" {
			w.Errorf("%s: a tool was called with the key %s", hit, key)
		}
	}
}
