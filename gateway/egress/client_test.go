package egress_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/gateway/egress"
)

func TestPublic(t *testing.T) {
	t.Parallel()
	for _, a := range []string{"1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "172.32.0.1", "100.128.0.1"} {
		if !egress.Public(netip.MustParseAddr(a)) {
			t.Errorf("%s is public", a)
		}
	}
	for _, a := range []string{
		"127.0.0.1", "127.255.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "0.1.2.3", "100.64.0.1", "192.0.0.8",
		"192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "64:ff9b::7f00:1",
		"64:ff9b:1::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "100::1", "::127.0.0.1", "3fff::1", "5f00::1",
	} {
		if egress.Public(netip.MustParseAddr(a)) {
			t.Errorf("%s is not public", a)
		}
	}
	if egress.Public(netip.Addr{}) {
		t.Error("no address is public")
	}
}

func TestClient(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
		}
	}))
	t.Cleanup(s.Close)
	port := s.URL[strings.LastIndexByte(s.URL, ':')+1:]
	get := func(opened, url string) (int, error) {
		c := egress.NewClient(strings.Fields(opened), 5*time.Second)
		defer c.CloseIdleConnections()
		res, err := c.Get(url)
		if err != nil {
			return 0, err
		}
		return res.StatusCode, res.Body.Close()
	}
	for _, c := range []struct{ opened, url string }{
		{"", s.URL},
		{"", "http://localhost:" + port},
		{"", "http://[::ffff:127.0.0.1]:" + port},
		{"", "http://2130706433:" + port},
		{"", "http://0x7f.1:" + port},
		{"127.0.0.1:1", s.URL},
		{"127.0.0.2", s.URL},
		{"*.0.0.1", "http://0.0.1:" + port},
		{"*.example.com", s.URL},
	} {
		if status, err := get(c.opened, c.url); err == nil {
			t.Errorf("%q: %s answered %d", c.opened, c.url, status)
		} else if !errors.Is(err, egress.ErrClosed) && !strings.Contains(err.Error(), "lookup") {
			t.Errorf("%q: %s: %v", c.opened, c.url, err)
		}
	}
	for _, c := range []struct {
		opened, url string
		status      int
	}{
		{"127.0.0.1", s.URL, 200},
		{"other 127.0.0.1:" + port, s.URL, 200},
		{"localhost", "http://LOCALHOST:" + port, 200},
		{"127.0.0.1", s.URL + "/away", 302},
	} {
		if status, err := get(c.opened, c.url); err != nil || status != c.status {
			t.Errorf("%q: %s: %d %v", c.opened, c.url, status, err)
		}
	}
}

// An address that is not public and not opened is known to be out of reach before anything is sent there.
func TestReachable(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"https://example.com": true, "http://localhost": true, "https://8.8.8.8/x": true, "http://127.0.0.1:80": true, "http://127.0.0.1": true,
		"http://127.0.0.1:81": false, "http://[::1]": true, "http://[::1]:5": true, "https://10.0.0.1": false, "http://[::ffff:10.0.0.1]": false, "http://169.254.169.254/": false, "http://[fd00::1]": false,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := egress.Reachable([]string{"127.0.0.1:80", "[::1]"}, u); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}
