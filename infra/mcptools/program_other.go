//go:build !unix

package mcptools

import (
	"os"
	"syscall"
)

const (
	terminate = syscall.SIGTERM
	kill      = syscall.SIGKILL
)

// signalGroup ends a process: this system has no groups.
func signalGroup(p *os.Process, _ syscall.Signal) { _ = p.Kill() }

func ownGroup() *syscall.SysProcAttr { return nil }
