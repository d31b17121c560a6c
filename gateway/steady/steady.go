// Package steady makes a clock that never goes back.
package steady

import (
	"sync"
	"time"
)

// Clock returns a clock that goes as now does, but stands still while now goes back, and goes on from there: what is measured
// between two of its times is never negative, and never longer because somebody set the clock. With time.Now, whose times
// carry a monotonic reading, it does not jump ahead either. It is safe for concurrent use if now is. It tells durations, not
// the time of day.
func Clock(now func() time.Time) func() time.Time {
	var mu sync.Mutex
	last := now()
	told := last.Round(0)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at := now()
		if step := at.Sub(last); step > 0 {
			told = told.Add(step)
		}
		last = at
		return told
	}
}
