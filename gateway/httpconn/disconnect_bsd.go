//go:build unix && !linux

package httpconn

import "golang.org/x/sys/unix"

// closedEvents is POLLHUP: these systems report it once the peer has closed.
const closedEvents = unix.POLLHUP
