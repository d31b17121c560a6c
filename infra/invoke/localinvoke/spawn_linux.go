package localinvoke

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes put a function process in a group of its own, so that a signal from the terminal does not reach it, and
// have the kernel kill it when we die.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitExit returns when pid has ended, and leaves it to be reaped.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// killGroup kills a process that has not been reaped, and everything it started.
func killGroup(p *os.Process) {
	// The only failure is that nothing is left to kill.
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
}
