package address_test

import (
	"errors"
	"net/netip"
	"net/url"
	"testing"

	"github.com/airlock-run/airlock/policy/address"
)

const (
	never    = address.Never
	loopback = address.Loopback
	private  = address.Private
	public   = address.Public
)

// TestClassOf tests the first and the last address of every block, and their neighbours outside.
func TestClassOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		block         string
		class         address.Class
		before, after address.Class
	}{
		// IANA IPv4 Special-Purpose Address Registry.
		{"0.0.0.0/8", never, never, public},
		{"0.0.0.0/32", never, never, never},
		{"10.0.0.0/8", private, public, public},
		{"100.64.0.0/10", private, public, public},
		{"127.0.0.0/8", loopback, public, public},
		{"169.254.0.0/16", never, public, public},
		{"172.16.0.0/12", private, public, public},
		{"192.0.0.0/24", never, public, public},
		{"192.0.0.0/29", never, public, never},
		{"192.0.0.8/32", never, never, never},
		{"192.0.0.9/32", never, never, never},
		{"192.0.0.10/32", never, never, never},
		{"192.0.0.170/31", never, never, never},
		{"192.0.2.0/24", private, public, public},
		{"192.31.196.0/24", private, public, public},
		{"192.52.193.0/24", private, public, public},
		{"192.88.99.0/24", never, public, public},
		{"192.168.0.0/16", private, public, public},
		{"192.175.48.0/24", private, public, public},
		{"198.18.0.0/15", private, public, public},
		{"198.51.100.0/24", private, public, public},
		{"203.0.113.0/24", private, public, public},
		{"240.0.0.0/4", never, never, never},
		{"255.255.255.255/32", never, never, never},
		// Outside the registry.
		{"224.0.0.0/4", never, public, never},
		{"168.63.129.16/32", never, public, public},
		{"100.100.100.200/32", never, private, private},
		{"1.1.1.1/32", public, public, public},
		// IANA IPv6 Special-Purpose Address Registry.
		{"::1/128", loopback, never, never},
		{"::/128", never, never, loopback},
		{"64:ff9b::/96", never, never, never},
		{"64:ff9b:1::/48", never, never, never},
		{"100::/64", never, never, never},
		{"100:0:0:1::/64", never, never, never},
		{"2001::/23", never, public, public},
		{"2001::/32", never, public, never},
		{"2001:1::1/128", never, never, never},
		{"2001:1::2/128", never, never, never},
		{"2001:1::3/128", never, never, never},
		{"2001:2::/48", private, never, never},
		{"2001:3::/32", never, never, never},
		{"2001:4:112::/48", never, never, never},
		{"2001:10::/28", never, never, never},
		{"2001:20::/28", never, never, never},
		{"2001:30::/28", never, never, never},
		{"2001:db8::/32", private, public, public},
		{"2002::/16", never, public, public},
		{"2620:4f:8000::/48", private, public, public},
		{"3fff::/20", private, never, public},
		{"5f00::/16", never, never, never},
		{"fc00::/7", private, never, never},
		{"fe80::/10", never, never, never},
		// Outside the registry.
		{"2000::/16", public, never, never},
		{"3ffe::/16", never, public, private},
		{"4000::/3", never, public, never},
		{"fec0::/10", never, never, never},
		{"ff00::/8", never, never, never},
		{"::ffff:0:0:0/96", never, never, never},
		{"fd00:ec2::/32", never, private, private},
		{"fd00:ec2::254/128", never, never, never},
		{"fd20:ce::254/128", never, private, private},
		{"fd00:42::42/128", never, private, private},
		{"fd00:c1::a9fe:a9fe/128", never, private, private},
		{"fd00:a9fe:a9fe::/48", never, private, private},
	} {
		block := netip.MustParsePrefix(c.block)
		first, last := block.Addr(), lastOf(block)
		for name, check := range map[string]struct {
			a    netip.Addr
			want address.Class
		}{"first": {first, c.class}, "last": {last, c.class}, "before": {first.Prev(), c.before},
			"after": {last.Next(), c.after}} {
			if got := address.ClassOf(check.a); check.a.IsValid() && got != check.want {
				t.Errorf("%s: the %s address %s is %s; want %s", c.block, name, check.a, got, check.want)
			}
			if !check.a.Is4() {
				continue
			}
			mapped := netip.AddrFrom16(check.a.As16())
			if got := address.ClassOf(mapped); got != check.want {
				t.Errorf("%s: the mapped address %s is %s; want %s", c.block, mapped, got, check.want)
			}
		}
	}
}

func lastOf(block netip.Prefix) netip.Addr {
	b := block.Addr().AsSlice()
	for i := block.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 1 << (7 - i%8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// TestCarriers: no address that embeds a forbidden one is reached, however far the host is opened.
func TestCarriers(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"NAT64":                   "64:ff9b::169.254.169.254",
		"NAT64 of a network":      "64:ff9b:1::7f00:1",
		"6to4":                    "2002:7f00:1::1",
		"Teredo":                  "2001:0:4136:e378:8000:63bf:80ff:fffe",
		"compatible":              "::127.0.0.1",
		"compatible metadata":     "::169.254.169.254",
		"translated":              "::ffff:0:127.0.0.1",
		"mapped metadata":         "::ffff:169.254.169.254",
		"mapped Azure":            "::ffff:168.63.129.16",
		"ISATAP":                  "2606:4700::5efe:127.0.0.1",
		"ISATAP of a global":      "2606:4700::200:5efe:10.0.0.1",
		"ISATAP of a unique":      "fd12::5efe:10.0.0.1",
		"OpenStack over IPv6":     "fe80::a9fe:a9fe",
		"Oracle Classic metadata": "192.0.0.192",
		"ECS credentials":         "169.254.170.2",
		"EKS credentials":         "fd00:ec2::23",
		"zone":                    "fe80::1%eth0",
		"zone of a global":        "2606:4700::1%1",
	} {
		if a := netip.MustParseAddr(text); address.ToLoopback.Permits(a) {
			t.Errorf("%s: %s is reached", name, a)
		}
	}
	if address.ToLoopback.Permits(netip.Addr{}) {
		t.Error("the zero address is reached")
	}
}

func TestReach(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][3]bool{
		"8.8.8.8": {true, true, true}, "10.0.0.1": {false, true, true}, "127.0.0.1": {false, false, true},
		"169.254.169.254": {},
		"2606:4700::1":    {true, true, true}, "fd12::1": {false, true, true}, "::1": {false, false, true}, "fe80::1": {},
	} {
		for i, reach := range []address.Reach{address.ToPublic, address.ToPrivate, address.ToLoopback} {
			if got := reach.Permits(netip.MustParseAddr(text)); got != want[i] {
				t.Errorf("reach %d permits %s: %v", reach, text, got)
			}
		}
	}
	for name, c := range map[string]struct{ network, to string }{
		"datagrams": {"udp4", "8.8.8.8:53"}, "sockets of this machine": {"unix", "/run/x"}, "no address": {"tcp4", ":80"},
		"a name": {"tcp", "example.com:80"}, "a zone": {"tcp6", "[fe80::1%eth0]:80"},
	} {
		if err := address.ToLoopback.Control(c.network, c.to, nil); !errors.Is(err, address.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := address.ToPublic.Control("tcp4", "8.8.8.8:53", nil); err != nil {
		t.Error(err)
	}
}

func TestHost(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"example.com": "example.com", "EXAMPLE.com.": "example.com", "bücher.example": "xn--bcher-kva.example",
		"a_b.example": "a_b.example",
		"127.0.0.1":   "127.0.0.1", "127.1": "127.0.0.1", "127.0.0.1.": "127.0.0.1", "2130706433": "127.0.0.1",
		"0x7f.1": "127.0.0.1", "0X7F000001": "127.0.0.1",
		"0177.0.0.1": "127.0.0.1", "017700000001": "127.0.0.1", "0": "0.0.0.0", "0x": "0.0.0.0", "①②⑦.⓪.⓪.①": "127.0.0.1",
		"127。0。0。1": "127.0.0.1",
		"127．0．0．1": "127.0.0.1", "127｡0｡0｡1": "127.0.0.1", "example。com": "example.com", "example.com。": "example.com",
		"２１３０７０６４３３": "127.0.0.1",
		"::1":        "::1", "0:0:0:0:0:0:0:1": "::1", "::ffff:127.0.0.1": "127.0.0.1", "::FFFF:7f00:1": "127.0.0.1",
		"0169.0254.0251.0376": "", "0251.0376.0251.0376": "169.254.169.254",
		"": "", ".": "", "a..b": "", "1.2.3.4.5": "", "256.1.1.1": "", "1.2.3.0x100": "", "4294967296": "", "1.16777216": "",
		"fe80::1%eth0": "", "fe80::1%251": "", "[::1]": "", "::g": "",
		"a b": "", "a/b": "", "a\x00b": "", "%31%32%37.0.0.1": "", "example.com..": "", "99999999999999999999999": "",
		"foo.0x": "", "foo.09": "",
	} {
		got, addr, err := address.Host(host)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v; want %q", host, got, err, want)
		}
		if parsed, e := netip.ParseAddr(got); (e == nil) != addr.IsValid() || e == nil && parsed != addr {
			t.Errorf("%q is %q with the address %v", host, got, addr)
		}
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, host string
		port          int
		want          address.Match
		reach         address.Reach
	}{
		{"example.com", "example.com", 80, address.Match{OK: true, Exact: true}, address.ToLoopback},
		{"EXAMPLE.com.", "example.com", 80, address.Match{OK: true, Exact: true}, address.ToLoopback},
		{"example.com:80", "example.com", 80, address.Match{OK: true, Port: true, Exact: true}, address.ToLoopback},
		{"example.com:81", "example.com", 80, address.Match{}, address.ToPublic},
		{"example.com", "a.example.com", 80, address.Match{}, address.ToPublic},
		{"*.example.com", "a.b.example.com", 80, address.Match{OK: true}, address.ToPrivate},
		{"*.example.com:80", "a.example.com", 80, address.Match{OK: true, Port: true}, address.ToPrivate},
		{"*.example.com", "example.com", 80, address.Match{}, address.ToPublic},
		{"*.example.com", "notexample.com", 80, address.Match{}, address.ToPublic},
		{"*.0.0.1", "127.0.0.1", 80, address.Match{}, address.ToPublic},
		{"*.0.0.0.1", "127.0.0.0.1", 80, address.Match{}, address.ToPublic},
		{"127.1", "127.0.0.1", 80, address.Match{OK: true, Exact: true}, address.ToLoopback},
		{"[::1]:81", "::1", 81, address.Match{OK: true, Port: true, Exact: true}, address.ToLoopback},
		{"[::ffff:10.0.0.1]", "10.0.0.1", 81, address.Match{OK: true, Exact: true}, address.ToLoopback},
		{"*", "example.com", 80, address.Match{}, address.ToPublic},
		{"", "example.com", 80, address.Match{}, address.ToPublic},
	} {
		got := address.Hosts{"other.example", c.pattern}.Match(c.host, c.port)
		if got != c.want || got.Reach() != c.reach {
			t.Errorf("%s, %s:%d: %+v, reach %d; want %+v, reach %d", c.pattern, c.host, c.port, got, got.Reach(), c.want,
				c.reach)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	opened := address.Hosts{"127.0.0.1:80", "[::1]", "169.254.169.254", "*.corp"}
	for text, want := range map[string]error{
		"https://example.com": nil, "http://localhost": nil, "https://8.8.8.8/x": nil, "http://127.0.0.1:80": nil,
		"http://127.0.0.1": nil, "http://0x7f.1": nil,
		"http://127.0.0.1:81": address.ErrRefused, "http://[::1]": nil, "http://[::1]:5": nil,
		"https://10.0.0.1": address.ErrRefused, "https://0x0a.1": address.ErrRefused,
		"http://[::ffff:10.0.0.1]": address.ErrRefused, "http://169.254.169.254/": address.ErrRefused,
		"http://2852039166/": address.ErrRefused, "http://[fd00::1]": address.ErrRefused,
		"http://[fe80::1%25eth0]/": address.ErrHost, "http://a..b/": address.ErrHost, "http://x:0/": address.ErrHost,
		"http://x:65536/": address.ErrHost, "ftp://x/": address.ErrHost,
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := opened.Check(u); !errors.Is(got, want) {
			t.Errorf("%s: %v; want %v", text, got, want)
		}
	}
}

// FuzzHost: a host has one canonical spelling, which is its own canonical form, and an internal address never passes
// for a public one.
func FuzzHost(f *testing.F) {
	for _, s := range []string{"example.com", "EXAMPLE.com.", "127.1", "0x7f.1", "2130706433", "::1", "::ffff:10.0.0.1",
		"bücher.example", "①②⑦.0.0.1", "a..b", "1.2.3.4.5", "0x", "a_b.example", "-a.b", "xn--a", "example.com。", "0.。",
		"a_。"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, addr, err := address.Host(s)
		if err != nil {
			return
		}
		again, addrAgain, err := address.Host(name)
		if err != nil || again != name || addrAgain != addr {
			t.Errorf("%q is %q, which is %q (%v)", s, name, again, err)
		}
		if parsed, err := netip.ParseAddr(name); (err == nil) != addr.IsValid() || err == nil && parsed != addr {
			t.Errorf("%q is %q with the address %v", s, name, addr)
		}
	})
}

// FuzzClassOf: an address that the standard library does not count as global unicast is not public.
func FuzzClassOf(f *testing.F) {
	for _, s := range []string{"1.1.1.1", "10.0.0.1", "::1", "2606:4700::1", "fe80::1", "::ffff:127.0.0.1",
		"2002:7f00:1::"} {
		a := netip.MustParseAddr(s).As16()
		f.Add(a[:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, ok := netip.AddrFromSlice(b)
		if !ok {
			return
		}
		class, u := address.ClassOf(a), a.Unmap()
		if class != address.ClassOf(u) {
			t.Errorf("%s is %s, and unmapped %s", a, class, address.ClassOf(u))
		}
		if class == public && (u.IsPrivate() || !u.IsGlobalUnicast()) {
			t.Errorf("%s is public", a)
		}
		if class == loopback && !u.IsLoopback() {
			t.Errorf("%s is loopback", a)
		}
		if special := u.IsMulticast() || u.IsLinkLocalUnicast() || u.IsUnspecified(); special && class != never {
			t.Errorf("%s is %s", a, class)
		}
	})
}
