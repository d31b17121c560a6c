package egress

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/airlock-run/airlock/policy/outbound"
	"github.com/airlock-run/airlock/sandbox/internal/hostops"
)

// Client is the network of one run. It is safe for concurrent use.
type Client struct {
	Config
	once      sync.Once
	transport *outbound.Transport
	bytes     atomic.Int64 // sent and received in bodies
}

// Config configures a Client.
type Config struct {
	Rules  Rules
	Dialer Dialer
	// Seed seeds the placeholders of secrets.
	Seed int64
	// Wall bounds one exchange.
	Wall time.Duration
	// MaxBytes bounds the bodies of all exchanges together. TooMuch ends the run that exceeds it.
	MaxBytes int64
	TooMuch  *hostops.LimitError
	Memory   hostops.Background
	// TraceParent goes with requests that have none of their own (W3C Trace Context).
	TraceParent string
}

// NewClient returns a Client. It must be closed.
func NewClient(cfg Config) *Client { return &Client{Config: cfg} }

// Close closes idle connections and makes no new ones.
func (e *Client) Close() {
	e.once.Do(func() {})
	if e.transport != nil {
		e.transport.CloseIdleConnections()
	}
}

// Request is a request as the guest made it. Everything in it is hostile.
type Request struct {
	Method, URL string
	Header      [][2]string
	Body        []byte
	Redirect    string // follow, error or manual
	ForTool     bool   // it may reach the hosts that are opened for tools
}

// Response is the answer to a Request. Its body must be closed.
type Response struct {
	Status     int
	StatusText string
	URL        string // with placeholders
	Redirected bool
	Header     http.Header
	Body       io.ReadCloser // nil if there can be none
}

// Do makes a request and follows its redirects. An error is a *hostops.Exception or a *hostops.LimitError.
func (e *Client) Do(ctx context.Context, out Request) (*Response, error) {
	method, err := methodOf(out.Method)
	if err != nil {
		return nil, err
	}
	header, err := headerOf(out.Header)
	if err != nil {
		return nil, err
	}
	if err := e.charge(len(out.Body)); err != nil {
		return nil, err
	}
	t, err := e.Rules.locate(out.URL, out.ForTool)
	if err != nil {
		return nil, hostops.Throw("TypeError", "fetch failed: "+err.Error())
	}
	body := out.Body
	for hop := 0; ; hop++ {
		res, swaps, err := e.roundTrip(ctx, t, method, header, body)
		if limit := hostops.AsLimit(err); limit != nil {
			return nil, limit
		}
		if err != nil {
			return nil, hostops.Throw("TypeError", "fetch failed: "+networkError(ctx, t.authority(), err))
		}
		location := res.Header.Get("Location")
		if !isRedirect(res.StatusCode) || location == "" || out.Redirect == "manual" {
			return e.answer(res, t, method, swaps, hop > 0), nil
		}
		_ = res.Body.Close() // the rest is not needed
		switch {
		case out.Redirect == "error":
			return nil, hostops.Throw("TypeError",
				"fetch failed: "+t.authority()+" redirects, and the request says that this is an error")
		case hop >= maxRedirects:
			return nil, hostops.Throw("TypeError", fmt.Sprintf("fetch failed: more than %d redirects", maxRedirects))
		}
		to, err := t.url.Parse(hide(location, swaps))
		if err != nil {
			return nil, hostops.Throw("TypeError", "fetch failed: "+t.authority()+" redirects to what is no URL")
		}
		next, err := e.Rules.locate(to.String(), out.ForTool)
		if err != nil {
			return nil, hostops.Throw("TypeError", "fetch failed: "+t.authority()+" redirects elsewhere: "+err.Error())
		}
		if becomesGet(res.StatusCode, method) {
			method, body = http.MethodGet, nil
			for _, name := range []string{"Content-Type", "Content-Encoding", "Content-Language", "Content-Location"} {
				header.Del(name)
			}
		}
		if next.origin() != t.origin() {
			for _, name := range []string{"Authorization", "Cookie", "Cookie2", "Proxy-Authorization", "Www-Authenticate"} {
				header.Del(name)
			}
		}
		t = next
	}
}

// roundTrip makes one request without following redirects.
func (e *Client) roundTrip(
	ctx context.Context, t *target, method string, header http.Header, body []byte,
) (*http.Response, []swap, error) {
	e.once.Do(func() { e.transport = e.Dialer.transport(e.Wall) })
	swaps := e.swaps(t)
	sent := http.Header{}
	for name, values := range header {
		for _, v := range values {
			v = inHeader(v, swaps)
			if !httpguts.ValidHeaderFieldValue(v) {
				return nil, nil, refusal("a secret holds what no header can")
			}
			sent[name] = append(sent[name], v)
		}
	}
	if e.TraceParent != "" && sent.Get("Traceparent") == "" {
		sent.Set("Traceparent", e.TraceParent)
	}
	var content io.Reader
	if body != nil {
		held, err := hostops.Hold(e.Memory, 0)
		if err != nil {
			return nil, nil, err
		}
		defer held.Drop()
		if body, err = inBody(body, header.Get("Content-Type"), swaps, e.MaxBytes, held); err != nil {
			return nil, nil, err
		}
		content = bytes.NewReader(body)
	}
	ctx = context.WithValue(ctx, targetKey{}, t)
	req, err := http.NewRequestWithContext(ctx, method, inURL(t.url, swaps).String(), content)
	if err != nil {
		return nil, nil, refusal("the request is not valid")
	}
	req.Header = sent
	if e.transport == nil {
		return nil, nil, refusal("the run has ended")
	}
	res, err := e.transport.RoundTrip(req)
	return res, echoes(swaps), err
}

func (e *Client) answer(res *http.Response, t *target, method string, swaps []swap, redirected bool) *Response {
	hideHeader(res.Header, swaps)
	in := &Response{
		Status: res.StatusCode, URL: t.url.String(), Redirected: redirected, Header: res.Header,
		StatusText: hide(strings.TrimSpace(strings.TrimPrefix(res.Status, fmt.Sprint(res.StatusCode))), swaps),
	}
	if method == http.MethodHead || res.StatusCode == 204 || res.StatusCode == 205 || res.StatusCode == 304 {
		_ = res.Body.Close() // there is nothing in it
		return in
	}
	in.Body = &counted{newHider(res.Body, swaps), e}
	return in
}

// counted is a body whose bytes are counted as they are read.
type counted struct {
	io.ReadCloser
	client *Client
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if limit := c.client.charge(n); limit != nil {
		return 0, limit
	}
	return n, err
}

// Transferred returns how many bytes of bodies were sent and received.
func (e *Client) Transferred() int64 { return e.bytes.Load() }

// Continue counts n bytes that an earlier segment of the run has sent and received.
func (e *Client) Continue(n int64) { e.bytes.Add(n) }

// charge counts bytes of bodies.
func (e *Client) charge(n int) error {
	if e.bytes.Add(int64(n)) > e.MaxBytes {
		return e.TooMuch
	}
	return nil
}

func isRedirect(status int) bool {
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308
}

func becomesGet(status int, method string) bool {
	return (status == 301 || status == 302) && method == http.MethodPost ||
		status == 303 && method != http.MethodGet && method != http.MethodHead
}

// methodOf checks a method and returns its canonical form. CONNECT, TRACE and TRACK are forbidden (Fetch Standard).
func methodOf(method string) (string, error) {
	if method == "" {
		return http.MethodGet, nil
	}
	upper := strings.ToUpper(method)
	switch upper {
	case "CONNECT", "TRACE", "TRACK":
		return "", hostops.Throw("TypeError", "the method "+upper+" is not allowed")
	case "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH":
		return upper, nil
	}
	if len(method) > 64 || !httpguts.ValidHeaderFieldName(method) {
		return "", hostops.Throw("TypeError", "the method is not valid")
	}
	return method, nil
}

// headerOf checks the guest's headers. It leaves out those that belong to the connection, as browsers do.
func headerOf(list [][2]string) (http.Header, error) {
	header, size := http.Header{}, 0
	for _, h := range list {
		name, value := h[0], strings.Trim(h[1], " \t\r\n")
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, hostops.Throw("TypeError", "a header is not valid: "+fmt.Sprintf("%q", hostops.CutBytes(name, 80)))
		}
		if size += len(name) + len(value) + 4; size > maxHeaderBytes {
			return nil, hostops.Throw("TypeError", fmt.Sprintf("the headers have more than %d bytes", maxHeaderBytes))
		}
		if !belongsToConnection(strings.ToLower(name)) {
			header.Add(name, value)
		}
	}
	if header.Get("Accept") == "" {
		header.Set("Accept", "*/*")
	}
	if header.Get("User-Agent") == "" {
		header.Set("User-Agent", "airlock")
	}
	return header, nil
}

func belongsToConnection(name string) bool {
	switch name {
	case "accept-charset", "accept-encoding", "connection", "content-length", "date", "expect", "host", "http2-settings",
		"keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "via":
		return true
	}
	return strings.HasPrefix(name, "proxy-") || strings.HasPrefix(name, "sec-")
}
