package localinvoke

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// firstPause and longestPause bound the pause before a failed process is restarted; it doubles each time.
	firstPause   = 50 * time.Millisecond
	longestPause = 5 * time.Second
	// settled is how long a process without work must have lived for its end not to count as a failed start; patience
	// is the number of such ends in a row that are answered at once.
	settled  = time.Second
	patience = 3
)

// A slot keeps one process running.
type slot struct {
	pool *Pool
	last *process // the one that ended last, until it is replaced
	// extra slots are not kept if their first process does not start.
	extra bool
	over  bool // its process was not needed any more

	// Guarded by the pool's mu.
	current  *process
	restarts int
	failing  bool
	lastExit string
	trend    trend
}

// keep runs one process after another until ctx is done or none is needed. It sends to first the error of the first
// process, nil when it is ready.
func (s *slot) keep(ctx context.Context, first chan<- error) {
	report := func(err error) {
		if first != nil {
			first <- err
			first = nil
		}
	}
	pause, useless := firstPause, 0
	for ctx.Err() == nil {
		short, err := s.once(ctx, func() { report(nil) })
		if ctx.Err() != nil || s.over {
			break
		}
		if s.extra && err != nil {
			s.pool.roster.stay()
			s.pool.cfg.Logger.Warn("no further function process starts; tenants replace one another's", "error", err)
			break
		}
		s.restarted(err)
		useless++
		if err == nil && !short {
			useless = 0
		}
		if err == nil && useless <= patience {
			pause = firstPause
			continue
		}
		report(err)
		s.pool.cfg.Logger.Warn("function process failed", "error", err, "pause", pause)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		pause = min(2*pause, longestPause)
	}
	report(ctx.Err())
}

// once runs one process to its end. The error says why it was never ready; short reports that it was ready and soon
// ended without work.
func (s *slot) once(ctx context.Context, onReady func()) (short bool, err error) {
	p := s.pool
	p.mu.Lock()
	born := p.renewals
	p.mu.Unlock()
	proc, err := newProcess(p.cfg, p.addr)
	if err != nil {
		return false, err
	}
	// The process may ask for work before its start is recorded.
	p.mu.Lock()
	p.byAddress[proc.env] = proc
	p.mu.Unlock()
	defer func() {
		p.roster.take(proc)
		p.mu.Lock()
		delete(p.byAddress, proc.env)
		s.current = nil
		p.mu.Unlock()
		s.settle()
		select {
		case <-proc.ready:
			if p.roster.leave(proc) {
				s.last = proc
			} else {
				s.over = true
			}
		default: // it never was in the roster
		}
	}()
	if err := proc.launch(p); err != nil {
		return false, err
	}
	p.mu.Lock()
	s.current, s.trend = proc, trend{}
	stale := p.renewals != born
	p.mu.Unlock()
	if stale { // its configuration may have changed since its start, and Renew did not see it
		p.renew(proc)
	}
	late := time.NewTimer(p.cfg.StartTimeout)
	defer late.Stop()
	for ready := proc.ready; ; {
		select {
		case <-ready:
			ready, s.extra = nil, false
			late.Stop()
			s.started()
			s.settle()
			onReady()
		case <-late.C:
			proc.kill(startup)
		case <-ctx.Done():
			proc.kill(shutdown)
			<-proc.gone
			return false, nil
		case <-proc.gone:
			return s.judge(proc)
		}
	}
}

// settle ends the loan of the process that ended last: its successor is ready, or does not start.
func (s *slot) settle() {
	if s.last != nil {
		s.pool.roster.replaced(s.last)
		s.last = nil
	}
}

// judge returns the meaning of proc's end for its slot.
func (s *slot) judge(proc *process) (short bool, err error) {
	why, how := proc.why()
	executions, initError := proc.served()
	s.pool.cfg.Logger.Info("function process ended", "pid", proc.cmd.Process.Pid, "cause", why, "how", how, "executions",
		executions)
	s.pool.mu.Lock()
	s.lastExit = how
	s.pool.mu.Unlock()
	select {
	case <-proc.ready:
		return executions == 0 && s.pool.cfg.Now().Sub(proc.started) < settled, nil
	default:
	}
	switch {
	case why == startup:
		return false, fmt.Errorf("function process was not ready after %v", s.pool.cfg.StartTimeout)
	case initError != "":
		return false, errors.New("function process could not start: " + initError)
	}
	if line := proc.printed.reason(); line != "" {
		return false, fmt.Errorf("function process ended at once (%s): %s", how, line)
	}
	return false, fmt.Errorf("function process ended at once (%s)", how)
}

// started records that the process of the slot is ready.
func (s *slot) started() {
	p := s.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.failing {
		s.failing = false
		p.failing--
	}
	if !p.closed {
		p.roster.setDown(nil)
	}
}

// restarted records the end of a process. If no slot has a starting process, all waiting calls fail.
func (s *slot) restarted(err error) {
	p := s.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	s.restarts++
	if err == nil {
		return
	}
	p.failure = err
	if !s.failing {
		s.failing = true
		p.failing++
	}
	if p.failing == len(p.places) && !p.closed {
		p.roster.setDown(err)
	}
}
