// Package timerslack reduces how often the Go runtime wakes a process that is busy for less than a millisecond at a
// time. While a thread runs Go code, the runtime's monitor sleeps 20 us at a time (runtime.sysmon); with the kernel's
// default slack of 50 us it wakes fourteen times in a millisecond. The monitor's own work, such as taking processors
// from threads that a system call blocks, then starts up to half a millisecond later. So do timers.
//
// The slack belongs to a thread. Threads and children inherit it, and it survives execve: see prctl(2),
// PR_SET_TIMERSLACK. The monitor's thread exists before main, so a process can only give it slack by executing itself
// again. On other systems than Linux the package does nothing.
//
// Command airlock and package child import it. Start with [Restart].
package timerslack

import "time"

// Slack is how late the kernel may wake a thread that waits for a time.
const Slack = 500 * time.Microsecond

// marker is in the environment of a process that has been executed again, in case the slack did not survive it.
const marker = "AIRLOCK_TIMER_SLACK_SET"
