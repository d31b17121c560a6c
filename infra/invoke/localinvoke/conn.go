package localinvoke

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
)

// A conn is a connection of a function process that remembers how it ended. A process that dies with an unread
// invocation in its socket resets the connection; one that has read it closes it. This tells whether the invocation
// may go to another process.
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
		// A reset after the other side's end of stream is never read.
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

// wasReset reports whether the other side, which has ended, reset the connection. The server closes it soon; ctx
// bounds the wait.
func (c *conn) wasReset(ctx context.Context) bool {
	select {
	case <-c.closed:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reset
}

// A listener returns every connection as a conn.
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

// withConn returns ctx with the connection, so that handlers find it (http.Server.ConnContext).
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}
