package address

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrRefused is wrapped by the error of a connection that the rules refuse. Its text may be shown to callers.
var ErrRefused = errors.New("the address is not public; EGRESS_ALLOW can permit private addresses")

// Reach limits where a connection to one host may lead. The zero value permits only public addresses.
type Reach uint8

// The reaches. Each includes all before it.
const (
	ToPublic Reach = iota
	ToPrivate
	ToLoopback
)

// Permits reports whether a connection to a may be made.
func (r Reach) Permits(a netip.Addr) bool {
	switch ClassOf(a) {
	case Public:
		return true
	case Private:
		return r >= ToPrivate
	case Loopback:
		return r >= ToLoopback
	}
	return false
}

// Control refuses a forbidden connection before it is made. It is the Control of a [net.Dialer], which calls it with
// each address that it tries, after name resolution.
func (r Reach) Control(network, addressAndPort string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(addressAndPort)
	if err != nil || network != "tcp4" && network != "tcp6" && network != "tcp" || !r.Permits(to.Addr()) {
		return fmt.Errorf("%s: %w", network, ErrRefused)
	}
	return nil
}

// Dial connects to one address over TCP.
func (r Reach) Dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	return (&net.Dialer{Control: r.Control}).DialContext(ctx, "tcp", to.String())
}

// Hosts are patterns of hosts: a name, an address ("[::1]" for IPv6), or "*.example.com" (any number of labels, but not
// example.com itself), each with an optional ":port". Without a port a pattern matches any.
type Hosts []string

// Named returns the patterns of the hosts of URLs, with their ports, for servers that the operator named. It skips what
// is not a URL.
func Named(urls ...string) Hosts {
	var hosts Hosts
	for _, text := range urls {
		if u, err := url.Parse(text); err == nil && u.Hostname() != "" {
			hosts = append(hosts, net.JoinHostPort(u.Hostname(), portOf(u)))
		}
	}
	return hosts
}

func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// A Match is the result of comparing a host and a port with patterns.
type Match struct {
	OK    bool // a pattern stands for them
	Port  bool // one of these names the port
	Exact bool // one of these names the whole host
}

// Match compares a host that Host returned, and a port, with the patterns.
func (h Hosts) Match(host string, port int) Match {
	var m Match
	for _, p := range h {
		name, portText := SplitPattern(p)
		if portText != "" && portText != strconv.Itoa(port) {
			continue
		}
		domain, wild := strings.CutPrefix(name, "*.")
		canonical, addr, err := Host(domain)
		if err != nil || wild && (addr.IsValid() || !strings.HasSuffix(host, "."+canonical)) || !wild && canonical != host {
			continue
		}
		m = Match{OK: true, Port: m.Port || portText != "", Exact: m.Exact || !wild}
	}
	return m
}

// Reach returns how far a connection may lead to a host that the patterns of the deployment match in this way.
func (m Match) Reach() Reach {
	switch {
	case m.Exact:
		return ToLoopback
	case m.OK:
		return ToPrivate
	}
	return ToPublic
}

// Check reports whether a request to u may be sent. It returns ErrHost for a host that cannot be dialled, and
// ErrRefused for an address that is not permitted. The addresses of a name are only checked when it is dialled.
func (h Hosts) Check(u *url.URL) error {
	name, addr, reach, _, err := h.locate(u.Hostname(), portOf(u))
	if err == nil && addr.IsValid() && !reach.Permits(addr) {
		return fmt.Errorf("%s: %w", name, ErrRefused)
	}
	return err
}

func (h Hosts) locate(host, port string) (name string, addr netip.Addr, reach Reach, n int, err error) {
	if name, addr, err = Host(host); err != nil {
		return "", addr, ToPublic, 0, err
	}
	if n, err = strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "", addr, ToPublic, 0, ErrHost
	}
	return name, addr, h.Match(name, n).Reach(), n, nil
}

// SplitPattern splits a pattern into host and port. It removes the brackets of an IPv6 address.
func SplitPattern(p string) (host, port string) {
	if strings.HasPrefix(p, "[") {
		host, rest, _ := strings.Cut(p[1:], "]")
		return host, strings.TrimPrefix(rest, ":")
	}
	host, port, _ = strings.Cut(p, ":")
	return host, port
}

// A Dialer connects to hosts within the rules. The zero value reaches public addresses and has no timeout but that of
// the context. It is safe for concurrent use.
type Dialer struct {
	// Opened holds the hosts that the deployment opened.
	Opened Hosts
	// Timeout bounds the connection over all addresses of a name.
	Timeout time.Duration
	// Resolver resolves names; nil is the system's resolver.
	Resolver *net.Resolver
}

// DialContext connects to "host:port" over TCP.
func (d Dialer) DialContext(ctx context.Context, network, hostAndPort string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostAndPort)
	if err != nil {
		return nil, fmt.Errorf("dial %q: %w", hostAndPort, ErrHost)
	}
	name, _, reach, n, err := d.Opened.locate(host, port)
	if err != nil {
		return nil, fmt.Errorf("dial %q: %w", hostAndPort, err)
	}
	nd := net.Dialer{Timeout: d.Timeout, Resolver: d.Resolver, Control: reach.Control}
	return nd.DialContext(ctx, network, net.JoinHostPort(name, strconv.Itoa(n)))
}
