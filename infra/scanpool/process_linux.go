package scanpool

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// attributes returns a process group of its own, so that a terminal's signals do not reach the worker.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// processor returns the processor time that the worker has used; 0 if it has ended.
func (w *worker) processor() time.Duration {
	const ofProcess = 2 // CPUCLOCK_SCHED of the whole process, as clock_getcpuclockid(3) makes it
	var t unix.Timespec
	if w.ended() || unix.ClockGettime(int32(^w.cmd.Process.Pid<<3|ofProcess), &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// The limits of a worker. It is renewed long before it has used its processor time.
const (
	maxData      = 512 << 20
	maxProcessor = 120 // seconds
	niceness     = 10
)

// Confine limits this process irreversibly: memory, processor time, no written files, and a lower priority than
// processes that serve.
func Confine() error {
	for _, l := range []struct {
		name     string
		resource int
		most     uint64
	}{
		{"memory", unix.RLIMIT_DATA, maxData}, {"processor time", unix.RLIMIT_CPU, maxProcessor},
		{"file size", unix.RLIMIT_FSIZE, 0},
	} {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return fmt.Errorf("limit the %s: %w", l.name, err)
		}
	}
	// For the group, which is this process alone: for a process it would affect one thread.
	if err := unix.Setpriority(unix.PRIO_PGRP, 0, niceness); err != nil {
		return fmt.Errorf("lower the priority: %w", err)
	}
	return nil
}
