//go:build unix

package invoketest

import "syscall"

// freeze stops this process: not one instruction of it runs any more.
func freeze() {
	// A process may always signal itself.
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP)
	select {}
}
