package sandbox

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/policy/outbound"
)

// NetworkMode is how far a run's network reaches. The zero value is nowhere.
type NetworkMode int

// The modes.
const (
	NetworkNone      NetworkMode = iota
	NetworkAllowlist             // only Network.Hosts
	NetworkPublic                // any public address, or only Network.Hosts when there are any
)

// Network is what fetch may reach. Every connection, that of every redirect included, is made to an address that was
// checked after its name was resolved (package address has the rules): only public ones, except behind OpenedHosts.
type Network struct {
	Mode NetworkMode
	// Hosts are exact names or addresses, or "*.example.com" (any number of labels, not example.com itself), each with an
	// optional ":port" without which any port is meant.
	Hosts []string
	// OpenedHosts are of the same form. Only behind these may there be a private address, and behind those without a
	// wildcard a loopback one; never a link-local, metadata, multicast or unspecified one. HTTP tools may reach them
	// whatever Mode is.
	OpenedHosts []string
	// Secrets can be used by the guest without being seen by it.
	Secrets []Secret
}

// Secret is a value that the guest knows as secrets.NAME, a placeholder that is drawn anew for each run. It is put in
// place of the placeholder in headers (inside Basic credentials too), URL and body of requests to its Hosts, over TLS or
// to an opened host only. Where an answer repeats the value, the guest sees the placeholder.
type Secret struct {
	Name, Value string
	Hosts       []string // as Network.Hosts
}

// Egress is how an Engine reaches the network. The zero value is the system's resolver and certificates.
type Egress struct {
	// Resolver looks names up; default the system's.
	Resolver Resolver
	// Dial connects to an address "ip:port" that was checked; default a net.Dialer, which checks it again.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Connect, when set, makes every connection in place of Resolver and Dial. It resolves the name and checks the addresses
	// itself. An error with the method Refused, which reports true, is one of its rules, in words for guests.
	Connect func(ctx context.Context, host string, port uint16) (net.Conn, error)
	// RootCAs are the authorities that servers are judged by; default the system's.
	RootCAs *x509.CertPool
	// LoadRootCAs returns them when they are first needed, where RootCAs is nil.
	LoadRootCAs func() *x509.CertPool
}

// Resolver looks up the addresses of a name. *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

const (
	maxRedirects   = 5
	maxURL         = 16 << 10
	maxHeaderBytes = 64 << 10
	headerTimeout  = 30 * time.Second
	dialTimeout    = 10 * time.Second
)

// badPorts are those of other protocols (Fetch Standard, port blocking). A pattern that names one opens it.
var badPorts = []int{
	1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111,
	113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548,
	554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566,
	6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
}

// target is where a request goes, in its one spelling.
type target struct {
	url    *url.URL
	host   string // a name or an address
	addr   netip.Addr
	port   int
	opened bool
	reach  address.Reach
}

// refusal is a request that the grants do not cover, in words for the guest.
type refusal string

func (e refusal) Error() string { return string(e) }

// locate reads a URL and decides whether the run may go there. forTool says that a tool's own URL is asked for.
func (n *Network) locate(raw string, forTool bool) (*target, error) {
	if len(raw) > maxURL {
		return nil, refusal(fmt.Sprintf("the URL has %d bytes; at most %d are accepted", len(raw), maxURL))
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, refusal("the URL cannot be read")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, refusal(fmt.Sprintf("the scheme %q is not supported; use https or http", cutBytes(u.Scheme, 20)))
	case u.User != nil:
		return nil, refusal("the URL contains credentials; send an Authorization header")
	case u.Opaque != "" || u.Host == "":
		return nil, refusal("the URL has no host")
	}
	t := &target{url: u}
	if t.host, t.addr, err = address.Host(u.Hostname()); err != nil {
		return nil, refusal(err.Error())
	}
	t.port = map[string]int{"http": 80, "https": 443}[u.Scheme]
	if p := u.Port(); p != "" {
		if t.port, err = strconv.Atoi(p); err != nil || t.port < 1 || t.port > 65535 {
			return nil, refusal("the URL's port is not a number from 1 to 65535")
		}
	}
	u.Host = t.authority()
	u.Fragment, u.RawFragment = "", ""
	opened := address.Hosts(n.OpenedHosts).Match(t.host, t.port)
	t.opened, t.reach = opened.OK, opened.Reach()
	var named address.Match
	allowed := false
	switch n.Mode {
	case NetworkAllowlist:
		named = address.Hosts(n.Hosts).Match(t.host, t.port)
		allowed = named.OK
	case NetworkPublic:
		named = address.Hosts(n.Hosts).Match(t.host, t.port)
		allowed = named.OK || len(n.Hosts) == 0
	}
	allowed = allowed || forTool && t.opened
	switch {
	case !allowed && n.Mode == NetworkNone && !forTool:
		return nil, refusal("this execution has no network access")
	case !allowed:
		return nil, refusal(fmt.Sprintf("the host %s is not among the hosts that this execution may reach", t.authority()))
	case !named.Port && !opened.Port && slices.Contains(badPorts, t.port):
		return nil, refusal(fmt.Sprintf("port %d is not one that HTTP is served on", t.port))
	case t.addr.IsValid() && !t.reach.Permits(t.addr):
		return nil, refusal(notPublic(t.host))
	}
	return t, nil
}

func notPublic(host string) string {
	return fmt.Sprintf("the address of %s is not a public one", host)
}

// authority is host and port as they are written in a URL.
func (t *target) authority() string {
	host := t.host
	if t.addr.Is6() {
		host = "[" + host + "]"
	}
	if t.port == 443 && t.url.Scheme == "https" || t.port == 80 && t.url.Scheme == "http" {
		return host
	}
	return host + ":" + strconv.Itoa(t.port)
}

func (t *target) origin() string { return t.url.Scheme + "://" + t.host + ":" + strconv.Itoa(t.port) }

type targetKey struct{}

// transport makes the connections of one run: none is ever shared with another, so none outlives its check. The bytes of
// bodies are counted by charge, for all exchanges of the run together.
func (e Egress) transport(limits Limits) *outbound.Transport {
	roots := e.RootCAs
	if roots == nil && e.LoadRootCAs != nil {
		roots = e.LoadRootCAs()
	}
	// The deadline of the run ends an exchange first, and names the limit.
	bounds := outbound.Limits{Body: 1 << 62, Total: limits.Wall + time.Second, Answer: headerTimeout}
	return bounds.Transport(outbound.Options{Dial: e.dial, TLS: tlsConfig(roots), Decode: true})
}

// dial connects to the target in ctx.
func (e Egress) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	t, ok := ctx.Value(targetKey{}).(*target)
	if !ok {
		return nil, errors.New("a connection without a target")
	}
	if e.Connect != nil {
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		return e.Connect(ctx, t.host, uint16(t.port))
	}
	return e.reach(ctx, t)
}

// ConnectFor connects to host and port if a run with the grants of n could, and under the same rules. forTools says that the
// run has tools, which reach the opened hosts whatever the mode is. An error with the method Refused, which reports
// true, is in words for guests.
func (e Egress) ConnectFor(ctx context.Context, n Network, forTools bool, host string, port uint16) (net.Conn, error) {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	url := fmt.Sprintf("https://%s:%d", host, port)
	t, err := n.locate(url, false)
	if err != nil && forTools {
		t, err = n.locate(url, true)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return e.reach(ctx, t)
}

// reach resolves t and connects to the first of its addresses that it permits and that answers.
func (e Egress) reach(ctx context.Context, t *target) (net.Conn, error) {
	addrs := []netip.Addr{t.addr}
	if !t.addr.IsValid() {
		var err error
		if addrs, err = e.resolver().LookupNetIP(ctx, "ip", t.host); err != nil || len(addrs) == 0 {
			return nil, refusal(fmt.Sprintf("the host %s cannot be resolved", t.host))
		}
	}
	permitted := make([]netip.Addr, 0, len(addrs))
	for _, a := range addrs {
		if t.reach.Permits(a) {
			permitted = append(permitted, a.Unmap())
		}
	}
	if len(permitted) == 0 {
		return nil, refusal(notPublic(t.host))
	}
	var last error
	for _, a := range permitted[:min(len(permitted), 4)] {
		conn, err := e.connect(ctx, t, netip.AddrPortFrom(a, uint16(t.port)))
		if err == nil {
			return conn, nil
		}
		last = err
	}
	return nil, last
}

func (e Egress) resolver() Resolver {
	if e.Resolver != nil {
		return e.Resolver
	}
	return net.DefaultResolver
}
