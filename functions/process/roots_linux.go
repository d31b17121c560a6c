package process

import (
	"crypto/x509"
	"io"
	"os"
	"sync"
)

// bundles returns the files in which distributions keep root certificates, in the order of crypto/x509.
func bundles() []string {
	return []string{
		"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
		"/etc/pki/tls/cacert.pem",
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
	}
}

// maxBundleBytes bounds a bundle.
const maxBundleBytes = 16 << 20

// systemRoots opens the root certificates while files are available and returns a func that parses them on first use:
// parsing takes half as long as the whole start of a process, and most executions need none.
func systemRoots() func() *x509.CertPool {
	for _, path := range bundles() {
		if f, err := os.Open(path); err == nil {
			return sync.OnceValue(func() *x509.CertPool { return readRoots(f) })
		}
	}
	roots, err := x509.SystemCertPool() // in single files
	if err != nil {
		roots = x509.NewCertPool() // no server is trusted
	}
	return func() *x509.CertPool { return roots }
}

func readRoots(f *os.File) *x509.CertPool {
	defer f.Close() // only read
	roots := x509.NewCertPool()
	if pem, err := io.ReadAll(io.LimitReader(f, maxBundleBytes)); err == nil {
		roots.AppendCertsFromPEM(pem)
	}
	return roots
}
