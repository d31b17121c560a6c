package child

import (
	"time"

	"golang.org/x/sys/unix"
)

const (
	// slack is how late the kernel may wake a child that waits for a time. The Go runtime of a busy child wakes every
	// 20 us to watch its threads, which costs executions of a millisecond a tenth of their processor time.
	slack = 500 * time.Microsecond
	// niceness is the priority of children, relative to this process: guests must not delay those who serve others.
	niceness = 2
)

// setSchedule sets the timer slack and the niceness of this thread, which its children inherit. The niceness cannot be
// undone without a privilege. A call that fails only leaves the cost that it avoids.
func setSchedule() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack.Nanoseconds()), 0, 0, 0)
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), nice()+niceness)
}

// nice returns the niceness of this thread; 0 if the kernel does not say.
func nice() int {
	// The system call returns 20 minus the niceness, which is never negative.
	v, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return 0
	}
	return 20 - v
}
