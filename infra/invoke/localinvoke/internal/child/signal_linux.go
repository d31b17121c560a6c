package child

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Attributes returns the attributes of a child: a process group of its own, so that a terminal's signals do not reach
// it, and death when its parent dies.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// AwaitExit returns when pid has ended. It does not reap the process.
func AwaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// KillGroup kills a process that has not been reaped and everything that it started.
func KillGroup(p *os.Process) {
	// The only failure is that nothing is left to kill.
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
}
