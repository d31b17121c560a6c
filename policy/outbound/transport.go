package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"time"
)

var (
	// ErrTooLarge is wrapped by the error of an exchange whose response has too many bytes.
	ErrTooLarge = errors.New("the response is larger than the limit")
	// ErrHeaders is wrapped by the error of an exchange whose response has headers that are too long.
	ErrHeaders = fmt.Errorf("the headers of the response are longer than %d KiB", MaxHeaderBytes>>10)
	// ErrTooSlow is wrapped by the error of an exchange that took too long.
	ErrTooSlow = errors.New("the response takes longer than the timeout")
)

// Limits bound one exchange with a server. A redirect is an exchange of its own. Body and Total are required.
type Limits struct {
	// Body is the number of bytes of a body that are read.
	Body int64
	// Total bounds an exchange from the dial to the last byte.
	Total time.Duration
	// Stream bounds an event stream; 0 means as long as any other response.
	Stream time.Duration
	// Answer bounds the time until a response begins; 0 means Total.
	Answer time.Duration
	// Connections bounds the connections to one host; 0 means no bound.
	Connections int
}

// MaxHeaderBytes bounds the headers of a response.
const MaxHeaderBytes = 64 << 10

const (
	handshakeTimeout = 10 * time.Second
	dialTimeout      = 10 * time.Second
	idleTimeout      = 30 * time.Second
	maxIdle          = 16
)

// StreamBuffer is the number of bytes that a server may send on one HTTP/2 stream before they are read. They wait in
// memory.
const StreamBuffer = 256 << 10

// DialFunc connects to "host:port".
type DialFunc func(ctx context.Context, network, hostAndPort string) (net.Conn, error)

// Options configure a transport besides its limits. The zero value dials any address, which is only for servers that
// the operator named. It uses no proxy and trusts the system's certificates.
type Options struct {
	// Dial makes the connections. That of an address.Dialer follows the rules for addresses.
	Dial DialFunc
	// Proxy chooses a proxy, as in http.Transport.
	Proxy func(*http.Request) (*url.URL, error)
	// TLS replaces the default configuration.
	TLS *tls.Config
	// Decode requests compressed responses and decodes them. Limits.Body counts the decoded bytes.
	Decode bool
}

// A Transport makes exchanges within limits. It is safe for concurrent use.
type Transport struct {
	bounded http.RoundTripper
	base    *http.Transport
}

// Transport returns a transport.
func (l Limits) Transport(o Options) *Transport {
	base := &http.Transport{DialContext: o.Dial, Proxy: o.Proxy, TLSClientConfig: o.TLS, ForceAttemptHTTP2: true}
	if o.Dial == nil {
		base.DialContext = (&net.Dialer{Timeout: dialTimeout}).DialContext
	}
	if o.TLS == nil {
		base.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	l.Shape(base)
	base.DisableCompression = !o.Decode
	return &Transport{l.Bound(base), base}
}

// Shape bounds what a transport reads before a body. It also disables decoding, so that the bytes sent are counted.
func (l Limits) Shape(t *http.Transport) {
	t.MaxResponseHeaderBytes = MaxHeaderBytes
	t.TLSHandshakeTimeout = handshakeTimeout
	t.ResponseHeaderTimeout = l.Answer
	t.IdleConnTimeout = idleTimeout
	t.MaxIdleConns = maxIdle
	t.MaxConnsPerHost = l.Connections
	t.DisableCompression = true
	t.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: StreamBuffer}
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) { return t.bounded.RoundTrip(r) }

// CloseIdleConnections closes the connections that no exchange uses.
func (t *Transport) CloseIdleConnections() { t.base.CloseIdleConnections() }

// Client returns a client. It follows no redirect but returns the response that asks for one.
func (l Limits) Client(o Options) *http.Client {
	return Over(l.Transport(o))
}

// Over returns a client that sends its requests through network, which is already bounded, and follows no redirect.
func Over(network http.RoundTripper) *http.Client {
	return &http.Client{Transport: network, CheckRedirect: useLastResponse}
}

// useLastResponse returns the error that keeps a client from following redirects. It is a CheckRedirect.
func useLastResponse(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// A RoundTripperFunc is a func that implements http.RoundTripper.
type RoundTripperFunc func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f RoundTripperFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Bound returns a transport that keeps the exchanges of next within the limits.
func (l Limits) Bound(next http.RoundTripper) http.RoundTripper {
	return RoundTripperFunc(func(r *http.Request) (*http.Response, error) {
		ctx, cancel := context.WithCancelCause(r.Context())
		enough := time.AfterFunc(l.Total, func() { cancel(ErrTooSlow) })
		done := func() { enough.Stop(); cancel(nil) }
		res, err := next.RoundTrip(r.WithContext(early(ctx, cancel)))
		if err != nil {
			if cause := context.Cause(ctx); errors.Is(cause, ErrTooSlow) || errors.Is(cause, ErrHeaders) {
				err = fmt.Errorf("%w: %w", cause, err)
			}
			if longHeaders(err) {
				err = fmt.Errorf("%w: %w", ErrHeaders, err)
			}
			done()
			return nil, err
		}
		if l.Stream > 0 && isStream(res.Header) {
			enough.Reset(l.Stream)
		}
		res.Body = &body{from: res.Body, ctx: ctx, left: l.Body, done: sync.OnceFunc(done)}
		if r.Method != http.MethodHead && res.ContentLength > l.Body {
			_ = res.Body.Close() // it is not read
			return nil, fmt.Errorf("%w: %d bytes were announced, at most %d are read", ErrTooLarge, res.ContentLength, l.Body)
		}
		return res, nil
	})
}

// maxEarly bounds the informational responses before a response.
const maxEarly = 100

// early returns a context whose exchange has a bounded number of informational responses. net/http bounds them itself,
// unless somebody wants to see each: a reverse proxy passes them on.
func early(ctx context.Context, cancel context.CancelCauseFunc) context.Context {
	if trace := httptrace.ContextClientTrace(ctx); trace == nil || trace.Got1xxResponse == nil {
		return ctx
	}
	n := 0
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		Got1xxResponse: func(int, textproto.MIMEHeader) error {
			if n++; n > maxEarly {
				cancel(ErrHeaders)
				return ErrHeaders
			}
			return nil
		},
	})
}

// longHeaders reports whether net/http stopped reading headers at MaxHeaderBytes, which it says only in words. Over
// HTTP/2 it says nothing of one header that is longer, or of headers that are longer by a whole frame: they are errors
// of the compression and of the protocol.
func longHeaders(err error) bool {
	text := err.Error()
	return strings.Contains(text, "server response headers exceeded") ||
		strings.Contains(text, "response header list larger than advertised limit")
}

func isStream(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && kind == "text/event-stream"
}

// body is the bounded body of a response.
type body struct {
	from io.ReadCloser
	ctx  context.Context // of the exchange; its cause says why the exchange ended
	left int64
	done func()
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, ErrTooLarge
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // one more byte tells a body that ends here from one that does not
	}
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		_ = b.Close() // no more of it is read
		return n - 1, ErrTooLarge
	}
	if err != nil {
		if errors.Is(context.Cause(b.ctx), ErrTooSlow) && !errors.Is(err, io.EOF) {
			err = fmt.Errorf("%w: %w", ErrTooSlow, err)
		}
		b.done()
	}
	return n, err
}

// Close implements io.Closer.
func (b *body) Close() error {
	defer b.done()
	return b.from.Close()
}
