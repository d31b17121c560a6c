package sandbox

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"

	"github.com/airlock-run/airlock/sandbox/internal/egress"
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
// place of the placeholder in headers (inside Basic credentials too), URL and body of requests to its Hosts, over TLS
// or to an opened host only. Where an answer repeats the value, the guest sees the placeholder.
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
	// Connect, when set, makes every connection in place of Resolver and Dial. It resolves the name and checks the
	// addresses itself. An error with the method Refused, which reports true, is one of its rules, in words for guests.
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

// ConnectFor connects to host and port if a run with the grants of n could, and under the same rules. forTools says
// that the run has tools, which reach the opened hosts whatever the mode is. An error with the method Refused, which
// reports true, is in words for guests.
func (e Egress) ConnectFor(ctx context.Context, n Network, forTools bool, host string, port uint16) (net.Conn, error) {
	return e.dialer().ConnectFor(ctx, n.rules(), forTools, host, port)
}

func (e Egress) dialer() egress.Dialer {
	return egress.Dialer{Resolver: e.Resolver, Dial: e.Dial, Connect: e.Connect, RootCAs: e.RootCAs,
		LoadRootCAs: e.LoadRootCAs}
}

func (n Network) rules() egress.Rules {
	r := egress.Rules{Mode: egress.Mode(n.Mode), Hosts: n.Hosts, OpenedHosts: n.OpenedHosts}
	for _, s := range n.Secrets {
		r.Secrets = append(r.Secrets, egress.Secret(s))
	}
	return r
}
