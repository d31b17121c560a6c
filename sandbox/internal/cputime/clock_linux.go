package cputime

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Clock sums the processor time that the thread of a goroutine spends between Enter and Leave.
type Clock struct {
	sum, since time.Duration
	inside     bool
}

// Enter begins to count, and binds the goroutine to its thread.
func (c *Clock) Enter() {
	runtime.LockOSThread()
	c.since, c.inside = threadTime(), true
}

// Leave ends what Enter began.
func (c *Clock) Leave() {
	c.sum += threadTime() - c.since
	c.inside = false
	runtime.UnlockOSThread()
}

// Used returns the sum. Between Enter and Leave it must be called on the same goroutine.
func (c *Clock) Used() time.Duration {
	if c.inside {
		return c.sum + threadTime() - c.since
	}
	return c.sum
}

func threadTime() time.Duration { return timeOf(unix.CLOCK_THREAD_CPUTIME_ID) }

// Add counts time that was spent elsewhere.
func (c *Clock) Add(d time.Duration) { c.sum += d }

// Process returns the processor time of the whole process.
func Process() time.Duration { return timeOf(unix.CLOCK_PROCESS_CPUTIME_ID) }

func timeOf(clock int32) time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(clock, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// Of returns the processor time of another process, 0 if it has ended. It costs one system call and no file.
func Of(pid int) time.Duration { return timeOf(int32(^pid)<<3 | ofProcess) }

// ofProcess is CPUCLOCK_SCHED of the kernel: with the inverted ID of a process above it, the clock that
// clock_getcpuclockid(3) returns.
const ofProcess = 2
