package httpconn

import (
	"net"
	"net/netip"

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

// Accept implements net.Listener.
func (l Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return c, err
		}
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
