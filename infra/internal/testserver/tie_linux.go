package testserver

import (
	"os/exec"
	"syscall"
)

// tie makes the kernel end a process with the thread that starts it. The signal is SIGQUIT: Postgres ends at once.
func tie(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT
}
