//go:build !linux

package scanpool

import (
	"syscall"
	"time"
)

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// processor returns 0: only the clock stops a task on this system.
func (w *worker) processor() time.Duration { return 0 }

// Confine does nothing on this system.
func Confine() error { return nil }
