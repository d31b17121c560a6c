package jobstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/waits"
	"github.com/airlock-run/airlock/policy/audit"
)

// A process runs executions until its fault.
type process struct {
	*waitingWorld
	jobs.Store
	queue *jobs.Queue
	cut   func(lost bool) (mend func())

	fault fault
	step  int
	phase string

	pmu  sync.Mutex
	n    int
	hit  string // the step at which the fault happened
	dead bool
}

func (w *waitingWorld) process(s jobs.Store) *process {
	w.Helper()
	p := &process{waitingWorld: w, Store: s, step: -1}
	runner := &jobs.ExecutionRunner{Executor: p, Records: w, Append: p.record, Keys: w.keys, Now: w.now,
		Detail: func(err error) string { return err.Error() }, Logger: slog.New(slog.DiscardHandler)}
	var err error
	p.queue, err = jobs.New(jobs.Config{Store: p, Runner: runner, Workers: 1, Now: w.now,
		Random: func() float64 { return 1.99 }, // what is tried again is tried at once
		Logger: slog.New(slog.DiscardHandler),
		Waits: jobs.Waits{Keys: w.keys, MaxAge: func(string) time.Duration { return 24 * time.Hour }, Record: p.record,
			NewID: w.newID, Paused: w.paused}})
	if err != nil {
		w.Fatal(err)
	}
	return p
}

// do does a step of the process, unless its fault happens there. A process that stops never returns from the step.
func (p *process) do(what string, request bool, fn func() error) error {
	p.pmu.Lock()
	if p.dead {
		p.pmu.Unlock()
		runtime.Goexit()
	}
	hit := false
	if p.step >= 0 && p.hit == "" && (request || p.fault.stops()) {
		hit = p.n == p.step
		p.n++
	}
	if hit {
		p.hit = p.phase + ": " + string(p.fault) + " " + what
		p.dead = p.fault == stopsBefore
	}
	p.pmu.Unlock()
	switch {
	case !hit:
		return fn()
	case p.fault == stopsBefore:
		runtime.Goexit()
	case p.fault == stopsAfter:
		_ = fn() // its outcome is lost
		p.pmu.Lock()
		p.dead = true
		p.pmu.Unlock()
		runtime.Goexit()
	}
	if mend := p.cut(p.fault == failsAfter); mend != nil {
		defer mend()
	}
	return fn()
}

// record writes a record, once.
func (p *process) record(ctx context.Context, r audit.Record) error {
	return p.do("the record "+r.Status, false, func() error {
		if before, err := p.Get(ctx, r.ID); err == nil {
			if before.Status != r.Status {
				return errors.New("another record has this ID")
			}
			return nil
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.records = append(p.records, r)
		return nil
	})
}

// Execute implements api.Executor: it runs a segment, which calls a tool, and records it.
func (p *process) Execute(ctx context.Context, s api.Submission) (execution.Result, error) {
	result := execution.Result{ID: s.ID, Status: execution.Completed,
		Environment: execution.Environment{Policy: "standard", EngineBuild: "e"}}
	record := audit.Record{ID: s.ID, Time: s.ReceivedAt, Ending: audit.Ending{Usage: audit.Usage{APICalls: 1}}}
	key := p.id + ":0"
	if r := s.Resume; r != nil {
		record.Parent, record.Segment = r.Parent, r.Segment
		key = fmt.Sprintf("%s:%d", r.Parent, r.Segment-1)
	}
	segment := max(record.Segment, 1)
	if segment == 1 {
		result.Status, result.Snapshot = execution.Paused, []byte("snapshot")
		result.Waiting = []execution.Waiting{p.waits}
	} else if string(s.Resume.Snapshot) != "snapshot" || len(s.Resume.Answers) != 1 {
		p.Errorf("resumed with %+v", s.Resume)
	}
	record.Status = string(result.Status)
	p.mu.Lock()
	if segment > 1 {
		p.attempts = append(p.attempts, s.ID)
	} else {
		p.firsts++
	}
	p.mu.Unlock()
	err := p.do(fmt.Sprintf("the tool call of segment %d", segment), false, func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.called[key] = true
		return nil
	})
	if err == nil {
		err = p.record(ctx, record)
	}
	return result, err
}

func decide(ctx context.Context, p *process) error {
	verdict := execution.Verdict{Decision: execution.Approve, Record: p.newID(), At: p.now()}
	_, err := p.queue.Change(ctx, p.id, func(j *execution.Job) error {
		return waits.Decide(j, map[int]execution.Verdict{1: verdict}, p.now())
	})
	return p.decided(verdict.Record, err)
}

func signal(ctx context.Context, p *process) error {
	verdict := execution.Verdict{Value: json.RawMessage("1"), Record: p.newID(), At: p.now()}
	_, err := p.queue.Change(ctx, p.id, func(j *execution.Job) error {
		return waits.Signal(j, "e", verdict, p.now())
	})
	return p.decided(verdict.Record, err)
}

// decided notes a decision that was acknowledged. There is only one.
func (p *process) decided(record string, err error) error {
	var refused *waits.Refusal
	if errors.As(err, &refused) {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil && p.decision != "" {
		p.Errorf("%s: decided twice", p.hit)
	}
	if err == nil {
		p.decision = record
	}
	return err
}

func cancel(ctx context.Context, p *process) error {
	_, _, err := p.queue.Cancel(ctx, p.id, execution.Result{}, nil, execution.Caller{})
	if errors.Is(err, jobs.ErrEnded) {
		return nil
	}
	return err
}

// begin submits the execution.
func (p *process) begin(ctx context.Context) error {
	if p.stored {
		return p.queue.Submit(ctx, execution.Job{ID: p.id, Tenant: "t", Subject: "ann", ReceivedAt: p.began})
	}
	caller := authn.Identity{Tenant: "t", Subject: "ann"}
	s := api.Submission{ID: p.id, Caller: caller, ReceivedAt: p.began, Waits: true,
		Request: execution.Request{Code: "1"}}
	result, err := p.Execute(ctx, s)
	if err == nil {
		_, err = p.queue.Park(ctx, s, result)
	}
	return err
}

// in does a part of a life. A process that lives on after a fault does what failed again.
func (p *process) in(phase string, fn func() error) {
	p.phase = phase
	for range 3 {
		if fn() == nil {
			return
		}
	}
}

// Submit implements jobs.Store, as the following methods do. It makes no difference where between two changes a process
// stops.
func (p *process) Submit(ctx context.Context, job execution.Job) error {
	return p.do("Submit", true, func() error { return p.Store.Submit(ctx, job) })
}

func (p *process) ChangeJob(
	ctx context.Context, id string, fn func(*execution.Job) error,
) (job execution.Job, err error) {
	err = p.do("ChangeJob", true, func() (err error) { job, err = p.Store.ChangeJob(ctx, id, fn); return err })
	return job, err
}

func (p *process) ChangeJobState(
	ctx context.Context, id string, fn func(*execution.Job) error,
) (job execution.Job, err error) {
	err = p.do("ChangeJob", true, func() (err error) { job, err = p.Store.ChangeJobState(ctx, id, fn); return err })
	return job, err
}

func (p *process) ClaimSome(
	ctx context.Context, now time.Time, after string, passOver []string, most int,
) (claimed []execution.Job, err error) {
	err = p.do("ClaimSome", true, func() (err error) {
		claimed, err = p.Store.ClaimSome(ctx, now, after, passOver, most)
		return err
	})
	return claimed, err
}

// Orphans implements jobs.Store. It makes callbacks due that processes had taken.
func (p *process) Orphans(ctx context.Context) (orphans []execution.Job, err error) {
	err = p.do("Orphans", true, func() (err error) { orphans, err = p.Store.Orphans(ctx); return err })
	return orphans, err
}
