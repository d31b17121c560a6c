package timers

import (
	"slices"
	"testing"
	"time"
)

func TestQueue(t *testing.T) {
	var q Queue
	q.Add(1, 30, 0, false)
	q.Add(2, 10, 10, true)
	q.Add(3, 10, 0, false)
	q.Add(4, 20, 0, false)
	q.Add(1, 5, 0, false) // in place of the first
	q.Remove(4)
	q.Remove(9)
	var fired []int32
	for now := time.Duration(0); len(fired) < 3; now = q.Next() {
		fired = append(fired, q.Pop(now))
	}
	if !slices.Equal(fired, []int32{1, 2, 3}) || q.Empty() {
		t.Errorf("fired %v", fired)
	}
	if due, ok := q.Take(2, 50); !ok || due <= 10 || q.Next() <= due {
		t.Errorf("the repeating timer was due at %v, %v, and is due again at %v", due, ok, q.Next())
	}
	q.Remove(2)
	if _, ok := q.Take(2, 50); ok || !q.Empty() {
		t.Error("the timer is still set")
	}
}

func TestQueueIsBounded(t *testing.T) {
	var q Queue
	for id := range int32(2 * maxTimers) {
		q.Add(id, 1, 1, true)
	}
	if len(q.byID) > maxTimers {
		t.Errorf("%d timers are set", len(q.byID))
	}
}
