//go:build unix

package mcptools

import (
	"os"
	"syscall"
)

const (
	terminate = syscall.SIGTERM
	kill      = syscall.SIGKILL
)

// signalGroup signals every process in the group of a process. There may be none left.
func signalGroup(p *os.Process, s syscall.Signal) { _ = syscall.Kill(-p.Pid, s) }
