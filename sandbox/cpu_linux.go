package sandbox

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// cpuClock sums the processor time that a goroutine's thread spends between enter and leave.
type cpuClock struct {
	sum, since time.Duration
	inside     bool
}

func (c *cpuClock) enter() {
	runtime.LockOSThread()
	c.since, c.inside = threadTime(), true
}

func (c *cpuClock) leave() {
	c.sum += threadTime() - c.since
	c.inside = false
	runtime.UnlockOSThread()
}

// used may be called inside, on the same goroutine, and outside.
func (c *cpuClock) used() time.Duration {
	if c.inside {
		return c.sum + threadTime() - c.since
	}
	return c.sum
}

func threadTime() time.Duration { return timeOf(unix.CLOCK_THREAD_CPUTIME_ID) }

// processTime is the processor time of the whole process.
func processTime() time.Duration { return timeOf(unix.CLOCK_PROCESS_CPUTIME_ID) }

func timeOf(clock int32) time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(clock, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
