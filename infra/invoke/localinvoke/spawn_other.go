//go:build !linux

package localinvoke

import (
	"os"
	"syscall"
)

// attributes has nothing to add here: a function process ends by itself when its standard input does.
func attributes() *syscall.SysProcAttr { return nil }

// awaitExit leaves the waiting to whoever reaps the process.
func awaitExit(int) {}

// killGroup kills a process. The only failure is that it has ended.
func killGroup(p *os.Process) { _ = p.Kill() }
