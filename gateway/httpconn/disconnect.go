package gateway

import (
	"context"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
)

// attached gives a context that ends when the caller hangs up, or when a shutdown runs out of patience. release must be
// called before the connection is used again.
//
// fasthttp reads nothing while a handler runs, so nothing would notice. A goroutine therefore waits for the connection
// to become readable and asks the kernel whether the other side has closed; it takes no byte, because one could belong to
// the next request. As in net/http, a half-closed connection counts as hung up.
func (s *Server) attached(c *fiber.Ctx) (ctx context.Context, release func()) {
	return watch(s.base, c.Context().Conn())
}

func watch(parent context.Context, conn net.Conn) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancel(parent)
	raw := rawConn(conn)
	if raw == nil || conn.SetReadDeadline(time.Time{}) != nil {
		return ctx, cancel
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		gone := false
		err := raw.Read(func(fd uintptr) bool {
			gone = ctx.Err() == nil && hungUp(fd)
			return gone || ctx.Err() != nil
		})
		if gone || err == nil {
			cancel()
		}
	}()
	return ctx, func() {
		cancel()
		// A deadline in the past wakes the goroutine; the server sets its own before it reads on.
		if conn.SetReadDeadline(time.Unix(1, 0)) == nil {
			<-done
			_ = conn.SetReadDeadline(time.Time{}) // fails only on a connection that is closed by now
		}
	}
}
