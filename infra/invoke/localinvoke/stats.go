package localinvoke

import "time"

// Counts are totals since the pool was created.
type Counts struct {
	Executions int64 `json:"executions"` // handed to a process
	Crashed    int64 `json:"crashed"`    // their process ended by itself
	Killed     int64 `json:"killed"`     // their process was killed: deadline, memory, cancelled
}

// Stats is a snapshot of a pool.
type Stats struct {
	Counts
	Waiting   int            `json:"waiting"` // calls that wait for a process
	Processes []ProcessStats `json:"processes"`
}

// ProcessStats describes a place and the process in it. PID is 0 if there is none.
type ProcessStats struct {
	PID        int       `json:"pid"`
	State      string    `json:"state"` // starting, idle, busy, exited
	Started    time.Time `json:"started"`
	Executions int64     `json:"executions"` // of this process
	Restarts   int       `json:"restarts"`   // of this place
	LastExit   string    `json:"lastExit,omitempty"`
	// Heartbeat is the time of the last sample. RSSBytes, CPUSeconds and the share of a processor since the sample
	// before are from then; 0 if the system does not report them.
	Heartbeat  time.Time `json:"heartbeat"`
	RSSBytes   int64     `json:"rssBytes"`
	CPUSeconds float64   `json:"cpuSeconds"`
	CPUShare   float64   `json:"cpuShare"`
	// MemoryTrend holds the last samples of resident memory, oldest first; Leaking is the result of the leak rule.
	MemoryTrend []int64 `json:"memoryTrend"`
	Leaking     bool    `json:"leaking"`
}

// Stats returns a snapshot of the pool.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := Stats{Counts: p.counts, Waiting: p.roster.waitingNow()}
	for _, s := range p.places {
		ps := ProcessStats{State: string(exited), Restarts: s.restarts, LastExit: s.lastExit, MemoryTrend: []int64{}}
		if proc := s.current; proc != nil {
			proc.mu.Lock()
			ps.PID, ps.State = proc.cmd.Process.Pid, string(proc.state)
			ps.Started, ps.Executions = proc.started, proc.executions
			proc.mu.Unlock()
			ps.Heartbeat, ps.RSSBytes = s.trend.at, s.trend.last()
			ps.CPUSeconds, ps.CPUShare = s.trend.cpu.Seconds(), s.trend.share
			ps.MemoryTrend, ps.Leaking = append(ps.MemoryTrend, s.trend.samples...), s.trend.leaks()
		}
		st.Processes = append(st.Processes, ps)
	}
	return st
}

// count counts a call that ended.
func (p *Pool) count(end ending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts.Executions++
	switch {
	case end.crash == "":
	case end.cause == notKilled || end.cause == protocol:
		p.counts.Crashed++
	default:
		p.counts.Killed++
	}
}
