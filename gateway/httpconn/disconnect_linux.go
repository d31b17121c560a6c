package gateway

import "golang.org/x/sys/unix"

// closedEvents is set when the peer has shut its sending side, even while bytes of it are still unread.
const closedEvents = unix.POLLRDHUP
