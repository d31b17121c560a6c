package mcptools

import "syscall"

// ownGroup returns a process group of its own, for a process that ends with the thread that starts it.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
