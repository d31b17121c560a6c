//go:build !linux

package scanpool

import (
	"syscall"
	"time"
)

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// processor is not known here: the clock alone stops a task.
func (w *worker) processor() time.Duration { return 0 }

// Confine does nothing here.
func Confine() error { return nil }
