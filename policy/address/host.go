package address

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// ErrHost is returned for a host that is neither a name nor an address.
var ErrHost = errors.New("the host is not a valid name or address")

// Host returns the canonical form of a URL's host: an address as netip prints it, or a name in lower-case ASCII without
// a trailing dot. Numeric hosts are parsed as in the URL Standard: parts in decimal, octal or hexadecimal. A zone is an
// error. The address is invalid for a name.
func Host(host string) (name string, addr netip.Addr, err error) {
	if len(host) > 512 {
		return "", addr, ErrHost
	}
	if strings.Contains(host, ":") {
		a, err := netip.ParseAddr(host)
		if err != nil || a.Zone() != "" {
			return "", addr, ErrHost
		}
		a = a.Unmap()
		return a.String(), a, nil
	}
	plain, dotted := strings.CutSuffix(host, ".")
	name, err = idna.Lookup.ToASCII(plain)
	switch {
	case err != nil && !plainName(plain):
		return "", addr, ErrHost
	case err != nil: // an underscore, which the profile refuses and real names have
		name = strings.ToLower(plain)
	case !dotted:
		name = strings.TrimSuffix(name, ".") // an ideographic full stop
	}
	if name == "" || len(name) > 253 || !plainName(name) {
		return "", addr, ErrHost
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	if !isNumeric(last) {
		return name, addr, nil
	}
	if addr, err = numericHost(name); err != nil {
		return "", addr, err
	}
	return addr.String(), addr, nil
}

func plainName(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
		for i := range len(label) {
			c := label[i] | 0x20
			if !(c >= 'a' && c <= 'z' || label[i] >= '0' && label[i] <= '9' || label[i] == '-' || label[i] == '_') {
				return false
			}
		}
	}
	return true
}

func isNumeric(label string) bool {
	if strings.Trim(label, "0123456789") == "" {
		return true
	}
	_, err := numericPart(label)
	return err == nil
}

func numericPart(s string) (uint64, error) {
	base := 10
	switch {
	case strings.HasPrefix(s, "0x"):
		s, base = s[2:], 16
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	if s == "" {
		return 0, nil
	}
	return strconv.ParseUint(s, base, 64)
}

// numericHost parses one to four numbers. The last fills the remaining bytes (URL Standard, IPv4 parser).
func numericHost(name string) (netip.Addr, error) {
	parts := strings.Split(name, ".")
	if len(parts) > 4 {
		return netip.Addr{}, ErrHost
	}
	var value uint64
	for i, p := range parts {
		n, err := numericPart(p)
		if err != nil {
			return netip.Addr{}, ErrHost
		}
		if i < len(parts)-1 {
			if n > 255 {
				return netip.Addr{}, ErrHost
			}
			value |= n << (8 * (3 - i))
			continue
		}
		if n >= 1<<(8*(5-len(parts))) {
			return netip.Addr{}, ErrHost
		}
		value |= n
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), nil
}
