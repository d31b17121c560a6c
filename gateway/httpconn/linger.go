package gateway

import (
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// A request refused before its body was read leaves bytes that nobody takes. Closing such a connection makes the kernel
// reset it, and a reset can overtake the answer: the caller would see a broken pipe where a 413 was sent. So the answer is
// ended first and what still comes is thrown away for a while, as nginx's lingering_close does (with 5 and 30 seconds).
const (
	lingerIdle  = 2 * time.Second  // without a byte
	lingerTotal = 10 * time.Second // with however many
)

// lingerer is a connection that can be told to linger, and gives its place back when it is closed.
type lingerer struct {
	*net.TCPConn
	leave   func()
	hooks   bool // it came to the listener of webhooks
	lingers atomic.Bool
}

// linger marks the connection of a request whose body may not have been read to its end.
func linger(ctx *fasthttp.RequestCtx) {
	if conn, ok := ctx.Conn().(*lingerer); ok {
		conn.lingers.Store(true)
	}
}

// Close takes up to lingerTotal on a marked connection, none on any other.
func (c *lingerer) Close() error {
	defer c.leave()
	if c.lingers.Swap(false) && c.CloseWrite() == nil {
		end := time.Now().Add(lingerTotal)
		for now := time.Now(); now.Before(end); now = time.Now() {
			idle := now.Add(lingerIdle)
			if idle.After(end) {
				idle = end
			}
			if c.SetReadDeadline(idle) != nil {
				break
			}
			if _, err := io.CopyN(io.Discard, c.TCPConn, 64<<10); err != nil {
				break // the caller has closed, or said nothing
			}
		}
	}
	return c.TCPConn.Close()
}
