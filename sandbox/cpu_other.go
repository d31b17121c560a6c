//go:build !linux

package sandbox

import "time"

// cpuClock sums the time between enter and leave: without a per-thread clock, wall time inside the guest stands in.
type cpuClock struct {
	sum    time.Duration
	since  time.Time
	inside bool
}

func (c *cpuClock) enter() { c.since, c.inside = time.Now(), true }

func (c *cpuClock) leave() {
	c.sum += time.Since(c.since)
	c.inside = false
}

func (c *cpuClock) used() time.Duration {
	if c.inside {
		return c.sum + time.Since(c.since)
	}
	return c.sum
}

// processTime stands in for the processor time of the process.
func processTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
