//go:build !unix

package httpconn

import (
	"net"
	"syscall"
)

// rawConn returns nil: on these systems a run continues when its caller hangs up.
func rawConn(net.Conn) syscall.RawConn { return nil }

func closedByPeer(uintptr) bool { return false }
