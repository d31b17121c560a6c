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

// A timer without a delay is as one of a millisecond to those before it, and runs when its turn comes. What is to run
// immediately precedes all timers, except before the first of them.
func TestQueueOrdersShortTimersAsNode(t *testing.T) {
	const ms = time.Millisecond
	var q Queue
	q.Add(1, ms, ms, false)
	q.AddImmediate(2, 0)
	q.Add(3, 0, 0, false)
	q.Add(4, 2*ms, 2*ms, false)
	var fired []int32
	pop := func() { fired = append(fired, q.Pop(ms)) }
	pop()
	if next := q.Next(); next != 0 {
		t.Errorf("the timer without a delay is due at %v", next)
	}
	var again Queue
	again.Restore(ms, q.States(ms))
	for _, want := range []int32{3, 2, 4} {
		if id := again.Pop(ms); id != want {
			t.Errorf("restored, %d fired in place of %d", id, want)
		}
	}
	q.Add(5, ms, 0, false)
	q.AddImmediate(6, ms)
	for !q.Empty() {
		pop()
	}
	if want := []int32{1, 3, 6, 2, 4, 5}; !slices.Equal(fired, want) {
		t.Errorf("fired %v, want %v", fired, want)
	}
}
