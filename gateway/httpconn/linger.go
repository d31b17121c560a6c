package httpconn

import (
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// A request that is refused before its body was read leaves unread bytes behind. Closing such a connection makes the
// kernel reset it, and the reset can overtake the response: the caller sees a broken pipe instead of a 413. Close
// therefore ends the response first and discards what still arrives for a while, as nginx's lingering_close does.
const (
	lingerIdle  = 2 * time.Second  // without a byte
	lingerTotal = 10 * time.Second // however many bytes arrive
)

// conn is a connection that can linger. It releases its place when it is closed.
type conn struct {
	*net.TCPConn
	leave     func()
	hooksOnly bool
	lingers   atomic.Bool
}

// Linger marks the connection of a request whose body may not have been read to its end.
func Linger(ctx *fasthttp.RequestCtx) {
	if c, ok := ctx.Conn().(*conn); ok {
		c.lingers.Store(true)
	}
}

// Close takes up to lingerTotal on a connection that lingers, and no time on any other.
func (c *conn) Close() error {
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
				break // the caller closed its end, or sent nothing more
			}
		}
	}
	return c.TCPConn.Close()
}
