package outbound_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/policy/outbound"
)

const patience = time.Minute // for what must not be slow, on a machine under load

// raw is a server that writes given bytes unchanged and counts its connections.
func raw(t *testing.T, write func(conn net.Conn)) (url string) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				buf := make([]byte, 4096)
				if _, err := conn.Read(buf); err == nil {
					write(conn)
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// endless writes text until nobody reads it, and returns how much was written.
func endless(conn net.Conn, text string) (written int64) {
	block := []byte(strings.Repeat(text, max(1, 32<<10/len(text))))
	for {
		n, err := conn.Write(block)
		written += int64(n)
		if err != nil {
			return written
		}
	}
}

func exchange(l outbound.Limits, o outbound.Options, url string) (int, error) {
	transport := l.Transport(o)
	defer transport.CloseIdleConnections()
	res, err := outbound.Over(transport).Get(url)
	if err != nil {
		return 0, err
	}
	b, err := io.ReadAll(res.Body)
	return len(b), errors.Join(err, res.Body.Close())
}

// TestHostileServers: whatever a server sends, an exchange ends by itself, with the error that says why.
func TestHostileServers(t *testing.T) {
	t.Parallel()
	const most = 64 << 10
	ok := "HTTP/1.1 200 OK\r\n"
	slow := func(head, each string) func(net.Conn) {
		return func(conn net.Conn) {
			_, err := io.WriteString(conn, head)
			for tick := time.NewTicker(20 * time.Millisecond); err == nil; <-tick.C {
				_, err = io.WriteString(conn, each)
			}
		}
	}
	for name, c := range map[string]struct {
		write  func(net.Conn)
		total  time.Duration
		decode bool
		want   error // nil: any
	}{
		"endless body": {func(c net.Conn) { _, _ = io.WriteString(c, ok+"\r\n"); endless(c, "x") }, patience, false,
			outbound.ErrTooLarge},
		"endless chunks": {func(c net.Conn) {
			_, _ = io.WriteString(c, ok+"Transfer-Encoding: chunked\r\n\r\n")
			endless(c, "1\r\nx\r\n")
		}, patience, false, outbound.ErrTooLarge},
		"announced and huge": {func(c net.Conn) { _, _ = io.WriteString(c, ok+"Content-Length: 99999999999\r\n\r\n") },
			patience, false, outbound.ErrTooLarge},
		"endless status": {func(c net.Conn) { endless(c, "x") }, patience, false, nil},
		"endless header": {func(c net.Conn) { _, _ = io.WriteString(c, ok+"X: "); endless(c, "x") }, patience, false,
			outbound.ErrHeaders},
		"endless headers": {func(c net.Conn) { _, _ = io.WriteString(c, ok); endless(c, "X: y\r\n") }, patience, false,
			outbound.ErrHeaders},
		"endless trailers": {func(c net.Conn) {
			_, _ = io.WriteString(c, ok+"Transfer-Encoding: chunked\r\n\r\n0\r\n")
			endless(c, "X: y\r\n")
		}, patience, false, nil},
		"endless early answers": {func(c net.Conn) { endless(c, "HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n") }, patience,
			false, nil},
		"garbage": {func(c net.Conn) { _, _ = c.Write(bytes.Repeat([]byte{0, 255, 13, 10}, 100)) }, patience,
			false, nil},
		"nothing": {func(net.Conn) {}, patience, false, nil},
		"silence": {func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, 200 * time.Millisecond, false,
			outbound.ErrTooSlow},
		"silence after headers": {func(c net.Conn) {
			_, _ = io.WriteString(c, ok+"Content-Length: 5\r\n\r\n")
			_, _ = io.Copy(io.Discard, c)
		}, 200 * time.Millisecond, false, outbound.ErrTooSlow},
		"one byte after another": {slow(ok+"Content-Length: 60000\r\n\r\n", "x"), 300 * time.Millisecond, false,
			outbound.ErrTooSlow},
		"one header after another": {slow(ok, "X: y\r\n"), 300 * time.Millisecond, false, outbound.ErrTooSlow},
		"compressed zeros": {func(c net.Conn) {
			_, _ = io.WriteString(c, ok+"Content-Encoding: gzip\r\nConnection: close\r\n\r\n")
			z := gzip.NewWriter(c)
			for block := make([]byte, 1<<20); ; {
				if _, err := z.Write(block); err != nil {
					return
				}
			}
		}, patience, true, outbound.ErrTooLarge},
		"compressed nothings": {func(c net.Conn) {
			var empty bytes.Buffer
			_ = gzip.NewWriter(&empty).Close()
			_, _ = io.WriteString(c, ok+"Content-Encoding: gzip\r\nConnection: close\r\n\r\n")
			endless(c, empty.String())
		}, 300 * time.Millisecond, true, outbound.ErrTooSlow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			limits := outbound.Limits{Body: most, Total: c.total}
			n, err := exchange(limits, outbound.Options{Decode: c.decode}, raw(t, c.write))
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if n > most {
				t.Errorf("%d bytes, want at most %d", n, most)
			}
			if took := time.Since(began); took > patience {
				t.Errorf("took %v", took)
			}
		})
	}
}

// TestHostileHandshakes: a server that is asked to speak TLS, and goes on as it likes, ends the exchange.
func TestHostileHandshakes(t *testing.T) {
	t.Parallel()
	pour := func(head, each string) func(net.Conn) {
		return func(conn net.Conn) {
			_, _ = io.WriteString(conn, head)
			endless(conn, each)
		}
	}
	for name, c := range map[string]struct {
		write func(net.Conn)
		total time.Duration
		want  error // nil: any
	}{
		"silence": {func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, 200 * time.Millisecond, outbound.ErrTooSlow},
		"half a record": {func(c net.Conn) {
			_, _ = io.WriteString(c, "\x16\x03\x03\x40\x00\x02")
			_, _ = io.Copy(io.Discard, c)
		}, 200 * time.Millisecond, outbound.ErrTooSlow},
		"endless greeting": {pour("\x16\x03\x03\x40\x00\x02\xff\xff\xff", "\x00"), patience, nil},
		"endless requests": {pour("", "\x16\x03\x03\x00\x04\x00\x00\x00\x00"), patience, nil},
		"endless warnings": {pour("", "\x15\x03\x03\x00\x02\x01\x5a"), patience, nil},
		"endless nothing":  {pour("", "\x16\x03\x03\x00\x00"), patience, nil},
		"endless changes":  {pour("", "\x14\x03\x03\x00\x01\x01"), patience, nil},
		"endless alerts":   {pour("", "\x15\x03\x03\x00\x02\x02\x28"), patience, nil},
		"text":             {pour("HTTP/1.1 200 OK\r\n\r\n", "x"), patience, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			url := strings.Replace(raw(t, c.write), "http:", "https:", 1)
			_, err := exchange(outbound.Limits{Body: 1 << 20, Total: c.total}, outbound.Options{}, url)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if took := time.Since(began); took > patience {
				t.Errorf("took %v", took)
			}
		})
	}
}

// TestLongHeadersOfHTTP2: the error says that headers are too long over HTTP/2 too.
func TestLongHeadersOfHTTP2(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		fields, size int
		failed       bool
		want         error // nil: any
	}{
		{"short enough", 50, 1 << 10, false, nil},
		{"a little too long", 66, 1 << 10, true, outbound.ErrHeaders},
		{"much too long", 1000, 1 << 10, true, nil},
		{"one long header", 1, 80 << 10, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.ProtoMajor != 2 {
					t.Errorf("the request came over %s", r.Proto)
				}
				for n := range c.fields {
					w.Header().Set(fmt.Sprint("X-", n), strings.Repeat("x", c.size))
				}
			}))
			s.EnableHTTP2 = true
			s.StartTLS()
			defer s.Close()
			trusting := outbound.Options{TLS: s.Client().Transport.(*http.Transport).TLSClientConfig}
			_, err := exchange(outbound.Limits{Body: 100, Total: patience}, trusting, s.URL)
			if c.failed != (err != nil) {
				t.Errorf("the error is %v", err)
			}
			if c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

// TestBodyBounds: a body of as many bytes as are read is read whole, and one byte more is an error.
func TestBodyBounds(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]error{0: nil, 1: nil, 99: nil, 100: nil, 101: outbound.ErrTooLarge,
		5000: outbound.ErrTooLarge} {
		for _, chunked := range []bool{false, true} {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if chunked {
					w.(http.Flusher).Flush()
				}
				_, _ = io.WriteString(w, strings.Repeat("x", size))
			}))
			n, err := exchange(outbound.Limits{Body: 100, Total: patience}, outbound.Options{}, s.URL)
			if !errors.Is(err, want) {
				t.Errorf("%d bytes, chunked %v: %v, want %v", size, chunked, err, want)
			}
			if n > 100 || want == nil && n != size {
				t.Errorf("%d bytes, chunked %v: %d were read", size, chunked, n)
			}
			s.Close()
		}
	}
}

// TestStream: an event stream lasts as long as streams may, and no longer.
func TestStream(t *testing.T) {
	t.Parallel()
	write := func(kind string) string {
		return raw(t, func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: "+kind+"\r\n\r\n: hello\n\n")
			_, _ = io.Copy(io.Discard, c)
		})
	}
	limits := outbound.Limits{Body: 1 << 10, Total: 100 * time.Millisecond, Stream: 700 * time.Millisecond}
	for kind, least := range map[string]time.Duration{"text/event-stream; charset=utf-8": 700 * time.Millisecond,
		"text/plain": 100 * time.Millisecond} {
		began := time.Now()
		if _, err := exchange(limits, outbound.Options{}, write(kind)); !errors.Is(err, outbound.ErrTooSlow) ||
			time.Since(began) < least {
			t.Errorf("%s: %v after %v", kind, err, time.Since(began))
		}
	}
}

// TestCancel: an exchange that its caller gives up does not look like a slow server's.
func TestCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	url := raw(t, func(c net.Conn) { cancel(); _, _ = io.Copy(io.Discard, c) })
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := outbound.Limits{Body: 1, Total: patience}.Client(outbound.Options{}).Do(r)
	if err == nil {
		_ = res.Body.Close()
	}
	if !errors.Is(err, context.Canceled) || errors.Is(err, outbound.ErrTooSlow) {
		t.Error(err)
	}
}

// TestRedirects checks that no client follows a redirect.
func TestRedirects(t *testing.T) {
	t.Parallel()
	var inside atomic.Int64
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside.Add(1) }))
	t.Cleanup(target.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := httptest.NewServer(http.RedirectHandler(target.URL, status))
		d := address.Dialer{Opened: address.Named(s.URL)}
		res, err := outbound.Limits{Body: 1 << 10, Total: patience}.Client(outbound.Options{Dial: d.DialContext}).Get(s.URL)
		if err != nil || res.StatusCode != status {
			t.Fatal(status, err)
		}
		_ = res.Body.Close()
		s.Close()
	}
	if inside.Load() != 0 {
		t.Errorf("%d redirects were followed", inside.Load())
	}
}

// TestAddresses: a client whose dialer keeps to the rules reaches what was opened, and nothing else.
func TestAddresses(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	port := s.URL[strings.LastIndexByte(s.URL, ':')+1:]
	for _, c := range []struct {
		opened, url string
		ok          bool
	}{
		{"", s.URL, false},
		{"", "http://localhost:" + port, false},
		{"", "http://[::ffff:127.0.0.1]:" + port, false},
		{"", "http://2130706433:" + port, false},
		{"", "http://0x7f.1:" + port, false},
		{"", "http://127。0。0。1:" + port, false},
		{"127.0.0.1:1", s.URL, false},
		{"127.0.0.2", s.URL, false},
		{"*.0.0.1", "http://0.0.1:" + port, false},
		{"*.example.com", s.URL, false},
		{"127.0.0.1", s.URL, true},
		{"other 127.0.0.1:" + port, s.URL, true},
		{"127.0.0.1", "http://0x7f.1:" + port, true},
		{"localhost", "http://LOCALHOST:" + port, true},
	} {
		d := address.Dialer{Opened: strings.Fields(c.opened), Timeout: patience}
		_, err := exchange(outbound.Limits{Body: 10, Total: patience}, outbound.Options{Dial: d.DialContext}, c.url)
		if (err == nil) != c.ok {
			t.Errorf("%q: %s: %v", c.opened, c.url, err)
		}
		if err != nil && !errors.Is(err, address.ErrRefused) && !strings.Contains(err.Error(), "lookup") {
			t.Errorf("%q: %s fails otherwise: %v", c.opened, c.url, err)
		}
	}
}

func ExampleLimits_Client() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = io.WriteString(w, "hello")
	}))
	defer server.Close()
	dialer := address.Dialer{Opened: address.Named(server.URL)}
	client := outbound.Limits{Body: 4, Total: time.Minute}.Client(outbound.Options{Dial: dialer.DialContext})
	_, err := client.Get(server.URL)
	fmt.Println(errors.Is(err, outbound.ErrTooLarge))
	// Output: true
}

// A reverse proxy passes informational responses on, which are then not bounded by net/http.
func TestEndlessEarlyAnswersBehindAProxy(t *testing.T) {
	t.Parallel()
	server := raw(t, func(c net.Conn) { endless(c, "HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n") })
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	var failure error
	proxy := &httputil.ReverseProxy{
		Transport:    outbound.Limits{Body: 1, Total: patience}.Transport(outbound.Options{}),
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) { failure = err },
	}
	proxy.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	if !errors.Is(failure, outbound.ErrHeaders) {
		t.Errorf("%v, want %v", failure, outbound.ErrHeaders)
	}
}
