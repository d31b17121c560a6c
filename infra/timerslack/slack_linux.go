package timerslack

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// kernelDefault is the slack of a thread that nobody gave another one (Linux, init/init_task.c).
const kernelDefault = 50 * time.Microsecond

// SetThread sets the timer slack of this thread, which its children inherit.
func SetThread() error {
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(Slack.Nanoseconds()), 0, 0, 0); err != nil {
		return fmt.Errorf("set the timer slack: %w", err)
	}
	return nil
}

// Restart executes this program again with the slack, with the same process ID, arguments and files. It does nothing
// and returns nil if it has already done so, or if the process was started with another slack than the kernel's
// default. If it fails, the process goes on as it is. Call it before the process has opened or started anything.
func Restart() error {
	if os.Getenv(marker) != "" {
		return os.Unsetenv(marker)
	}
	runtime.LockOSThread() // the thread that calls execve passes on its slack
	defer runtime.UnlockOSThread()
	now, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		return fmt.Errorf("read the timer slack: %w", err)
	}
	if time.Duration(now) != kernelDefault {
		return nil
	}
	path, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the program's file: %w", err)
	}
	if err := SetThread(); err != nil {
		return err
	}
	err = unix.Exec(path, os.Args, append(os.Environ(), marker+"=1"))
	// Only a failure returns. 0 restores the thread's default.
	if undo := unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0); undo != nil {
		return fmt.Errorf("execute %s again: %w; restore the timer slack: %w", path, err, undo)
	}
	return fmt.Errorf("execute %s again: %w", path, err)
}
