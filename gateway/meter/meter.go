package meter

import (
	"maps"
	"sync"
)

// A Sample is one finished execution.
type Sample struct {
	Status string
	Limit  string // "" when none ended the run
	Policy string
	Engine string
	// EngineBuild is empty if nothing ran.
	EngineBuild string
	Cached      bool
	DurationMs  float64
}

// Totals are counts since the start.
type Totals struct {
	Executions int64            `json:"executions"`
	Cached     int64            `json:"cached"`
	ByStatus   map[string]int64 `json:"byStatus"`
	ByPolicy   map[string]int64 `json:"byPolicy"`
	ByEngine   map[string]int64 `json:"byEngine"`
	// ByEngineBuild counts executions that ran, by the build of their engine.
	ByEngineBuild map[string]int64 `json:"byEngineBuild"`
	ByLimit       map[string]int64 `json:"byLimit"`
	// Refused counts problem documents, by code.
	Refused map[string]int64 `json:"refused"`
	// AverageDurationMs is over all executions.
	AverageDurationMs float64 `json:"averageDurationMs"`
}

// A Meter counts. It is safe for concurrent use.
type Meter struct {
	mu       sync.Mutex
	totals   Totals
	duration float64 // of all executions, in milliseconds
	// durations counts executions by durationBounds; the last element counts those beyond all bounds.
	durations []uint64
}

// New returns a meter.
func New() *Meter {
	return &Meter{durations: make([]uint64, len(durationBounds())+1), totals: Totals{
		ByStatus: map[string]int64{}, ByPolicy: map[string]int64{}, ByEngine: map[string]int64{},
		ByEngineBuild: map[string]int64{},
		ByLimit:       map[string]int64{}, Refused: map[string]int64{},
	}}
}

// Observe counts one execution. Its strings must be from small sets, because each gets a counter of its own.
func (m *Meter) Observe(s Sample) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.totals.Executions++
	m.totals.ByStatus[s.Status]++
	m.totals.ByPolicy[s.Policy]++
	m.totals.ByEngine[s.Engine]++
	if s.EngineBuild != "" {
		m.totals.ByEngineBuild[s.EngineBuild]++
	}
	if s.Limit != "" {
		m.totals.ByLimit[s.Limit]++
	}
	if s.Cached {
		m.totals.Cached++
	}
	m.duration += s.DurationMs
	m.durations[bucketOf(s.DurationMs)]++
}

// Refuse counts one problem document.
func (m *Meter) Refuse(code string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.totals.Refused[code]++
}

// Totals returns the counts so far.
func (m *Meter) Totals() Totals {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.totals
	t.ByStatus, t.ByPolicy, t.ByEngine = maps.Clone(t.ByStatus), maps.Clone(t.ByPolicy), maps.Clone(t.ByEngine)
	t.ByEngineBuild = maps.Clone(t.ByEngineBuild)
	t.ByLimit, t.Refused = maps.Clone(t.ByLimit), maps.Clone(t.Refused)
	if t.Executions > 0 {
		t.AverageDurationMs = m.duration / float64(t.Executions)
	}
	return t
}
