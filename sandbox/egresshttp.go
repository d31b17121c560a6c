package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/net/http/httpguts"

	"github.com/airlock-run/airlock/policy/outbound"
)

// egress is the network of one run. It is safe for concurrent use.
type egress struct {
	network Network
	config  Egress
	seed    int64
	limits  Limits
	memory  aside

	once      sync.Once
	transport *outbound.Transport
	bytes     atomic.Int64 // sent and received in bodies
	trace     string       // Script.TraceParent
}

func (e *egress) close() {
	e.once.Do(func() {})
	if e.transport != nil {
		e.transport.CloseIdleConnections()
	}
}

// outgoing is a request as the guest put it. Everything in it is hostile.
type outgoing struct {
	method, url string
	header      [][2]string
	body        []byte
	redirect    string // follow, error or manual
	forTool     bool
}

// incoming is the answer; its body must be closed.
type incoming struct {
	status     int
	statusText string
	url        string // with placeholders
	redirected bool
	header     http.Header
	body       io.ReadCloser // nil when there can be none
}

// do makes a request and follows its redirects. An error is fit for the guest, or a *limitError.
func (e *egress) do(ctx context.Context, out outgoing) (*incoming, error) {
	method, err := methodOf(out.method)
	if err != nil {
		return nil, err
	}
	header, err := headerOf(out.header)
	if err != nil {
		return nil, err
	}
	if err := e.charge(len(out.body)); err != nil {
		return nil, err
	}
	t, err := e.network.locate(out.url, out.forTool)
	if err != nil {
		return nil, &opError{"TypeError", "fetch failed: " + err.Error()}
	}
	body := out.body
	for hop := 0; ; hop++ {
		res, swaps, err := e.roundTrip(ctx, t, method, header, body)
		var limit *limitError
		if errors.As(err, &limit) {
			return nil, limit
		}
		if err != nil {
			return nil, &opError{"TypeError", "fetch failed: " + networkError(ctx, t.authority(), err)}
		}
		location := res.Header.Get("Location")
		if !isRedirect(res.StatusCode) || location == "" || out.redirect == "manual" {
			return e.answer(res, t, method, swaps, hop > 0), nil
		}
		_ = res.Body.Close() // nothing more is wanted of it
		switch {
		case out.redirect == "error":
			return nil, &opError{"TypeError", "fetch failed: " + t.authority() + " redirects, and the request says that this is an error"}
		case hop >= maxRedirects:
			return nil, &opError{"TypeError", fmt.Sprintf("fetch failed: more than %d redirects", maxRedirects)}
		}
		to, err := t.url.Parse(hide(location, swaps))
		if err != nil {
			return nil, &opError{"TypeError", "fetch failed: " + t.authority() + " redirects to what is no URL"}
		}
		next, err := e.network.locate(to.String(), out.forTool)
		if err != nil {
			return nil, &opError{"TypeError", "fetch failed: " + t.authority() + " redirects elsewhere: " + err.Error()}
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
func (e *egress) roundTrip(ctx context.Context, t *target, method string, header http.Header, body []byte) (*http.Response, []swap, error) {
	e.once.Do(func() { e.transport = e.config.transport(e.limits) })
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
	if e.trace != "" && sent.Get("Traceparent") == "" {
		sent.Set("Traceparent", e.trace)
	}
	var content io.Reader
	if body != nil {
		held, err := hold(e.memory, 0)
		if err != nil {
			return nil, nil, err
		}
		defer held.drop()
		if body, err = inBody(body, header.Get("Content-Type"), swaps, e.limits.FetchBytes, held); err != nil {
			return nil, nil, err
		}
		content = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(context.WithValue(ctx, targetKey{}, t), method, inURL(t.url, swaps).String(), content)
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

func (e *egress) answer(res *http.Response, t *target, method string, swaps []swap, redirected bool) *incoming {
	hideHeader(res.Header, swaps)
	in := &incoming{
		status: res.StatusCode, url: t.url.String(), redirected: redirected, header: res.Header,
		statusText: hide(strings.TrimSpace(strings.TrimPrefix(res.Status, fmt.Sprint(res.StatusCode))), swaps),
	}
	if method == http.MethodHead || res.StatusCode == 204 || res.StatusCode == 205 || res.StatusCode == 304 {
		_ = res.Body.Close() // there is nothing in it
		return in
	}
	in.body = &counted{newHider(res.Body, swaps), e}
	return in
}

// counted charges what is read of a body.
type counted struct {
	io.ReadCloser
	egress *egress
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if limit := c.egress.charge(n); limit != nil {
		return 0, limit
	}
	return n, err
}

// charge counts bytes of bodies.
func (e *egress) charge(n int) error {
	if e.bytes.Add(int64(n)) > e.limits.FetchBytes {
		return e.limits.exceeded(LimitFetchBytes)
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

// methodOf checks a method. CONNECT, TRACE and TRACK are not to be had (Fetch Standard, forbidden methods).
func methodOf(method string) (string, error) {
	if method == "" {
		return http.MethodGet, nil
	}
	upper := strings.ToUpper(method)
	switch upper {
	case "CONNECT", "TRACE", "TRACK":
		return "", &opError{"TypeError", "the method " + upper + " is not allowed"}
	case "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH":
		return upper, nil
	}
	if len(method) > 64 || !httpguts.ValidHeaderFieldName(method) {
		return "", &opError{"TypeError", "the method is not valid"}
	}
	return method, nil
}

// headerOf checks the guest's headers. Those that belong to the connection are left out, as browsers do.
func headerOf(list [][2]string) (http.Header, error) {
	header, size := http.Header{}, 0
	for _, h := range list {
		name, value := h[0], strings.Trim(h[1], " \t\r\n")
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, &opError{"TypeError", "a header is not valid: " + fmt.Sprintf("%q", cutBytes(name, 80))}
		}
		if size += len(name) + len(value) + 4; size > maxHeaderBytes {
			return nil, &opError{"TypeError", fmt.Sprintf("the headers have more than %d bytes", maxHeaderBytes)}
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
