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

func TestQueueIsIdleWithoutHeldTimers(t *testing.T) {
	var q Queue
	q.Add(1, 10, 10, true)
	q.Add(2, 20, 0, false)
	for _, step := range []struct {
		name string
		do   func()
		idle bool
	}{
		{"one is loose", func() { q.Hold(1, false) }, false},
		{"both are", func() { q.Hold(2, false) }, true},
		{"again", func() { q.Hold(2, false) }, true},
		{"one is held again", func() { q.Hold(1, true) }, false},
		{"the loose one fires", func() { q.Hold(1, false); q.Take(2, 20) }, true},
		{"one is new", func() { q.Add(3, 5, 0, false) }, false},
		{"it has fired", func() { q.Pop(5) }, true},
		{"one takes the place of another", func() { q.Add(1, 5, 5, true) }, false},
		{"none is left", func() { q.Remove(1) }, true},
	} {
		if step.do(); q.Idle() != step.idle {
			t.Errorf("%s: idle is %t", step.name, q.Idle())
		}
	}
	if !q.Empty() {
		t.Error("a timer is still set")
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
