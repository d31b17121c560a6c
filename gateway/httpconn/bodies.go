package httpconn

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/airlock-run/airlock/gateway/bounds"
)

// Bodies decides how long the body of a request may be, from its head alone, because a body is allocated before a
// handler can authenticate the caller. Requests with code may be long. Of long bodies only a few are held at once, and
// they are shared out by the credentials that the callers claim. It is safe for concurrent use.
type Bodies struct {
	// Long is the limit of a request with code, Short that of any other.
	Long, Short int
	// Open says that the gateway asks for no credentials.
	Open   bool
	Places *bounds.Leases
}

// Limit returns the configuration of a request: how long its body may be.
func (b *Bodies) Limit(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	return fasthttp.RequestConfig{MaxRequestBodySize: b.limit(h)}
}

func (b *Bodies) limit(h *fasthttp.RequestHeader) int {
	if !TakesCode(string(h.Method()), string(h.RequestURI())) {
		return b.Short
	}
	if h.ContentLength() <= b.Short || h.ContentLength() > b.Long {
		return b.Short // or too long in any case; a chunked body does not say its length
	}
	credential := claimed(h)
	if len(credential) == 0 && !b.Open {
		return b.Short
	}
	sum := sha256.Sum256(credential)
	leave, err := b.Places.Enter(bounds.Owner{Tenant: string(sum[:])})
	if err != nil {
		return b.Short
	}
	b.Places.Hold(nameOf(h), leave)
	return b.Long
}

// claimed returns the credential that a request claims to have. Clients of E2B have headers of their own.
func claimed(h *fasthttp.RequestHeader) []byte {
	names := []string{fasthttp.HeaderAuthorization, "X-Api-Key"}
	if strings.HasPrefix(string(h.RequestURI()), "/api/e2b/") {
		names = append(names, "X-Access-Token", "E2b-Traffic-Access-Token")
	}
	for _, name := range names {
		if value := h.Peek(name); len(value) > 0 {
			return value
		}
	}
	return nil
}

// Refused returns the status of a request whose body is longer than Limit allowed: 401 if it claims no credential, 411
// if it does not say its length, 503 if too many others are being served, otherwise 413.
func (b *Bodies) Refused(h *fasthttp.RequestHeader) int {
	n := h.ContentLength()
	switch {
	case !TakesCode(string(h.Method()), string(h.RequestURI())) || n > b.Long || b.Long <= b.Short:
		return fasthttp.StatusRequestEntityTooLarge
	case n < 0:
		return fasthttp.StatusLengthRequired
	case !b.Open && len(claimed(h)) == 0:
		return fasthttp.StatusUnauthorized
	}
	return fasthttp.StatusServiceUnavailable
}

// Holds reports whether a request has a place for its long body.
func (b *Bodies) Holds(h *fasthttp.RequestHeader) bool { return b.Places.Holds(nameOf(h)) }

// End frees the place of a request that was served.
func (b *Bodies) End(h *fasthttp.RequestHeader) {
	if h.ContentLength() > b.Short {
		b.Places.End(nameOf(h))
	}
}

// nameOf names the request that a connection is serving: fasthttp uses a header for one request at a time.
func nameOf(h *fasthttp.RequestHeader) string { return fmt.Sprintf("%p", h) }

// TakesCode reports whether a request has code in its body.
func TakesCode(method, uri string) bool {
	path, _, _ := strings.Cut(uri, "?")
	switch method {
	case fasthttp.MethodPost:
		switch path {
		case "/api/execute", "/api/execute/stream", "/api/analyze", "/mcp", "/api/v2/execute", "/api/e2b/execute":
			return true
		}
		id, ok := strings.CutPrefix(path, "/api/sessions/")
		id, step := strings.CutSuffix(id, "/execute")
		return ok && step && !strings.Contains(id, "/")
	case fasthttp.MethodPut:
		name, ok := strings.CutPrefix(path, "/api/functions/")
		return ok && !strings.Contains(name, "/")
	}
	return false
}
