package sandbox

import "strings"

// The parser's time grows with the square of an authority's length and of a path's segments. A guest cannot be stopped
// while it parses, so what no server would take is no URL: more of either than this.
const (
	maxAuthority = 4096 // bytes
	maxSegments  = 8192
)

// excessive tells whether text must not be parsed as a URL. Opaque paths (data:), queries and fragments may be as long as
// the whole.
func excessive(text string) bool {
	if len(text) <= maxAuthority {
		return false
	}
	if i := strings.IndexAny(text, "?#"); i >= 0 {
		text = text[:i]
	}
	text = strings.TrimLeft(text, "\x00\x01\x02\x03\x04\x05\x06\a\b\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f ")
	text = strings.NewReplacer("\t", "", "\n", "", "\r", "", "\\", "/").Replace(text)
	scheme, rest := "", text
	if i := strings.IndexAny(text, ":/"); i >= 0 && text[i] == ':' {
		scheme, rest = strings.ToLower(text[:i]), text[i+1:]
	}
	special := scheme == "http" || scheme == "https" || scheme == "ws" || scheme == "wss" || scheme == "ftp" || scheme == "file"
	if scheme != "" && !special && !strings.HasPrefix(rest, "/") {
		return false
	}
	if strings.Count(rest, "/") > maxSegments {
		return true
	}
	if !special && !strings.HasPrefix(rest, "//") {
		return false
	}
	authority, _, _ := strings.Cut(strings.TrimLeft(rest, "/"), "/")
	return len(authority) > maxAuthority
}

// excessivePart is excessive for the value that a part of a URL is set to.
func excessivePart(part, value string) bool {
	switch part {
	case "search", "hash":
		return false
	case "pathname":
		return strings.Count(value, "/")+strings.Count(value, "\\") > maxSegments
	}
	return len(value) > maxAuthority
}
