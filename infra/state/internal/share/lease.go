package share

import (
	"sync"
	"time"
)

// A Lease says until when a process may begin the jobs that it has claimed. Its heartbeats extend it, and others take
// its jobs over when it has run out. It is safe for concurrent use.
type Lease struct {
	// DeadAfter is how long after a heartbeat a process counts as dead, and Length how long after it a job of the
	// process may begin, by any clock. A third of Length is for clocks that differ.
	DeadAfter, Length time.Duration

	mu     sync.Mutex
	last   time.Time // when the last heartbeat that succeeded was sent
	steady time.Time // since when heartbeats have followed one another
}

// Renew notes a heartbeat that was sent at a time and has succeeded by another. If others may have counted the process
// as dead before that, the jobs that it had claimed may not begin any more.
func (l *Lease) Renew(sent, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// The wall clock goes on while a machine is suspended, and the monotonic one when the wall clock is set.
	gap := max(now.Sub(l.last), now.Round(0).Sub(l.last.Round(0)))
	if l.steady.IsZero() || gap > l.DeadAfter {
		l.steady = now
	}
	l.last = sent
}

// Until returns the latest start of a job that was claimed at a time: one in the past if it may not begin any more.
func (l *Lease) Until(claimed time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if claimed.Before(l.steady) {
		return l.last.Add(-l.Length)
	}
	return l.last.Add(l.Length / 3 * 2)
}
