package testserver

import (
	"os/exec"
	"runtime"
)

// Start starts a command and returns a channel that gets the result of its Wait and is then closed. On Linux the kernel
// ends the process when the thread that started it ends, which the Go runtime may do to any thread. So the thread that
// starts it is locked until the process has ended.
func Start(cmd *exec.Cmd) (ended <-chan error, err error) {
	started, result := make(chan error), make(chan error, 1)
	tie(cmd)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			result <- cmd.Wait()
			close(result)
		}
	}()
	return result, <-started
}
