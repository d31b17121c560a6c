package localinvoke

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
)

// conn is a connection of a function process that remembers how it ended. A process that dies with an invocation unread
// in its socket, or before it got there, resets the connection; one that had read it closes it. That tells whether the
// invocation may be given to another process.
type conn struct {
	net.Conn

	mu     sync.Mutex
	reset  bool
	closed chan struct{}
	once   sync.Once
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) { // net/http's own way to stop a read
		c.note(err)
	}
	return n, err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.once.Do(func() {
		// A reset that came after the other side's end of stream is never read.
		c.note(pending(c.Conn))
		close(c.closed)
	})
	return c.Conn.Close()
}

func (c *conn) note(err error) {
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.reset = true
	}
}

// wasReset reports whether the other side, which is gone, reset the connection. The server closes it soon; ctx bounds
// the wait for that.
func (c *conn) wasReset(ctx context.Context) bool {
	select {
	case <-c.closed:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reset
}

// listener makes every connection a conn.
type listener struct{ net.Listener }

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, closed: make(chan struct{})}, nil
}

type connKey struct{}

// withConn is http.Server.ConnContext: it lets handlers find their connection.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}
