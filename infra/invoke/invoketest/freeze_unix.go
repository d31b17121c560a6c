//go:build unix

package invoketest

import "syscall"

// freeze stops this process.
func freeze() {
	// A process may always signal itself.
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP)
	select {}
}
