package child

import (
	"time"

	"golang.org/x/sys/unix"
)

// slack is how late the kernel may wake a child that waits for a time.
const slack = 500 * time.Microsecond

// setSlack sets the timer slack of this thread, which its children inherit. The Go runtime of a busy child wakes every
// 20 us to watch its threads, which costs executions of a millisecond a tenth of their processor time. A failure of the
// call only leaves that cost.
func setSlack() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack.Nanoseconds()), 0, 0, 0) }

// resetSlack undoes setSlack.
func resetSlack() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) }
