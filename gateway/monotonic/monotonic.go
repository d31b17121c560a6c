// Package monotonic makes clocks that never go back.
//
// With time.Now, whose times carry a monotonic reading, a change of the system's clock is not seen at all. A clock
// without one stands still while it goes back, and continues from there: a duration between two of its times is never
// negative, and never longer because somebody set the clock.
//
// Any package of the gateway may import it.
package monotonic

import (
	"sync"
	"time"
)

// Clock returns a clock that follows now and never goes back. It measures durations and does not tell the time of
// day. It is safe for concurrent use if now is.
func Clock(now func() time.Time) func() time.Time {
	var mu sync.Mutex
	last := now()
	reading := last.Round(0)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at := now()
		if step := at.Sub(last); step > 0 {
			reading = reading.Add(step)
		}
		last = at
		return reading
	}
}

// Elapsed returns a func that returns the time since it was first called. It never goes back. It is safe for
// concurrent use if now is.
func Elapsed(now func() time.Time) func() time.Duration {
	var (
		first sync.Once
		clock func() time.Time
		began time.Time
	)
	return func() time.Duration {
		first.Do(func() {
			clock = Clock(now)
			began = clock()
		})
		return clock().Sub(began)
	}
}
