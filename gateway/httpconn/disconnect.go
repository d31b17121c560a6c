package httpconn

import (
	"context"
	"net"
	"time"
)

// unwatched is how long a request goes without the goroutine that DisconnectContext starts. Most requests end sooner.
const unwatched = 10 * time.Millisecond

// DisconnectContext returns a context that ends with parent, or when the other side of the connection hangs up. release
// must be called before the connection is used again.
//
// fasthttp does not read while a handler runs, so it does not notice. A goroutine therefore waits until the
// connection is readable and asks the kernel whether the other side has closed it. The goroutine takes no byte,
// because that byte could belong to the next request. As in net/http, a half-closed connection counts as closed.
//
// The goroutine starts a few milliseconds after the request, and then notices at once a peer that has hung up before.
func DisconnectContext(parent context.Context, c net.Conn) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancel(parent)
	raw := rawConn(c)
	if raw == nil || c.SetReadDeadline(time.Time{}) != nil {
		return ctx, cancel
	}
	done := make(chan struct{})
	watch := time.AfterFunc(unwatched, func() {
		defer close(done)
		gone := false
		err := raw.Read(func(fd uintptr) bool {
			gone = ctx.Err() == nil && closedByPeer(fd)
			return gone || ctx.Err() != nil
		})
		if gone || err == nil {
			cancel()
		}
	})
	return ctx, func() {
		cancel()
		if watch.Stop() {
			close(done)
			return
		}
		// A deadline in the past wakes the goroutine. The server sets its own before it reads on.
		if c.SetReadDeadline(time.Unix(1, 0)) == nil {
			<-done
			_ = c.SetReadDeadline(time.Time{}) // fails only on a closed connection
		}
	}
}

// ExtendWrite allows the next write to take d. On a closed connection it does nothing, and the write fails.
func ExtendWrite(c net.Conn, d time.Duration) { _ = c.SetWriteDeadline(time.Now().Add(d)) }
