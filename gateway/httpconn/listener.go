package httpconn

import (
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/airlock-run/airlock/gateway/bounds"
)

// A Listener closes the connections of an address that has too many. Connections of proxies are not counted together,
// because each carries many callers.
type Listener struct {
	net.Listener
	Pool    *bounds.Pool
	Proxies []netip.Prefix
	// Request bounds the bytes of one request, with those that frame a chunked body; 0 is no bound.
	Request int64
	// HooksOnly marks the connections of a listener that serves webhooks and nothing else.
	HooksOnly bool
}

// The pauses before a connection is accepted again after a shortage, as in net/http.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = time.Second
)

// Accept implements net.Listener. While the system has no descriptor or memory for another connection, it waits:
// its errors are those after which no connection can ever be accepted.
func (l Listener) Accept() (net.Conn, error) {
	pause := firstPause
	for {
		c, err := l.Listener.Accept()
		if isShortage(err) {
			time.Sleep(pause)
			pause = min(2*pause, longestPause)
			continue
		}
		if err != nil {
			return c, err
		}
		pause = firstPause
		leave, err := l.Pool.Enter(l.owner(c))
		if err != nil {
			_ = c.Close() // no byte was sent on it
			continue
		}
		if tcp, ok := c.(*net.TCPConn); ok {
			return &conn{TCPConn: tcp, leave: leave, hooksOnly: l.HooksOnly, request: l.Request}, nil
		}
		return &leaving{c, leave}, nil
	}
}

// isShortage reports whether an error of accept ends when descriptors or memory become free.
func isShortage(err error) bool {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return false
	}
	switch errno {
	case syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM:
		return true
	}
	return false
}

// owner returns the owner of a connection's place: the network of its peer.
func (l Listener) owner(c net.Conn) bounds.Owner {
	peer, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return bounds.Owner{}
	}
	if within(l.Proxies, peer.Addr().Unmap()) {
		return bounds.Owner{Tenant: peer.String(), Subject: "proxy"}
	}
	return bounds.Owner{Tenant: Network(peer.Addr().String())}
}

// HooksOnly reports whether a connection was accepted by a Listener that serves webhooks alone.
func HooksOnly(c net.Conn) bool {
	own, ok := c.(*conn)
	return ok && own.hooksOnly
}

// leaving is a connection other than TCP. It releases its place when it is closed.
type leaving struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (l *leaving) Close() error {
	defer l.leave()
	return l.Conn.Close()
}
