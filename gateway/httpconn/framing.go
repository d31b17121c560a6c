package httpconn

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// WellFormed reports whether every HTTP parser reads the header as fasthttp did. fasthttp already rejects most shapes
// of request smuggling. WellFormed rejects those that RFC 9112 leaves open: a length together with a transfer coding,
// folded lines, names that are not tokens, control bytes in values, a missing, repeated or invalid Host, and versions
// other than 1.0 and 1.1. The connection of such a request must be closed, so that what follows is never taken for a
// request.
func WellFormed(h *fasthttp.RequestHeader) bool {
	version := string(h.Protocol())
	if version != "HTTP/1.1" && version != "HTTP/1.0" {
		return false
	}
	var hosts, lengths, codings int
	for line := range bytes.Lines(h.RawHeaders()) {
		line, ended := bytes.CutSuffix(line, []byte("\r\n"))
		if !ended {
			return false
		}
		if len(line) == 0 {
			continue
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || !isToken(name) || !isFieldValue(value) {
			return false
		}
		value = bytes.Trim(value, " \t")
		switch {
		case bytes.EqualFold(name, []byte("Host")):
			if hosts++; !isHost(value) {
				return false
			}
		case bytes.EqualFold(name, []byte("Content-Length")):
			lengths++
			if !isDigits(value) {
				return false
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			codings++
			if !bytes.EqualFold(value, []byte("chunked")) || version != "HTTP/1.1" {
				return false
			}
		}
	}
	return lengths+codings <= 1 && (hosts == 1 || hosts == 0 && version == "HTTP/1.0")
}

// isHost reports whether b can be a host and a port, without user, path or second host (RFC 3986 §3.2.2).
func isHost(b []byte) bool { return !bytes.ContainsAny(b, " \t@/\\?#,<>\"^`{|}") }

// Framed reports whether a request says where its body ends. fasthttp reads a request that does not say so as one
// with an empty body.
func Framed(h *fasthttp.RequestHeader) bool {
	for line := range bytes.Lines(h.RawHeaders()) {
		name, _, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(name, []byte("Content-Length")) || bytes.EqualFold(name, []byte("Transfer-Encoding")) {
			return true
		}
	}
	return false
}

// isToken reports whether b is a token (RFC 9110 §5.6.2).
func isToken(b []byte) bool {
	for _, c := range b {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), c) < 0 {
			return false
		}
	}
	return len(b) > 0
}

// isFieldValue reports whether b has only visible characters, spaces, tabs and bytes beyond ASCII.
func isFieldValue(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

func isDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}
