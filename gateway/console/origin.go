package console

import (
	"net/url"
	"path"
	"strings"
)

// Asked holds the headers with which a browser describes the origin of a request.
type Asked struct {
	Method string
	Host   string // the Host header
	Origin string // the headers of these names; "" where there was none
	Site   string // Sec-Fetch-Site
}

// SameOrigin reports whether a request with a session comes from one of our own pages. A read may leave its origin
// out. Anything else must name it, as every browser does, and is refused if the origin cannot be told. (A sibling
// host is the same site for SameSite cookies, but another origin here.)
func (a Asked) SameOrigin() bool {
	read := a.Method == "GET" || a.Method == "HEAD"
	switch a.Site {
	case "same-origin":
		return true
	case "none": // typed, or a bookmark
		return read
	case "":
	default:
		return false
	}
	if a.Origin == "" {
		return read
	}
	u, err := url.Parse(a.Origin)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && a.Host != "" && strings.EqualFold(u.Host, a.Host)
}

// Next returns where a login leads: one of our own pages, whatever was asked for.
func Next(asked string) string {
	u, err := url.Parse(asked)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Opaque != "" || u.User != nil || u.Path != path.Clean(u.Path) ||
		strings.ContainsAny(asked, "\\\t\r\n ") {
		return "/dashboard"
	}
	for _, own := range navigation() {
		if u.Path == own.Path || strings.HasPrefix(u.Path, own.Path+"/") {
			return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).String()
		}
	}
	return "/dashboard"
}
