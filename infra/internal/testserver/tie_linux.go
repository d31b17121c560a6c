package testserver

import (
	"os/exec"
	"syscall"
)

// tie makes the kernel end a process with the thread that starts it, by the signal that the command names or SIGKILL.
func tie(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	if cmd.SysProcAttr.Pdeathsig == 0 {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
}
