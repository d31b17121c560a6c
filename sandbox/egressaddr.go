package sandbox

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// refused4 are the IPv4 addresses that are not on the public Internet (IANA special-purpose registry), and the address at
// which Azure's machines reach their host.
var refused4 = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
)

// global is what IPv6 has of public unicast addresses; refused6 are those in it that are not, or that carry an IPv4
// address (Teredo in 2001::/23, 6to4). NAT64, mapped, compatible, unique local and link-local ones lie outside global.
var (
	global   = netip.MustParsePrefix("2000::/3")
	refused6 = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)

// neverOpen are addresses that no deployment opens: this network, link-local ones and with them the metadata services
// of clouds, multicast and broadcast.
var neverOpen = prefixes(
	"0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32", "100.100.100.200/32",
	"::/128", "fe80::/10", "ff00::/8", "fd00:ec2::/32", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32",
)

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		out[i] = netip.MustParsePrefix(t)
	}
	return out
}

func within(list []netip.Prefix, a netip.Addr) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// isPublic reports whether a is an address of the public Internet. Anything doubtful is not.
func isPublic(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	if a = a.Unmap(); a.Is4() {
		return !within(refused4, a)
	}
	return global.Contains(a) && !within(refused6, a)
}

// mayOpen reports whether a deployment can open a: public, private and loopback addresses.
func mayOpen(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	if a.Is6() && netip.MustParsePrefix("::/96").Contains(a) && a != netip.IPv6Loopback() {
		return false
	}
	return !within(neverOpen, a)
}

var errHost = errors.New("the host is not a valid name or address")

// hostName gives the one spelling of a URL's host: an address as netip prints it, or a name in lower-case ASCII without
// a trailing dot. Numeric hosts are read as the URL standard reads them: parts in decimal, octal or hexadecimal.
func hostName(host string) (name string, addr netip.Addr, err error) {
	if len(host) > 512 {
		return "", addr, errHost
	}
	if strings.Contains(host, ":") {
		a, err := netip.ParseAddr(host)
		if err != nil || a.Zone() != "" {
			return "", addr, errHost
		}
		a = a.Unmap()
		return a.String(), a, nil
	}
	name, err = idna.Lookup.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil && !plainName(host) {
		return "", addr, errHost
	}
	if err != nil { // an underscore, which the profile refuses and real names have
		name = strings.ToLower(strings.TrimSuffix(host, "."))
	}
	if name == "" || len(name) > 253 || !plainName(name) {
		return "", addr, errHost
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
	for label := range strings.SplitSeq(strings.TrimSuffix(s, "."), ".") {
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

// numericHost reads one to four numbers; the last fills what is left (URL Standard, IPv4 parser).
func numericHost(name string) (netip.Addr, error) {
	parts := strings.Split(name, ".")
	if len(parts) > 4 {
		return netip.Addr{}, errHost
	}
	var value uint64
	for i, p := range parts {
		n, err := numericPart(p)
		if err != nil {
			return netip.Addr{}, errHost
		}
		if i < len(parts)-1 {
			if n > 255 {
				return netip.Addr{}, errHost
			}
			value |= n << (8 * (3 - i))
			continue
		}
		if n >= 1<<(8*(5-len(parts))) {
			return netip.Addr{}, errHost
		}
		value |= n
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), nil
}
