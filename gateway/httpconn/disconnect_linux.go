package httpconn

import "golang.org/x/sys/unix"

// closedEvents is set when the peer has closed its sending side, even while bytes of it are unread.
const closedEvents = unix.POLLRDHUP
