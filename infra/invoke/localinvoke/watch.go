package localinvoke

import (
	"context"
	"slices"
	"time"
)

// The leak rule: nearly all of the last samples rose.
const (
	trendSamples = 10
	trendRising  = 8
	// trendNoise is the smallest rise that counts; an allocator's reserves vary by less.
	trendNoise = 128 << 10
	// warmUp is the number of executions after which a process has reached its size.
	warmUp = 100
)

// unusedAfter is how long a process of a tenant stays idle before it ends, if there are more processes than places.
const unusedAfter = 10 * time.Minute

// trend holds the samples of one process.
type trend struct {
	at         time.Time
	samples    []int64 // resident memory in bytes, oldest first
	cpu        time.Duration
	share      float64
	executions int64
}

// add adds a sample. Memory counts towards the trend only if the process did something since the last sample.
func (t *trend) add(at time.Time, resident int64, cpu time.Duration, executions int64) {
	if since := at.Sub(t.at); !t.at.IsZero() && since > 0 {
		t.share = float64(cpu-t.cpu) / float64(since)
	}
	t.at, t.cpu = at, cpu
	if (executions == t.executions || executions < warmUp) && len(t.samples) > 0 {
		t.samples[len(t.samples)-1] = resident
		return
	}
	t.executions = executions
	t.samples = append(t.samples, resident)
	if n := len(t.samples) - trendSamples; n > 0 {
		t.samples = slices.Delete(t.samples, 0, n)
	}
}

func (t *trend) last() int64 {
	if len(t.samples) == 0 {
		return 0
	}
	return t.samples[len(t.samples)-1]
}

// leaks applies the leak rule.
func (t *trend) leaks() bool {
	rising := 0
	for i := 1; i < len(t.samples); i++ {
		if t.samples[i] >= t.samples[i-1]+trendNoise {
			rising++
		}
	}
	return len(t.samples) == trendSamples && rising > trendRising
}

// watch samples every process at each heartbeat until ctx is done.
func (p *Pool) watch(ctx context.Context) {
	beat := time.NewTicker(p.cfg.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			p.mu.Lock()
			places := slices.Clone(p.places)
			p.mu.Unlock()
			for _, s := range places {
				p.sample(s)
			}
			p.shrink(places)
		}
	}
}

// shrink ends processes beyond the pool's places that were idle for long, or that take too much memory together.
func (p *Pool) shrink(places []*slot) {
	if proc := p.roster.shrink(p.cfg.Now().Add(-unusedAfter)); proc != nil {
		proc.kill(unused)
	}
	if p.cfg.Sealed == nil || p.cfg.Sealed.WarmBytes == 0 {
		return
	}
	var all int64
	for _, s := range places {
		p.mu.Lock()
		if s.current != nil {
			all += s.current.usage.Private()
		}
		p.mu.Unlock()
	}
	for all > p.cfg.Sealed.WarmBytes {
		proc := p.roster.shrink(p.cfg.Now())
		if proc == nil {
			return
		}
		all -= proc.usage.Private()
		proc.kill(unused)
	}
}

// sample checks the process of s and replaces one that leaks: an idle one at once, a busy one after its answer. A
// process over the memory limit, and one that is stopped or stuck between two executions, is killed at once.
func (p *Pool) sample(s *slot) {
	p.mu.Lock()
	proc := s.current
	if proc == nil {
		p.mu.Unlock()
		return
	}
	executions, _ := proc.served()
	current := proc.owed()
	now := p.cfg.Now()
	s.trend.add(now, proc.usage.Resident(), proc.usage.Processor(), executions)
	resident, leaks := s.trend.last(), s.trend.leaks()
	p.mu.Unlock()
	proc.endSilent(now.Add(-p.cfg.StartTimeout))
	if proc.usage.Stopped() && p.roster.take(proc) {
		proc.kill(silence)
	}
	over := resident > p.cfg.MaxMemory
	if !leaks && !over {
		return
	}
	if proc.wear(leak) {
		p.cfg.Logger.Warn("function process grows; it will be replaced", "pid", proc.cmd.Process.Pid, "bytes", resident)
	}
	switch {
	case p.roster.take(proc):
		proc.kill(leak)
	case over:
		proc.while(current, func() { proc.end(memory) }) // a later call is not to blame
	}
}

// replaced kills a process that is to be replaced and owes no answer, and reports whether it did.
func (p *Pool) replaced(proc *process) bool {
	why := proc.wornBy()
	if why == notKilled {
		return false
	}
	p.roster.leave(proc)
	proc.kill(why)
	return true
}
