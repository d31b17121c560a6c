package httpconn

import (
	"errors"
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
	lingerBytes = 32 << 20         // each megabyte costs a third of a millisecond of processor time
)

// conn is a connection that can linger. It releases its place when it is closed.
type conn struct {
	*net.TCPConn
	leave     func()
	hooksOnly bool
	lingers   atomic.Bool
	// request bounds the bytes of one request; read counts those since the last deadline.
	request int64
	read    atomic.Int64
}

// errRequest means that a request has more bytes than any that is accepted.
var errRequest = errors.New("the request is too long")

// SetReadDeadline implements net.Conn. fasthttp sets a deadline before it reads a request, and not again until it has
// read all of it: what is read until the next deadline is one request.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.read.Store(0)
	return c.TCPConn.SetReadDeadline(t)
}

// Read implements net.Conn. It bounds what the limit of a body does not: chunks have extensions of any length.
func (c *conn) Read(b []byte) (int, error) {
	if c.request > 0 && c.read.Load() > c.request {
		return 0, errRequest
	}
	n, err := c.TCPConn.Read(b)
	c.read.Add(int64(n))
	return n, err
}

// Linger marks the connection of a request whose body may not have been read to its end.
func Linger(ctx *fasthttp.RequestCtx) {
	if c, ok := ctx.Conn().(*conn); ok {
		c.lingers.Store(true)
	}
}

// Close takes up to lingerTotal, and reads up to lingerBytes, on a connection that lingers, and no time on any other.
func (c *conn) Close() error {
	defer c.leave()
	if c.lingers.Swap(false) && c.CloseWrite() == nil {
		end := time.Now().Add(lingerTotal)
		rest := &io.LimitedReader{R: c.TCPConn, N: lingerBytes}
		for now := time.Now(); now.Before(end); now = time.Now() {
			idle := now.Add(lingerIdle)
			if idle.After(end) {
				idle = end
			}
			if c.SetReadDeadline(idle) != nil {
				break
			}
			if _, err := io.CopyN(io.Discard, rest, 64<<10); err != nil {
				break // the caller closed its end, sent nothing more, or too much
			}
		}
	}
	return c.TCPConn.Close()
}
