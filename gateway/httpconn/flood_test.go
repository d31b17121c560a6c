package httpconn_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/httpconn"
)

// peers is a listener of connections that say they come from given addresses.
type peers struct {
	net.Listener
	next []*peer
}

func (p *peers) Accept() (net.Conn, error) {
	if len(p.next) == 0 {
		return nil, net.ErrClosed
	}
	c := p.next[0]
	p.next = p.next[1:]
	return c, nil
}

type peer struct {
	net.Conn
	addr   string
	closed bool
}

func (p *peer) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(p.addr)) }

func (p *peer) Close() error {
	p.closed = true
	return nil
}

// short is a listener whose system lacks descriptors at first.
type short struct {
	net.Listener
	errs []error
}

func (s *short) Accept() (net.Conn, error) {
	err := s.errs[0]
	if s.errs = s.errs[1:]; err != nil {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", err)}
	}
	return &peer{addr: "192.0.2.1:1024"}, nil
}

// A lack of descriptors or memory ends; a listener that is closed does not open again.
func TestAcceptAfterAShortage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lacks := []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM}
		l := httpconn.Listener{Listener: &short{errs: append(lacks, nil, syscall.EINVAL)}, Pool: bounds.NewPool(10)}
		if _, err := l.Accept(); err != nil {
			t.Errorf("after a shortage: %v", err)
		}
		if _, err := l.Accept(); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("got %v", err)
		}
	})
}

// One network opens more connections than there may be. It gets all but a tenth, the rest are closed at once, and other
// networks, proxies included, are served; a connection that ends gives its place back.
func TestFloodOfConnections(t *testing.T) {
	t.Parallel()
	most := bounds.Of(bounds.Connections).Most
	pool := bounds.NewPool(most)
	from := &peers{}
	l := httpconn.Listener{Listener: from, Pool: pool, Proxies: []netip.Prefix{netip.MustParsePrefix("10.9.0.0/16")}}
	accepted := func(addresses ...string) (served []net.Conn, refused int) {
		t.Helper()
		all := make([]*peer, 0, len(addresses))
		for _, a := range addresses {
			all = append(all, &peer{addr: a})
		}
		from.next = append(from.next, all...)
		for {
			c, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			served = append(served, c)
		}
		for _, p := range all {
			if p.closed {
				refused++
			}
		}
		return served, refused
	}
	flood := make([]string, 0, most+100)
	for n := range cap(flood) { // the whole of an IPv6 network counts as one
		flood = append(flood, fmt.Sprintf("[2001:db8:1:2:%x::1]:%d", n%0xffff, 1024+n%60_000))
	}
	held, refused := accepted(flood...)
	if len(held) < most*8/10 || len(held) > most*92/100 || len(held)+refused != len(flood) {
		t.Fatalf("%d of %d were served, %d refused, of %d places", len(held), len(flood), refused, most)
	}
	for _, other := range []string{"192.0.2.1:1024", "198.51.100.1:1024", "[2001:db8:1:3::1]:1024",
		"10.9.0.1:1024", "10.9.0.1:1025"} {
		if c, refused := accepted(other); len(c) != 1 || refused != 0 {
			t.Errorf("%s is not served during the flood", other)
		}
	}
	for _, c := range held {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if used, _ := pool.Used(); used != 5 {
		t.Errorf("%d places are taken after the flood has ended", used)
	}
	if again, refused := accepted(flood[0]); len(again) != 1 || refused != 0 {
		t.Error("the network is not served after its connections have ended")
	}
}

// Half of the files that a gateway may have open are not connections.
func TestMaxConnections(t *testing.T) {
	t.Parallel()
	for files, want := range map[int]int{0: 16384, 1: 1, 256: 128, 4096: 2048, 20_000: 10_000, 1 << 20: 16384} {
		if got := httpconn.MaxConnections(files); got != want {
			t.Errorf("%d files: %d connections, want %d", files, got, want)
		}
	}
}
