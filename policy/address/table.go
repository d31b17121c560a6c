package address

import "net/netip"

// A Class decides who may dial an address. The zero value is refused everywhere.
type Class uint8

// The classes.
const (
	Never Class = iota
	Loopback
	Private
	Public
)

// String returns the name of the class.
func (c Class) String() string {
	switch c {
	case Loopback:
		return "loopback"
	case Private:
		return "private"
	case Public:
		return "public"
	}
	return "never"
}

type entry struct {
	prefix netip.Prefix
	class  Class
}

// table holds the IANA IPv4 and IPv6 Special-Purpose Address Registries
// (iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry, up to their entries of April 2025,
// the newest of which is RFC 9780), multicast, what is deprecated or unallocated, and the metadata services of clouds.
// The longest prefix decides. Registered blocks that are globally reachable but serve a protocol (anycast sinks and
// relays) count as private: no web server is there.
var table = []entry{
	{netip.MustParsePrefix("0.0.0.0/0"), Public},
	{netip.MustParsePrefix("0.0.0.0/8"), Never},          // this network, RFC 791
	{netip.MustParsePrefix("10.0.0.0/8"), Private},       // RFC 1918
	{netip.MustParsePrefix("100.64.0.0/10"), Private},    // shared address space, RFC 6598
	{netip.MustParsePrefix("100.100.100.200/32"), Never}, // Alibaba Cloud metadata
	{netip.MustParsePrefix("127.0.0.0/8"), Loopback},     // RFC 1122
	{netip.MustParsePrefix("168.63.129.16/32"), Never},   // Azure's host
	{netip.MustParsePrefix("169.254.0.0/16"), Never},     // link-local, RFC 3927, with most clouds' metadata
	{netip.MustParsePrefix("172.16.0.0/12"), Private},    // RFC 1918
	{netip.MustParsePrefix("192.0.0.0/24"), Never},       // IETF protocol assignments, RFC 6890; Oracle's 192.0.0.192
	{netip.MustParsePrefix("192.0.2.0/24"), Private},     // documentation, RFC 5737
	{netip.MustParsePrefix("192.31.196.0/24"), Private},  // AS112, RFC 7535
	{netip.MustParsePrefix("192.52.193.0/24"), Private},  // AMT relays, RFC 7450
	{netip.MustParsePrefix("192.88.99.0/24"), Never},     // 6to4 relays, deprecated, RFC 7526
	{netip.MustParsePrefix("192.168.0.0/16"), Private},   // RFC 1918
	{netip.MustParsePrefix("192.175.48.0/24"), Private},  // AS112, RFC 7534
	{netip.MustParsePrefix("198.18.0.0/15"), Private},    // benchmarking, RFC 2544
	{netip.MustParsePrefix("198.51.100.0/24"), Private},  // documentation, RFC 5737
	{netip.MustParsePrefix("203.0.113.0/24"), Private},   // documentation, RFC 5737
	{netip.MustParsePrefix("224.0.0.0/4"), Never},        // multicast, RFC 1112
	{netip.MustParsePrefix("240.0.0.0/4"), Never},        // reserved, RFC 1112, and broadcast

	// unallocated, IPv4-compatible, IPv4-translated, NAT64, discard, SRv6
	{netip.MustParsePrefix("::/0"), Never},
	{netip.MustParsePrefix("::1/128"), Loopback}, // RFC 4291
	{netip.MustParsePrefix("2000::/3"), Public},  // global unicast, RFC 4291
	// IETF protocol assignments, RFC 2928, with Teredo, ORCHID and anycast
	{netip.MustParsePrefix("2001::/23"), Never},
	{netip.MustParsePrefix("2001:2::/48"), Private},          // benchmarking, RFC 5180
	{netip.MustParsePrefix("2001:db8::/32"), Private},        // documentation, RFC 3849
	{netip.MustParsePrefix("2002::/16"), Never},              // 6to4, RFC 3056
	{netip.MustParsePrefix("2620:4f:8000::/48"), Private},    // AS112, RFC 7534
	{netip.MustParsePrefix("3ffe::/16"), Never},              // 6bone, returned to IANA, RFC 3701
	{netip.MustParsePrefix("3fff::/20"), Private},            // documentation, RFC 9637
	{netip.MustParsePrefix("fc00::/7"), Private},             // unique local, RFC 4193
	{netip.MustParsePrefix("fd00:42::42/128"), Never},        // Scaleway metadata
	{netip.MustParsePrefix("fd00:a9fe:a9fe::/48"), Never},    // Akamai (Linode) metadata
	{netip.MustParsePrefix("fd00:c1::a9fe:a9fe/128"), Never}, // Oracle Cloud metadata
	{netip.MustParsePrefix("fd00:ec2::/32"), Never},          // AWS metadata, DNS, time and pod identity
	{netip.MustParsePrefix("fd20:ce::254/128"), Never},       // Google Cloud metadata
}

// ClassOf returns the class of a. An IPv4-mapped address has the class of the address inside. An invalid address, or
// one with a zone, is never dialled.
func ClassOf(a netip.Addr) Class {
	if !a.IsValid() || a.Zone() != "" {
		return Never
	}
	a = a.Unmap()
	best := entry{}
	for _, e := range table {
		if e.prefix.Contains(a) && (!best.prefix.IsValid() || e.prefix.Bits() > best.prefix.Bits()) {
			best = e
		}
	}
	if carriesISATAP(a) {
		return Never
	}
	return best.class
}

// carriesISATAP reports whether the interface identifier of a holds an IPv4 address that a tunnel would reach (RFC
// 5214).
func carriesISATAP(a netip.Addr) bool {
	b := a.As16()
	return a.Is6() && b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}
