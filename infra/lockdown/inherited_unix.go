//go:build unix

package lockdown

import (
	"os"
	"strconv"
	"syscall"
)

// KeepDescriptors keeps the descriptors that this process was given, other than standard input and outputs, from the
// programs that it starts. A shell or a supervisor may have left some open, and a sealed process can write to what it
// inherits.
func KeepDescriptors() {
	const most = 1024 // are looked at where the system does not list them
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		for fd := 3; fd < most; fd++ {
			syscall.CloseOnExec(fd)
		}
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
