package timers

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// maxTimers bounds what a guest can make the host remember. The library refuses one more before that.
const maxTimers = 10_000

// timer is due at a time since the run's start. Timers whose turn is at the same time fire in the order in which they
// were set.
type timer struct {
	id     int32
	due    time.Duration
	turn   time.Duration // orders the timers; later than due if it fires as soon as none precedes it
	period time.Duration
	repeat bool
	loose  bool // unreferenced
	seq    int64
	index  int
}

// Queue is a set of timers. Its zero value is empty.
type Queue struct {
	due  dueHeap
	byID map[int32]*timer
	seq  int64
	// loose is how many of the timers nobody waits for.
	loose int
	fired bool // a timer has fired
}

// Add sets the timer id and replaces an earlier one of that id. A repeating timer is due again every period. As in
// Node, a timer without a delay is behind those of a millisecond that were set before it, but it does not wait for its
// own.
func (t *Queue) Add(id int32, due, period time.Duration, repeat bool) {
	turn := due
	if period < time.Millisecond {
		turn += time.Millisecond
	}
	t.add(id, due, turn, period, repeat)
}

// AddImmediate sets the timer id for what runs before all timers: as in Node, behind those of a millisecond if none has
// fired yet.
func (t *Queue) AddImmediate(id int32, now time.Duration) {
	turn := now
	if !t.fired {
		turn += 2 * time.Millisecond
	}
	t.add(id, now, turn, 0, false)
}

func (t *Queue) add(id int32, due, turn, period time.Duration, repeat bool) {
	if t.byID == nil {
		t.byID = make(map[int32]*timer)
	}
	t.Remove(id)
	if len(t.byID) >= maxTimers {
		return
	}
	t.seq++
	x := &timer{id: id, due: due, turn: turn, period: max(period, time.Millisecond), repeat: repeat, seq: t.seq}
	t.byID[id] = x
	heap.Push(&t.due, x)
}

// Remove clears the timer id.
func (t *Queue) Remove(id int32) {
	if x, ok := t.byID[id]; ok {
		t.Hold(id, true)
		delete(t.byID, id)
		heap.Remove(&t.due, x.index)
	}
}

// Hold sets whether the timer id keeps the queue from being idle. A new timer does.
func (t *Queue) Hold(id int32, holds bool) {
	x, ok := t.byID[id]
	if !ok || x.loose == !holds {
		return
	}
	if x.loose = !holds; x.loose {
		t.loose++
	} else {
		t.loose--
	}
}

// Idle reports whether no timer is set but those that nobody waits for.
func (t *Queue) Idle() bool { return len(t.due) == t.loose }

// Empty reports whether no timer is set.
func (t *Queue) Empty() bool { return len(t.due) == 0 }

// Next returns when the timer is due whose turn it is. The queue must not be empty.
func (t *Queue) Next() time.Duration { return t.due[0].due }

// Pop removes the timer whose turn it is and returns its id. A repeating timer is set again.
func (t *Queue) Pop(now time.Duration) int32 {
	x := t.due[0]
	t.fired = true
	if x.repeat {
		t.seq++
		x.due, x.seq = now+x.period, t.seq
		x.turn = x.due
		heap.Fix(&t.due, 0)
		return x.id
	}
	t.Remove(x.id)
	return x.id
}

// Take removes the timer id out of turn and returns when it was due. A repeating timer is set again.
func (t *Queue) Take(id int32, now time.Duration) (due time.Duration, ok bool) {
	x := t.byID[id]
	if x == nil {
		return 0, false
	}
	due, t.fired = x.due, true
	if x.repeat {
		t.seq++
		x.due, x.seq = max(now, due)+x.period, t.seq
		x.turn = x.due
		heap.Fix(&t.due, x.index)
		return due, true
	}
	t.Remove(id)
	return due, true
}

// Once reports whether a timer that fires once is set, other than those that nobody waits for.
func (t *Queue) Once() bool {
	for _, x := range t.due {
		if !x.repeat && !x.loose {
			return true
		}
	}
	return false
}

// State is a timer that is due In from now.
type State struct {
	ID            int32
	In, Period    time.Duration
	Repeat, Loose bool
}

// States returns the timers in the order in which they fire.
func (t *Queue) States(now time.Duration) []State {
	all := slices.Clone(t.due)
	slices.SortFunc(all, func(a, b *timer) int { return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(a.seq, b.seq)) })
	var out []State
	for _, x := range all {
		out = append(out, State{x.id, x.due - now, x.period, x.repeat, x.loose})
	}
	return out
}

// Restore sets timers that States returned. They fire in that order.
func (t *Queue) Restore(now time.Duration, states []State) {
	var turn time.Duration
	for _, s := range states {
		turn = max(turn, now+s.In)
		t.add(s.ID, now+s.In, turn, s.Period, s.Repeat)
		t.Hold(s.ID, !s.Loose)
	}
}

// dueHeap orders timers for container/heap.
type dueHeap []*timer

func (q dueHeap) Len() int { return len(q) }

func (q dueHeap) Less(i, j int) bool {
	if q[i].turn != q[j].turn {
		return q[i].turn < q[j].turn
	}
	return q[i].seq < q[j].seq
}

func (q dueHeap) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q *dueHeap) Push(x any) {
	t := x.(*timer)
	t.index = len(*q)
	*q = append(*q, t)
}

func (q *dueHeap) Pop() any {
	old := *q
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return t
}
