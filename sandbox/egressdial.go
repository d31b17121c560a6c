package sandbox

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/airlock-run/airlock/policy/address"
)

// connect makes one connection to an address that t permits.
func (e Egress) connect(ctx context.Context, t *target, to netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if e.Dial != nil {
		return e.Dial(ctx, "tcp", to.String())
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

// networkError says in words for the guest why a request failed. Nothing of this machine is in it.
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
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("%s refuses connections", host)
	case errors.As(err, &netErr) && netErr.Timeout():
		return fmt.Sprintf("%s does not answer in time", host)
	}
	return fmt.Sprintf("the connection to %s failed", host)
}
