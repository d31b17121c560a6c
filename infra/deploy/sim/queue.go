package main

import (
	"container/heap"
	"math/rand/v2"
	"slices"
)

// model is one function behind a bounded first-come queue. Times are seconds.
type model struct {
	rate    float64 // executions a second, Poisson
	seconds float64 // how long arrivals go on
	warmup  float64 // arrivals before this are run and not counted
	limit   int     // environments at most: reserved or account concurrency
	burst   int     // environments that can start at once …
	refill  float64 // … and how many more each second
	idle    float64 // an environment unused for this long is taken away
	queue   int     // executions that may wait; the next is refused
	patient float64 // an execution that waited this long is refused
	start   func(*rand.Rand) float64
	serve   func(*rand.Rand) float64
}

// stats is what came of one simulation. Latencies are of executions that ran: waiting, starting and serving.
type stats struct {
	arrived, served, refused, cold int
	peak                           int // environments
	waitMean                       float64
	latency                        []float64 // sorted
}

// at gives a percentile of latency in seconds, by nearest rank.
func (s stats) at(percentile float64) float64 {
	if len(s.latency) == 0 {
		return 0
	}
	rank := int(percentile/100*float64(len(s.latency))+0.5) - 1
	return s.latency[min(max(rank, 0), len(s.latency)-1)]
}

// ends is a heap of the times at which busy environments become free.
type ends []float64

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i] < e[j] }
func (e ends) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *ends) Push(x any)        { *e = append(*e, x.(float64)) }
func (e *ends) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

// run is the state of a simulation.
type run struct {
	model
	random  *rand.Rand
	now     float64
	busy    ends
	free    []float64 // when each idle environment was last used; the latest is taken first, as Lambda seems to
	waiting []float64 // arrival times
	tokens  float64   // environments that may start now
	filled  float64   // when tokens was last brought up to date
	stats   stats
}

// simulate plays one model. It is a function of model and seed.
func simulate(m model, seed uint64) stats {
	r := &run{model: m, random: rand.New(rand.NewPCG(seed, 0)), tokens: float64(m.burst)}
	next := r.random.ExpFloat64() / m.rate
	for next < m.seconds || len(r.busy) > 0 {
		if len(r.busy) > 0 && (next >= m.seconds || r.busy[0] <= next) {
			r.now = heap.Pop(&r.busy).(float64)
			r.free = append(r.free, r.now)
		} else {
			r.now = next
			r.arrive()
			next += r.random.ExpFloat64() / m.rate
		}
		r.begin()
	}
	r.stats.refused += r.counted(r.waiting)
	r.stats.waitMean /= float64(max(r.stats.served, 1))
	slices.Sort(r.stats.latency)
	return r.stats
}

func (r *run) counted(arrivals []float64) (n int) {
	for _, at := range arrivals {
		if at >= r.warmup {
			n++
		}
	}
	return n
}

func (r *run) arrive() {
	if r.now >= r.warmup {
		r.stats.arrived++
	}
	r.waiting = append(r.waiting, r.now)
}

// begin starts waiting executions for as long as there are environments for them, then sends away what cannot wait.
func (r *run) begin() {
	expired := 0
	for expired < len(r.free) && r.now-r.free[expired] > r.idle {
		expired++
	}
	r.free = r.free[expired:]
	for len(r.waiting) > 0 {
		arrived := r.waiting[0]
		if r.now-arrived > r.patient {
			r.stats.refused += r.counted(r.waiting[:1])
			r.waiting = r.waiting[1:]
			continue
		}
		delay, ok := r.environment()
		if !ok {
			break
		}
		r.waiting = r.waiting[1:]
		took := delay + r.serve(r.random)
		heap.Push(&r.busy, r.now+took)
		r.stats.peak = max(r.stats.peak, len(r.busy)+len(r.free))
		if arrived >= r.warmup {
			r.stats.served++
			r.stats.waitMean += r.now - arrived
			r.stats.latency = append(r.stats.latency, r.now-arrived+took)
			if delay > 0 {
				r.stats.cold++
			}
		}
	}
	if over := len(r.waiting) - r.queue; over > 0 {
		r.stats.refused += r.counted(r.waiting[r.queue:])
		r.waiting = r.waiting[:r.queue]
	}
}

// environment takes an idle one, or starts one within the limits, and gives how long that takes.
func (r *run) environment() (float64, bool) {
	if n := len(r.free); n > 0 {
		r.free = r.free[:n-1]
		return 0, true
	}
	r.tokens = min(float64(r.burst), r.tokens+(r.now-r.filled)*r.refill)
	r.filled = r.now
	if len(r.busy) >= r.limit || r.tokens < 1 {
		return 0, false
	}
	r.tokens--
	return r.start(r.random), true
}
