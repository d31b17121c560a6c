package meter

import (
	"maps"
	"sync"
	"time"
)

// kept is how many executions are remembered one by one; at 100 a second that is a bit more than a minute and a half.
const kept = 10_000

// Sample is one finished execution.
type Sample struct {
	At          time.Time
	Status      string
	Limit       string // "" when none ended the run
	Exception   string // name of what was thrown
	Policy      string
	Engine      string
	Cached      bool
	DurationMs  float64
	QueueMs     float64
	MemoryBytes int64
}

// Totals are counts since the start.
type Totals struct {
	Executions int64            `json:"executions"`
	Cached     int64            `json:"cached"`
	ByStatus   map[string]int64 `json:"byStatus"`
	ByPolicy   map[string]int64 `json:"byPolicy"`
	ByEngine   map[string]int64 `json:"byEngine"`
	ByLimit    map[string]int64 `json:"byLimit"`
	// Refused counts answers that were problems, by code.
	Refused map[string]int64 `json:"refused"`
	// AverageDurationMs is over all executions.
	AverageDurationMs float64 `json:"averageDurationMs"`
}

// Meter counts. It is safe for concurrent use.
type Meter struct {
	now func() time.Time

	mu       sync.Mutex
	totals   Totals
	duration float64 // of all executions, in milliseconds
	// durations counts executions by durationBounds; the last is beyond them all.
	durations []uint64
	ring      []Sample
	next      int
}

// New makes a meter that tells the time by now.
func New(now func() time.Time) *Meter {
	return &Meter{now: now, durations: make([]uint64, len(durationBounds())+1), totals: Totals{
		ByStatus: map[string]int64{}, ByPolicy: map[string]int64{}, ByEngine: map[string]int64{},
		ByLimit: map[string]int64{}, Refused: map[string]int64{},
	}}
}

// Observe counts one execution. Its strings must be from small sets: each gets a counter of its own.
func (m *Meter) Observe(s Sample) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.At = m.now()
	m.totals.Executions++
	m.totals.ByStatus[s.Status]++
	m.totals.ByPolicy[s.Policy]++
	m.totals.ByEngine[s.Engine]++
	if s.Limit != "" {
		m.totals.ByLimit[s.Limit]++
	}
	if s.Cached {
		m.totals.Cached++
	}
	m.duration += s.DurationMs
	m.durations[bucketOf(s.DurationMs)]++
	if len(m.ring) < kept {
		m.ring = append(m.ring, s)
		return
	}
	m.ring[m.next] = s
	m.next = (m.next + 1) % kept
}

// Refuse counts one answer that was a problem.
func (m *Meter) Refuse(code string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.totals.Refused[code]++
}

// Totals gives the counts so far.
func (m *Meter) Totals() Totals {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.totals
	t.ByStatus, t.ByPolicy, t.ByEngine = maps.Clone(t.ByStatus), maps.Clone(t.ByPolicy), maps.Clone(t.ByEngine)
	t.ByLimit, t.Refused = maps.Clone(t.ByLimit), maps.Clone(t.Refused)
	if t.Executions > 0 {
		t.AverageDurationMs = m.duration / float64(t.Executions)
	}
	return t
}
