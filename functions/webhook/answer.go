package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// AnswerHeader reports whether code may set a header of an answer with this status to this value. An allowlist passes
// headers that describe the body and its caching, a redirect, and when to retry. A header that makes a browser, a
// proxy or a cache treat this origin differently never passes. X- headers pass if the deployment names them.
func AnswerHeader(status int, name, value string, named []string) bool {
	switch lower := strings.ToLower(name); lower {
	case "content-type":
		kind, _, err := mime.ParseMediaType(value)
		return err == nil && strings.Contains(kind, "/") && HasBody(status)
	case "content-language", "content-disposition":
		return HasBody(status)
	case "cache-control", "etag", "last-modified", "vary":
		return true
	case "retry-after":
		return len(value) <= 64
	case "location":
		elsewhere := status >= 300 && status <= 399 && status != http.StatusNotModified
		return (elsewhere || status == http.StatusCreated) && safeLocation(value)
	default:
		isNamed := slices.ContainsFunc(named, func(n string) bool { return strings.EqualFold(n, lower) })
		return isNamed && CheckAnswerHeaders([]string{lower}) == nil
	}
}

// mostChosenHeaders bounds the headers of an answer.
const mostChosenHeaders = 64

// ChosenHeaders reads the headers that code chose for an answer, by their canonical names. ok is false if they are no
// object of texts, numbers and booleans that can be the values of headers. None and null are no headers.
func ChosenHeaders(raw json.RawMessage) (headers map[string]string, ok bool) {
	headers = map[string]string{}
	var chosen map[string]any
	if len(raw) == 0 {
		return headers, true
	}
	if json.Unmarshal(raw, &chosen) != nil || len(chosen) > mostChosenHeaders {
		return nil, false
	}
	for name, value := range chosen {
		switch value.(type) {
		case string, float64, bool:
		default:
			return nil, false
		}
		text := fmt.Sprint(value)
		if !IsToken(name) || !isFieldValue(text) {
			return nil, false
		}
		headers[http.CanonicalHeaderKey(name)] = text
	}
	return headers, true
}

// IsToken reports whether s can be the name of a header (RFC 9110, section 5.6.2) of moderate length.
func IsToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != "" && len(s) <= 128
}

// isFieldValue reports whether s can be the value of a header: printable ASCII and tabs (RFC 9110, section 5.5, without
// obsolete text).
func isFieldValue(s string) bool {
	return len(s) <= 4096 && !strings.ContainsFunc(s, func(c rune) bool { return c != '\t' && (c < ' ' || c > '~') })
}

// HasBody reports whether an answer with this status may have a body.
func HasBody(status int) bool {
	switch status {
	case http.StatusNoContent, http.StatusResetContent, http.StatusNotModified:
		return false
	}
	return status >= 200
}

// safeLocation reports whether value is an absolute http or https URL, or a path of this host: nothing that a browser
// would run, and no other host in disguise.
func safeLocation(value string) bool {
	u, err := url.Parse(value)
	if err != nil || len(value) > 2048 || strings.ContainsAny(value, "\\ \t<>\"") || u.User != nil || u.Opaque != "" {
		return false
	}
	switch u.Scheme {
	case "http", "https":
		return u.Host != ""
	case "":
		return u.Host == "" && strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "//")
	}
	return false
}

// answerHeader matches a header that a deployment may name.
var answerHeader = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[xX]-[A-Za-z0-9-]{1,64}$`) })

// CheckAnswerHeaders returns an error for names that a deployment may not let code set: all but X- headers, and X-
// headers that browsers, proxies or this service act on.
func CheckAnswerHeaders(names []string) error {
	for _, name := range names {
		lower := strings.ToLower(name)
		switch {
		case !answerHeader().MatchString(name):
			return fmt.Errorf("%q is not the name of an X- header", name)
		case actedOn(lower) || Credential(lower):
			return errors.New(lower + " has a meaning to browsers, proxies or this service: code may not set it")
		}
	}
	return nil
}

// actedOn reports whether something acts on an X- header.
func actedOn(name string) bool {
	for _, prefix := range []string{
		"x-accel-", "x-airlock-", "x-cache-", "x-forwarded-", "x-frame-", "x-http-method", "x-lighttpd-", "x-litespeed-",
		"x-method-override", "x-original-", "x-permitted-", "x-proxy-", "x-real-", "x-reproxy-", "x-rewrite-", "x-sendfile",
		"x-varnish", "x-webkit-", "x-xss-",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	switch name {
	case "x-content-security-policy", "x-content-security-policy-report-only", "x-content-type-options",
		"x-dns-prefetch-control", "x-download-options", "x-execution-id", "x-redirect-by", "x-request-id", "x-robots-tag",
		"x-ua-compatible":
		return true
	}
	return false
}
