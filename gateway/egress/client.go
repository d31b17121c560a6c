package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// ErrClosed is in the error of a connection that was refused. Its text is for callers.
var ErrClosed = errors.New("the address is not public; the deployment opens others by EGRESS_ALLOW")

// NewClient makes a client that connects to public addresses, and to any address of the hosts given: "name",
// "*.example.com" or an address ("[::1]" for IPv6), each with an optional ":port", in lower case. It follows no redirect,
// uses no proxy and gives up after timeout.
func NewClient(opened []string, timeout time.Duration) *http.Client {
	d := &dialer{opened: opened, timeout: timeout}
	return &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:            d.dial,
			ForceAttemptHTTP2:      true,
			MaxIdleConns:           16,
			IdleConnTimeout:        10 * time.Second,
			TLSHandshakeTimeout:    timeout,
			MaxResponseHeaderBytes: 64 << 10,
		},
	}
}

type dialer struct {
	opened  []string
	timeout time.Duration
}

func (d *dialer) dial(ctx context.Context, network, hostport string) (net.Conn, error) {
	nd := net.Dialer{Timeout: d.timeout}
	if !d.open(hostport) {
		nd.ControlContext = onlyPublic
	}
	return nd.DialContext(ctx, network, hostport)
}

func onlyPublic(_ context.Context, network, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || !strings.HasPrefix(network, "tcp") || !Public(ap.Addr()) {
		return fmt.Errorf("%s: %w", network, ErrClosed)
	}
	return nil
}

// Reachable reports whether a call to a URL could be made: false says that its host is an address that is not public, and
// that no host opens. Where a name leads is found out by the call itself.
func Reachable(opened []string, u *url.URL) bool {
	address, err := netip.ParseAddr(u.Hostname())
	if err != nil || Public(address) {
		return true
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return (&dialer{opened: opened}).open(net.JoinHostPort(u.Hostname(), port))
}

// open reports whether the deployment opened a host by name.
func (d *dialer) open(hostport string) bool {
	host, port, err := net.SplitHostPort(strings.ToLower(hostport))
	if err != nil {
		return false
	}
	host = strings.TrimSuffix(host, ".")
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	for _, pattern := range d.opened {
		name, only := pattern, ""
		if i := strings.LastIndexByte(pattern, ':'); i >= 0 && !strings.HasSuffix(pattern, "]") {
			name, only = pattern[:i], pattern[i+1:]
		}
		if only != "" && only != port {
			continue
		}
		if domain, ok := strings.CutPrefix(name, "*"); ok && strings.HasSuffix(host, domain) && len(host) > len(domain) || name == host {
			return true
		}
	}
	return false
}

// closed are the blocks that are not for the public Internet (the registries of RFC 6890 at IANA), where net/netip does
// not know them, and those that carry an IPv4 address inside.
func closed() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
		netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
		netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	}
}

// Public reports whether an address is one of the public Internet. Of IPv6 that is 2000::/3 without the blocks for
// protocols, documentation and tunnels.
func Public(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsValid() || a.Zone() != "" || !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	if a.Is4() {
		for _, p := range closed() {
			if p.Contains(a) {
				return false
			}
		}
		return true
	}
	within := func(prefix string) bool { return netip.MustParsePrefix(prefix).Contains(a) }
	return within("2000::/3") && !within("2001::/23") && !within("2001:db8::/32") && !within("2002::/16") && !within("3fff::/20")
}
