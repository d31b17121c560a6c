package wiring

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/process/smallfile"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/policy/outbound"
)

const (
	collectorTimeout = 10 * time.Second // OpenTelemetry's default
	collectorAnswer  = 1 << 20
)

// CollectorClient returns the client that sends spans or metrics. The SDK's own client follows redirects to any
// address. With another client the SDK ignores its connection settings, so they are read here:
// OTEL_EXPORTER_OTLP_TIMEOUT, _CERTIFICATE, _CLIENT_CERTIFICATE and _CLIENT_KEY, or those of the signal.
func CollectorClient(getenv func(string) string, signal string) (*http.Client, error) {
	setting := func(name string) (key, value string) {
		own := strings.Replace(name, "OTLP_", "OTLP_"+signal+"_", 1)
		for _, key = range []string{own, name} {
			if value = getenv(key); value != "" {
				break
			}
		}
		return key, value
	}
	limits := outbound.Limits{Body: collectorAnswer, Total: collectorTimeout, Connections: 4}
	if key, text := setting("OTEL_EXPORTER_OTLP_TIMEOUT"); text != "" {
		ms, err := strconv.Atoi(text)
		if err != nil || ms < 1 {
			return nil, fmt.Errorf("%s: must be a whole number of milliseconds from 1; got %q", key, text)
		}
		limits.Total = time.Duration(ms) * time.Millisecond
	}
	trust, err := collectorTLS(setting)
	if err != nil {
		return nil, err
	}
	_, endpoint := setting("OTEL_EXPORTER_OTLP_ENDPOINT")
	dialer := address.Dialer{Opened: append(address.Named(endpoint), settings.ProxyHosts(getenv)...),
		Timeout: limits.Total}
	return limits.Client(outbound.Options{Dial: dialer.DialContext, Proxy: http.ProxyFromEnvironment, TLS: trust}), nil
}

// maxPEM bounds a file with certificates or a key.
const maxPEM = 1 << 20

// collectorTLS reads the certificates. It returns nil if none is set.
func collectorTLS(setting func(string) (key, value string)) (*tls.Config, error) {
	authorityKey, authority := setting("OTEL_EXPORTER_OTLP_CERTIFICATE")
	certificateKey, certificate := setting("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE")
	privateKey, private := setting("OTEL_EXPORTER_OTLP_CLIENT_KEY")
	if authority == "" && certificate == "" && private == "" {
		return nil, nil
	}
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	if authority != "" {
		pem, err := smallfile.Read(authority, maxPEM)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", authorityKey, err)
		}
		if trust.RootCAs = x509.NewCertPool(); !trust.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New(authorityKey + ": the file has no PEM certificate")
		}
	}
	if certificate == "" && private == "" {
		return trust, nil
	}
	if certificate == "" || private == "" {
		return nil, errors.New(certificateKey + " and " + privateKey + ": set both or neither")
	}
	chain, err := smallfile.Read(certificate, maxPEM)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", certificateKey, err)
	}
	secret, err := smallfile.Read(private, maxPEM)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", privateKey, err)
	}
	pair, err := tls.X509KeyPair(chain, secret)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", certificateKey, privateKey, err)
	}
	trust.Certificates = []tls.Certificate{pair}
	return trust, nil
}
