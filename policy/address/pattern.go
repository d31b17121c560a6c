package address

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// ParsePattern checks a host pattern and returns it in lower case: a name, an address ("[::1]" for IPv6), or
// "*.example.com", each with an optional port. An address that no setting opens is an error.
func ParsePattern(s string) (string, error) {
	bad := func(why string) (string, error) {
		return "", fmt.Errorf(`host %q %s; use a name such as api.example.com, *.example.com or 127.0.0.1:8080`, s, why)
	}
	if strings.ContainsAny(s, "/@ ") {
		return bad("is not a host name")
	}
	p := strings.ToLower(strings.TrimSuffix(s, "."))
	name, port := splitPort(p)
	if strings.HasSuffix(p, ":") {
		return bad("ends in a colon without a port")
	}
	if port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return bad("has a port that is not a number from 1 to 65535")
		}
	}
	if rest, ok := strings.CutPrefix(name, "["); ok {
		addr, err := netip.ParseAddr(strings.TrimSuffix(rest, "]"))
		switch {
		case err != nil || !addr.Is6():
			return bad("is not an IPv6 address in brackets")
		case ClassOf(addr) == Never:
			return bad("is an address that no setting opens")
		}
		return p, nil
	}
	name = strings.TrimPrefix(name, "*.")
	if name == "" || len(name) > 253 {
		return bad("has no name")
	}
	for label := range strings.SplitSeq(name, ".") {
		if !isLabel(label) {
			return bad("is not a host name")
		}
	}
	if _, addr, err := Host(name); err == nil && addr.IsValid() && ClassOf(addr) == Never {
		return bad("is an address that no setting opens")
	}
	return p, nil
}

func isLabel(s string) bool {
	return s != "" && len(s) <= 63 && s[0] != '-' && s[len(s)-1] != '-' &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// splitPort separates the port of a pattern. It keeps the brackets of an IPv6 address, which [SplitPattern] removes.
func splitPort(p string) (name, port string) {
	i := strings.LastIndexByte(p, ':')
	if i < 0 || strings.HasSuffix(p, "]") {
		return p, ""
	}
	return p[:i], p[i+1:]
}

// covers reports whether outer matches every host that inner matches.
func covers(outer, inner string) bool {
	on, op := splitPort(outer)
	in, ip := splitPort(strings.ToLower(inner))
	if op != "" && op != ip {
		return false
	}
	if domain, ok := strings.CutPrefix(on, "*"); ok {
		return strings.HasSuffix(in, domain) && len(in) > len(domain)
	}
	return on == in
}

// Cover reports whether one of the patterns matches every host that the pattern host matches.
func Cover(patterns []string, host string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return covers(p, host) })
}

// Intersect returns the patterns of the hosts that both lists match.
func Intersect(a, b []string) []string {
	out := []string{}
	for _, p := range a {
		for _, q := range b {
			if both, ok := intersect(p, q); ok && !slices.Contains(out, both) {
				out = append(out, both)
			}
		}
	}
	return out
}

func intersect(a, b string) (string, bool) {
	an, ap := splitPort(strings.ToLower(a))
	bn, bp := splitPort(strings.ToLower(b))
	switch {
	case ap != "" && bp != "" && ap != bp:
		return "", false
	case covers(an, bn):
		an = bn
	case !covers(bn, an):
		return "", false
	}
	if ap == "" {
		ap = bp
	}
	if ap != "" {
		an += ":" + ap
	}
	return an, true
}
