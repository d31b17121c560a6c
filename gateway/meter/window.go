package meter

import (
	"math"
	"slices"
	"time"
)

// memoryBounds are the upper bounds, in bytes, of the histogram of memory; the last bucket has none.
func memoryBounds() []int64 {
	return []int64{1 << 20, 2 << 20, 4 << 20, 8 << 20, 16 << 20, 32 << 20, 64 << 20, 128 << 20, 256 << 20}
}

// Quantiles summarise a set of numbers by the nearest-rank method; all are 0 for an empty one.
type Quantiles struct {
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
}

// Bucket counts the executions that took at most UpTo bytes and more than the bucket before; nil is no bound.
type Bucket struct {
	UpTo  *int64 `json:"upTo"`
	Count int    `json:"count"`
}

// Window describes the executions of the last while.
type Window struct {
	Since time.Time `json:"since"`
	// Count is how many executions are described. Complete is false when there were more than are remembered.
	Count     int     `json:"count"`
	Complete  bool    `json:"complete"`
	PerSecond float64 `json:"perSecond"`
	// SuccessRate is the share that completed, from 0 to 1; 0 for none.
	SuccessRate float64        `json:"successRate"`
	Cached      int            `json:"cached"`
	DurationMs  Quantiles      `json:"durationMs"`
	QueueMs     Quantiles      `json:"queueMs"`
	Memory      []Bucket       `json:"memoryHistogram"`
	ByStatus    map[string]int `json:"byStatus"`
	// Errors counts what did not complete: by the limit that ended it ("limit:memory"), else by what was thrown
	// ("TypeError"), else by its status ("blocked").
	Errors map[string]int `json:"errorCategories"`
}

// Window describes the executions that ended within the last d.
func (m *Meter) Window(d time.Duration) Window {
	m.mu.Lock()
	now := m.now()
	since := now.Add(-d)
	oldestGone := len(m.ring) == kept && m.ring[m.next].At.After(since)
	var samples []Sample
	for _, s := range m.ring {
		if !s.At.Before(since) {
			samples = append(samples, s)
		}
	}
	m.mu.Unlock()

	w := Window{Since: since.UTC(), Count: len(samples), Complete: !oldestGone, ByStatus: map[string]int{}, Errors: map[string]int{}}
	bounds := memoryBounds()
	for i := range bounds {
		w.Memory = append(w.Memory, Bucket{UpTo: &bounds[i]})
	}
	w.Memory = append(w.Memory, Bucket{})
	durations, waits := make([]float64, 0, len(samples)), make([]float64, 0, len(samples))
	for _, s := range samples {
		durations, waits = append(durations, s.DurationMs), append(waits, s.QueueMs)
		w.ByStatus[s.Status]++
		if s.Cached {
			w.Cached++
		}
		if c := category(s); c != "" {
			w.Errors[c]++
		}
		i, _ := slices.BinarySearch(bounds, s.MemoryBytes)
		w.Memory[i].Count++
	}
	w.SuccessRate = float64(w.ByStatus["completed"]) / float64(max(len(samples), 1))
	w.DurationMs, w.QueueMs = quantiles(durations), quantiles(waits)
	if d > 0 {
		w.PerSecond = float64(len(samples)) / d.Seconds()
	}
	return w
}

func category(s Sample) string {
	switch {
	case s.Status == "completed":
		return ""
	case s.Limit != "":
		return "limit:" + s.Limit
	case s.Exception != "":
		return s.Exception
	}
	return s.Status
}

func quantiles(v []float64) Quantiles {
	if len(v) == 0 {
		return Quantiles{}
	}
	slices.Sort(v)
	rank := func(p float64) float64 { return v[int(math.Ceil(p*float64(len(v))))-1] }
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return Quantiles{rank(.50), rank(.95), rank(.99), sum / float64(len(v)), v[len(v)-1]}
}
