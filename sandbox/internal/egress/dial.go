package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/policy/outbound"
)

const (
	headerTimeout = 30 * time.Second
	dialTimeout   = 10 * time.Second
)

// Dialer makes connections; see sandbox.Egress.
type Dialer struct {
	Resolver    Resolver
	Dial        func(ctx context.Context, network, address string) (net.Conn, error)
	Connect     func(ctx context.Context, host string, port uint16) (net.Conn, error)
	RootCAs     *x509.CertPool
	LoadRootCAs func() *x509.CertPool
}

// Resolver looks up the addresses of a name. *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// targetKey is the context key of the target of a connection.
type targetKey struct{}

// transport returns the transport of one run. No connection is shared with another run, so none outlives its check.
// It bounds no body: Client counts the bytes of all exchanges together.
func (d Dialer) transport(wall time.Duration) *outbound.Transport {
	roots := d.RootCAs
	if roots == nil && d.LoadRootCAs != nil {
		roots = d.LoadRootCAs()
	}
	// The deadline of the run ends an exchange first, and names the limit.
	bounds := outbound.Limits{Body: 1 << 62, Total: wall + time.Second, Answer: headerTimeout}
	return bounds.Transport(outbound.Options{Dial: d.dial, TLS: tlsConfig(roots), Decode: true})
}

// dial connects to the target in ctx.
func (d Dialer) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	t, ok := ctx.Value(targetKey{}).(*target)
	if !ok {
		return nil, errors.New("the connection has no target")
	}
	if d.Connect != nil {
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		return d.Connect(ctx, t.host, uint16(t.port))
	}
	return d.reach(ctx, t)
}

// ConnectFor connects to host and port under the rules of a run; see sandbox.Egress.ConnectFor.
func (d Dialer) ConnectFor(ctx context.Context, r Rules, forTools bool, host string, port uint16) (net.Conn, error) {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	url := fmt.Sprintf("https://%s:%d", host, port)
	t, err := r.locate(url, false)
	if err != nil && forTools {
		t, err = r.locate(url, true)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return d.reach(ctx, t)
}

// reach resolves t and connects to the first permitted address that answers.
func (d Dialer) reach(ctx context.Context, t *target) (net.Conn, error) {
	addrs := []netip.Addr{t.addr}
	if !t.addr.IsValid() {
		var err error
		if addrs, err = d.resolver().LookupNetIP(ctx, "ip", t.host); err != nil || len(addrs) == 0 {
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
		conn, err := d.connect(ctx, t, netip.AddrPortFrom(a, uint16(t.port)))
		if err == nil {
			return conn, nil
		}
		last = err
	}
	return nil, last
}

func (d Dialer) resolver() Resolver {
	if d.Resolver != nil {
		return d.Resolver
	}
	return net.DefaultResolver
}

// connect connects to one address that t permits.
func (d Dialer) connect(ctx context.Context, t *target, to netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if d.Dial != nil {
		return d.Dial(ctx, "tcp", to.String())
	}
	conn, err := t.reach.Dial(ctx, to)
	if errors.Is(err, address.ErrRefused) {
		return nil, refusal(notPublic(t.host))
	}
	return conn, err
}

func tlsConfig(roots *x509.CertPool) *tls.Config {
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// networkError returns why a request failed, in words for the guest. They tell nothing about this machine.
func networkError(ctx context.Context, host string, err error) string {
	var refused interface {
		error
		Refused() bool
	}
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var netErr net.Error
	switch {
	case errors.As(err, &refused) && refused.Refused():
		return refused.Error()
	case ctx.Err() != nil:
		return "the request was given up"
	case errors.As(err, &unknown), errors.As(err, &name), errors.As(err, &invalid):
		return fmt.Sprintf("the certificate of %s is not valid for it", host)
	case errors.As(err, &record):
		return fmt.Sprintf("%s does not speak TLS", host)
	case errors.Is(err, outbound.ErrHeaders):
		return fmt.Sprintf("the headers of the response from %s are longer than %d KiB", host, outbound.MaxHeaderBytes>>10)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("%s refuses connections", host)
	case errors.As(err, &netErr) && netErr.Timeout():
		return fmt.Sprintf("%s does not answer in time", host)
	}
	return fmt.Sprintf("the connection to %s failed", host)
}
