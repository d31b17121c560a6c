//go:build unix

package httpconn

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

func rawConn(c net.Conn) syscall.RawConn {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// closedByPeer reports whether the other side has closed its end. It does not wait.
func closedByPeer(fd uintptr) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: closedEvents}} // descriptors are small
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(closedEvents|unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0
}
