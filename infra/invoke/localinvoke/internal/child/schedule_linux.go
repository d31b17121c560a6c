package child

import (
	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/infra/timerslack"
)

// niceness is the priority of children, relative to this process: guests must not delay those who serve others.
const niceness = 2

// setSchedule sets the timer slack and the niceness of this thread, which its children inherit. The niceness cannot be
// undone without a privilege. A call that fails only leaves the cost that it avoids.
func setSchedule() {
	_ = timerslack.SetThread()
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
