package sandbox

import (
	"container/heap"
	"time"
)

// maxTimers bounds what a guest can make the host remember; the library refuses one more before that.
const maxTimers = 10_000

// timer is due at a time since the run's start. Timers due at the same time fire in the order in which they were set.
type timer struct {
	id     int32
	due    time.Duration
	period time.Duration
	repeat bool
	seq    int64
	index  int
}

type timers struct {
	queue timerQueue
	byID  map[int32]*timer
	seq   int64
}

func (t *timers) add(id int32, due, period time.Duration, repeat bool) {
	if t.byID == nil {
		t.byID = make(map[int32]*timer)
	}
	t.remove(id)
	if len(t.byID) >= maxTimers {
		return
	}
	t.seq++
	x := &timer{id: id, due: due, period: max(period, time.Millisecond), repeat: repeat, seq: t.seq}
	t.byID[id] = x
	heap.Push(&t.queue, x)
}

func (t *timers) remove(id int32) {
	if x, ok := t.byID[id]; ok {
		delete(t.byID, id)
		heap.Remove(&t.queue, x.index)
	}
}

func (t *timers) empty() bool { return len(t.queue) == 0 }

// next gives when the earliest timer is due.
func (t *timers) next() time.Duration { return t.queue[0].due }

// pop takes the earliest timer; a repeating one is set again.
func (t *timers) pop(now time.Duration) int32 {
	x := t.queue[0]
	if x.repeat {
		t.seq++
		x.due, x.seq = now+x.period, t.seq
		heap.Fix(&t.queue, 0)
		return x.id
	}
	delete(t.byID, x.id)
	heap.Pop(&t.queue)
	return x.id
}

type timerQueue []*timer

func (q timerQueue) Len() int { return len(q) }

func (q timerQueue) Less(i, j int) bool {
	if q[i].due != q[j].due {
		return q[i].due < q[j].due
	}
	return q[i].seq < q[j].seq
}

func (q timerQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q *timerQueue) Push(x any) {
	t := x.(*timer)
	t.index = len(*q)
	*q = append(*q, t)
}

func (q *timerQueue) Pop() any {
	old := *q
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return t
}

// take takes the timer id when it fires out of turn; due is when it was to. A repeating one is set again.
func (t *timers) take(id int32, now time.Duration) (due time.Duration, ok bool) {
	x := t.byID[id]
	if x == nil {
		return 0, false
	}
	due = x.due
	if x.repeat {
		t.seq++
		x.due, x.seq = max(now, due)+x.period, t.seq
		heap.Fix(&t.queue, x.index)
		return due, true
	}
	t.remove(id)
	return due, true
}
