package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/gateway"
)

// Whatever address a caller claims, the address that counts is the one that the trusted proxy appended or, if that is
// invalid, the proxy's own.
func FuzzForwardedFor(f *testing.F) {
	s := serve(f, options{config: gateway.Config{Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}})
	for _, claim := range []string{
		"", "192.0.2.7", "10.0.0.1, 192.0.2.7", ",", "unknown", "[2001:db8::1]:80", "::ffff:192.0.2.7%eth0", "192.0.2.7\t",
		strings.Repeat("1,", 3000),
	} {
		f.Add(claim, "198.51.100.9", false)
		f.Add("198.51.100.9", claim, true)
	}
	f.Fuzz(func(t *testing.T, claim, last string, twice bool) {
		if len(claim)+len(last) > 12<<10 ||
			strings.ContainsFunc(claim+last, func(r rune) bool { return r < ' ' && r != '\t' || r > '~' }) {
			return // no field of a header
		}
		field := claim + "," + last
		if twice {
			field = claim + "\r\nX-Forwarded-For: " + last
		}
		hops := strings.Split(last, ",")
		want := "127.0.0.1"
		if a, err := netip.ParseAddr(strings.Trim(hops[len(hops)-1], " \t")); err == nil {
			want = a.Unmap().WithZone("").String()
		}
		if status := forwarded(t, s.addr, field); status != 200 {
			t.Fatalf("%d for %q", status, field)
		}
		if r := <-s.records.added; r.Caller.IP != want {
			t.Errorf("the caller is %s, want %s: %q", r.Caller.IP, want, field)
		}
	})
}

// forwarded sends a request that is recorded.
func forwarded(t *testing.T, addr, field string) int {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	const body = `{"code":"eval('1')"}`
	_, err = fmt.Fprintf(
		conn,
		"POST /api/execute HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: "+
			"application/json\r\nX-Forwarded-For: %s\r\nContent-Length: %d\r\n\r\n%s",
		field, len(body), body,
	)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode
}
