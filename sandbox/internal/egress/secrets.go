package egress

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/sandbox/internal/hostops"
)

// Placeholder returns what the guest sees of a secret. It differs from run to run and is the same if a run is repeated.
func Placeholder(seed int64, name string) string {
	text := append(binary.LittleEndian.AppendUint64([]byte("airlock secret "), uint64(seed)), name...)
	sum := sha256.Sum256(text)
	return "secret_" + hex.EncodeToString(sum[:16])
}

// swap is a placeholder and the value that replaces it towards one host.
type swap struct{ placeholder, value string }

// swaps returns the replacements for the secrets that may go to t.
func (e *Client) swaps(t *target) []swap {
	if t.url.Scheme != "https" && !t.opened {
		return nil
	}
	var out []swap
	for _, s := range e.Rules.Secrets {
		if address.Hosts(s.Hosts).Match(t.host, t.port).OK && s.Value != "" {
			out = append(out, swap{Placeholder(e.Seed, s.Name), s.Value})
		}
	}
	return out
}

// echoes returns the forms in which an answer may repeat secrets: plain, as in a JSON string, escaped for a URL, and
// in base64. A server that the secret is meant for can always pass it on in some other form.
func echoes(swaps []swap) []swap {
	var out []swap
	for _, s := range swaps {
		quoted, _ := json.Marshal(s.value) // a string always encodes
		forms := []string{
			s.value, string(quoted[1 : len(quoted)-1]), plainJSON(s.value), url.QueryEscape(s.value), url.PathEscape(s.value),
			base64.StdEncoding.EncodeToString([]byte(s.value)), base64.RawURLEncoding.EncodeToString([]byte(s.value)),
		}
		slices.Sort(forms)
		for _, f := range slices.Compact(forms) {
			out = append(out, swap{s.placeholder, f})
		}
	}
	// Of two secrets one of which begins with the other, the longer one is replaced.
	slices.SortStableFunc(out, func(a, b swap) int { return len(b.value) - len(a.value) })
	return out
}

// plainJSON returns a JSON string as encoders other than Go's write it.
func plainJSON(s string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(out.String(), "\n"), `"`), `"`)
}

func replaced(text string, swaps []swap, escape func(string) string) string {
	for _, s := range swaps {
		if strings.Contains(text, s.placeholder) {
			text = strings.ReplaceAll(text, s.placeholder, escape(s.value))
		}
	}
	return text
}

func asIs(s string) string { return s }

// inHeader puts secrets into the value of a header. Basic credentials are decoded for it.
func inHeader(value string, swaps []swap) string {
	if scheme, encoded, ok := strings.Cut(value, " "); ok && strings.EqualFold(scheme, "Basic") {
		if plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded)); err == nil {
			return scheme + " " + base64.StdEncoding.EncodeToString([]byte(replaced(string(plain), swaps, asIs)))
		}
	}
	return replaced(value, swaps, asIs)
}

// inURL puts secrets into path and query, escaped so that they cannot add to the URL's structure.
func inURL(u *url.URL, swaps []swap) *url.URL {
	out := *u
	out.Path = replaced(u.Path, swaps, asIs)
	out.RawPath = replaced(u.RawPath, swaps, url.PathEscape)
	out.RawQuery = replaced(u.RawQuery, swaps, url.QueryEscape)
	return &out
}

// inBody puts secrets into a body, escaped as its content type needs. It charges the new body to held. The body may
// have at most limit bytes.
func inBody(body []byte, contentType string, swaps []swap, limit int64, held *hostops.Holding) ([]byte, error) {
	escape := asIs
	switch kind, _, _ := strings.Cut(strings.ToLower(contentType), ";"); {
	case strings.HasSuffix(strings.TrimSpace(kind), "json"):
		escape = func(s string) string {
			text, _ := json.Marshal(s) // a string always encodes
			return string(text[1 : len(text)-1])
		}
	case strings.TrimSpace(kind) == "application/x-www-form-urlencoded":
		escape = url.QueryEscape
	}
	for _, s := range swaps {
		n := int64(bytes.Count(body, []byte(s.placeholder)))
		if n == 0 {
			continue
		}
		value := []byte(escape(s.value))
		size := int64(len(body)) + n*int64(len(value)-len(s.placeholder))
		if size > limit {
			return nil, refusal(fmt.Sprintf("the body has more than %d bytes with its secrets", limit))
		}
		if err := held.More(size); err != nil {
			return nil, err
		}
		body = bytes.ReplaceAll(body, []byte(s.placeholder), value)
	}
	return body, nil
}

// hide replaces secrets that an answer repeats by their placeholders.
func hide(text string, swaps []swap) string {
	for _, s := range swaps {
		text = strings.ReplaceAll(text, s.value, s.placeholder)
	}
	return text
}

func hideHeader(h http.Header, swaps []swap) {
	for _, values := range h {
		for i := range values {
			values[i] = hide(values[i], swaps)
		}
	}
}

// hider is a body in which placeholders replace secrets, also across the borders of reads.
type hider struct {
	from    io.ReadCloser
	swaps   []swap
	longest int
	pending []byte // read, and not yet searched to the end
	ready   []byte // ready for the reader
	err     error
}

func newHider(body io.ReadCloser, swaps []swap) io.ReadCloser {
	if len(swaps) == 0 {
		return body
	}
	h := &hider{from: body, swaps: swaps}
	for _, s := range swaps {
		h.longest = max(h.longest, len(s.value))
	}
	return h
}

func (h *hider) Close() error { return h.from.Close() }

func (h *hider) Read(p []byte) (int, error) {
	for len(h.ready) == 0 {
		if h.err != nil {
			return 0, h.err
		}
		chunk := make([]byte, 16<<10)
		n, err := h.from.Read(chunk)
		h.pending = append(h.pending, chunk[:n]...)
		h.err = err
		h.look()
	}
	n := copy(p, h.ready)
	h.ready = h.ready[n:]
	return n, nil
}

// look moves to ready what can no longer be the start of a secret.
func (h *hider) look() {
	var out []byte
	for {
		first, which := -1, 0
		for i, s := range h.swaps {
			if at := bytes.Index(h.pending, []byte(s.value)); at >= 0 && (first < 0 || at < first) {
				first, which = at, i
			}
		}
		if first < 0 || h.err == nil && first+h.longest > len(h.pending) {
			break // a longer secret may begin there, or before
		}
		out = append(append(out, h.pending[:first]...), h.swaps[which].placeholder...)
		h.pending = h.pending[first+len(h.swaps[which].value):]
	}
	keep := min(h.longest-1, len(h.pending))
	if h.err != nil {
		keep = 0
	}
	cut := len(h.pending) - keep
	h.ready = append(append(h.ready, out...), h.pending[:cut]...)
	h.pending = append([]byte(nil), h.pending[cut:]...)
}
