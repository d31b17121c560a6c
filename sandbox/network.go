package sandbox

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"

	"github.com/airlock-run/airlock/sandbox/internal/egress"
)

// NetworkMode is how far the network of a run reaches. The zero value is nowhere.
type NetworkMode int

// The modes.
const (
	NetworkNone      NetworkMode = iota
	NetworkAllowlist             // only Network.Hosts
	NetworkPublic                // any public address, or only Network.Hosts when there are any
)

// Network lists the hosts that fetch may reach. Every connection, also that of a redirect, goes to an address that was
// checked after its name was resolved (package address has the rules): only public ones, except for OpenedHosts.
type Network struct {
	// Mode is how far the network reaches.
	Mode NetworkMode
	// Hosts are exact names or addresses, or "*.example.com" (any number of labels, but not example.com itself), each
	// with an optional ":port". Without a port any port is meant.
	Hosts []string
	// OpenedHosts have the same form. Only they may have a private address, and only those without a wildcard a
	// loopback one; none may have a link-local, metadata, multicast or unspecified address. HTTP tools may reach them
	// in every Mode.
	OpenedHosts []string
	// Secrets are values that the guest can use without seeing them.
	Secrets []Secret
}

// Secret is a value that the guest knows as secrets.NAME, a placeholder that differs from run to run. The value
// replaces the placeholder in headers (inside Basic credentials too), URL and body of requests to its Hosts, over TLS
// or to an opened host only. Where an answer repeats the value, the guest sees the placeholder.
type Secret struct {
	Name, Value string
	Hosts       []string // as Network.Hosts
}

// Egress is how an Engine reaches the network. The zero value uses the system's resolver and certificates.
type Egress struct {
	// Resolver looks names up; default the system's.
	Resolver Resolver
	// Dial connects to an address "ip:port" that was checked. The default is a net.Dialer that checks it again.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Connect, if set, makes every connection in place of Resolver and Dial. It resolves the name and checks the
	// addresses itself. An error whose method Refused returns true refuses the connection by rule, in words for guests.
	Connect func(ctx context.Context, host string, port uint16) (net.Conn, error)
	// RootCAs are the certificate authorities that servers need; default the system's.
	RootCAs *x509.CertPool
	// LoadRootCAs returns them when they are first needed, if RootCAs is nil.
	LoadRootCAs func() *x509.CertPool
}

// Resolver looks up the addresses of a name. *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// ConnectFor connects to host and port if a run with the network n could, and under the same rules. forTools reports
// that the run has tools, which reach the opened hosts in every mode. An error whose method Refused returns true is
// in words for guests.
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
