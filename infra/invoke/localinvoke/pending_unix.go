//go:build unix

package localinvoke

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// pending returns the pending error of a connection that nobody has read; nil if there is none or it is unknown.
func pending(c net.Conn) error {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	errno := 0
	if raw.Control(func(fd uintptr) { errno, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR) }) != nil ||
		err != nil || errno == 0 {
		return nil
	}
	return syscall.Errno(errno)
}
