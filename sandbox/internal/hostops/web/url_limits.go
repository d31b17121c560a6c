package web

import "strings"

// The parser's time grows with the square of an authority's length and of a path's segments. A guest cannot be stopped
// while it parses, so a text with more of either than this is not accepted as a URL; no server would accept it either.
const (
	maxAuthority = 4096 // bytes
	maxUserSigns = 1024 // at signs in it: each makes the parser encode again what precedes it
	maxURLPath   = 16 << 10
	maxSegments  = 4096
)

// excessive reports whether text must not be parsed as a URL. Opaque paths (data:), queries and fragments may be as
// long as the whole (url_parts.go).
func excessive(text string) bool {
	if len(text) <= maxUserSigns {
		return false
	}
	if i := strings.IndexAny(text, "?#"); i >= 0 {
		text = text[:i]
	}
	text = strings.TrimLeft(text, controlsAndSpace)
	text = strings.NewReplacer("\t", "", "\n", "", "\r", "", "\\", "/").Replace(text)
	scheme, rest := "", text
	if i := strings.IndexAny(text, ":/"); i >= 0 && text[i] == ':' {
		scheme, rest = strings.ToLower(text[:i]), text[i+1:]
	}
	special := special(scheme)
	if len(rest) > maxAuthority+maxURLPath {
		return true
	}
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
	return len(authority) > maxAuthority || strings.Count(authority, "@") > maxUserSigns
}

// excessivePart reports whether a part of a URL must not be set to value.
func excessivePart(part, value string) bool {
	switch part {
	case "search", "hash":
		return false
	case "pathname":
		return len(value) > maxURLPath || strings.Count(value, "/")+strings.Count(value, "\\") > maxSegments
	}
	return len(value) > maxAuthority
}
