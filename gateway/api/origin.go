package api

import (
	"fmt"
	"net/url"
	"strings"
)

// CheckOrigin returns an error unless o is an origin as browsers send it (RFC 6454 §6.2).
func CheckOrigin(o string) error {
	u, err := url.Parse(o)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Scheme+"://"+u.Host != o ||
		strings.ToLower(o) != o || strings.ContainsAny(o, "* ") {
		return fmt.Errorf("%q is not an origin; write it as browsers send it, such as https://app.example.com (scheme, "+
			"host, port if unusual; lower case, no path)", o)
	}
	return nil
}

// ForeignOrigin returns the error for a request that a page of another origin made.
func ForeignOrigin() error {
	return &Problem{
		Status: 403, Code: "foreign_origin",
		Detail: "this request comes from a web page of another origin; list the origin in CORS_ORIGINS, or configure a " +
			"credential",
	}
}
