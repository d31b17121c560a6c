package address_test

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/policy/address/addresstest"
)

func addresses(texts ...string) []netip.Addr {
	var out []netip.Addr
	for _, t := range texts {
		out = append(out, netip.MustParseAddr(t))
	}
	return out
}

// reachable listens on this machine and counts who connects.
func reachable(t *testing.T) (port string, accepted *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted = &atomic.Int64{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted.Add(1)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), accepted
}

// TestDial: the address that is connected to obeys the rules, whatever a name server answers and however often its
// answer changes.
func TestDial(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opened  address.Hosts
		host    string
		answers []netip.Addr
		ok      bool
	}{
		"closed name": {nil, "inside.example", addresses("127.0.0.1"), false},
		"every address is checked": {nil, "inside.example",
			addresses("127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "169.254.169.254"), false},
		"mapped": {nil, "inside.example", addresses("::ffff:127.0.0.1"), false},
		"opened name": {address.Hosts{"inside.example"}, "inside.example", addresses("127.0.0.1"),
			true},
		"opened name, one address is never": {address.Hosts{"inside.example"}, "inside.example",
			addresses("169.254.169.254", "127.0.0.1"), true},
		"opened name, another port": {address.Hosts{"inside.example:1"}, "inside.example", addresses("127.0.0.1"),
			false},
		"opened name to metadata": {address.Hosts{"inside.example"}, "inside.example",
			addresses("169.254.169.254", "168.63.129.16", "fd00:ec2::254", "fe80::1"), false},
		"wildcard to metadata":            {address.Hosts{"*.corp"}, "meta.corp", addresses("169.254.169.254"), false},
		"wildcard to this machine":        {address.Hosts{"*.corp"}, "self.corp", addresses("127.0.0.1"), false},
		"opened address":                  {address.Hosts{"127.0.0.1"}, "127.0.0.1", nil, true},
		"opened address, hexadecimal":     {address.Hosts{"127.0.0.1"}, "0x7f.1", nil, true},
		"closed address":                  {nil, "127.0.0.1", nil, false},
		"closed address, decimal":         {nil, "2130706433", nil, false},
		"closed address, octal":           {nil, "0177.0.0.1", nil, false},
		"closed address, full width dots": {nil, "127。0。0。1", nil, false},
		"this network":                    {address.Hosts{"0.0.0.0"}, "0.0.0.0", nil, false},
		"this network over IPv6":          {address.Hosts{"[::]"}, "::", nil, false},
	} {
		_, resolver := addresstest.Names(t, c.answers)
		d := address.Dialer{Opened: c.opened, Timeout: 20 * time.Second, Resolver: resolver}
		port, accepted := reachable(t)
		conn, err := d.DialContext(t.Context(), "tcp", net.JoinHostPort(c.host, port))
		switch {
		case c.ok && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.ok:
			_ = conn.Close()
		case err == nil:
			_ = conn.Close()
			t.Errorf("%s: connected to %s", name, conn.RemoteAddr())
		case !errors.Is(err, address.ErrRefused) || accepted.Load() != 0:
			t.Errorf("%s: %v, %d connections", name, err, accepted.Load())
		}
	}
}

// TestRebinding: a name that resolved to a public address when it was checked, and to an internal one when it is
// dialled, is refused.
func TestRebinding(t *testing.T) {
	t.Parallel()
	port, accepted := reachable(t)
	s, resolver := addresstest.Names(t, addresses("93.184.216.34"), addresses("127.0.0.1"))
	first, err := resolver.LookupNetIP(t.Context(), "ip4", "rebinding.example")
	if err != nil || len(first) != 1 || !address.ToPublic.Permits(first[0]) {
		t.Fatal(first, err)
	}
	d := address.Dialer{Resolver: resolver, Timeout: 20 * time.Second}
	for range 3 {
		conn, err := d.DialContext(t.Context(), "tcp", "rebinding.example:"+port)
		if err == nil {
			_ = conn.Close()
		}
		if !errors.Is(err, address.ErrRefused) {
			t.Errorf("dialled: %v", err)
		}
	}
	if s.Asked() < 2 || accepted.Load() != 0 {
		t.Errorf("%d questions, %d connections", s.Asked(), accepted.Load())
	}
}

func TestDialRefusesWhatIsNoHost(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]string{"no port": "example.com", "no host": ":80", "zone": "[fe80::1%lo]:80",
		"port name": "example.com:http", "port 0": "example.com:0"} {
		conn, err := address.Dialer{}.DialContext(t.Context(), "tcp", to)
		if err == nil {
			_ = conn.Close()
		}
		if !errors.Is(err, address.ErrHost) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
