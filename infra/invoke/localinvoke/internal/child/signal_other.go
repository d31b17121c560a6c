//go:build !linux

package child

import (
	"os"
	"syscall"
)

// Attributes returns nil.
func Attributes() *syscall.SysProcAttr { return nil }

// AwaitExit returns at once; reaping the process waits for it.
func AwaitExit(int) {}

// KillGroup kills a process. The only possible error is that it has ended.
func KillGroup(p *os.Process) { _ = p.Kill() }
