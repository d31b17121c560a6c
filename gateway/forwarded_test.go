package gateway_test

import (
	"net/netip"
	"testing"

	"github.com/airlock-run/airlock/gateway"
)

func TestCallersBehindAProxy(t *testing.T) {
	t.Parallel()
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	for name, c := range map[string]struct {
		proxies []netip.Prefix
		headers []string
		want    string
	}{
		"no proxy is configured": {nil, []string{"X-Forwarded-For: 192.0.2.7"}, "127.0.0.1"},
		"another's proxy": {
			[]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, []string{"X-Forwarded-For: 192.0.2.7"}, "127.0.0.1",
		},
		"ours":              {loopback, []string{"X-Forwarded-For: 192.0.2.7"}, "192.0.2.7"},
		"a claim before it": {loopback, []string{"X-Forwarded-For: 198.51.100.1, 10.0.0.1,192.0.2.7"}, "192.0.2.7"},
		"a claim in another": {
			loopback, []string{"X-Forwarded-For: 198.51.100.1", "X-Forwarded-For: 192.0.2.7"}, "192.0.2.7",
		},
		"IPv6":         {loopback, []string{"X-Forwarded-For: 2001:db8::1"}, "2001:db8::1"},
		"IPv4 in IPv6": {loopback, []string{"X-Forwarded-For: ::ffff:192.0.2.7"}, "192.0.2.7"},
		"nothing":      {loopback, nil, "127.0.0.1"},
		"no address":   {loopback, []string{"X-Forwarded-For: 192.0.2.7, unknown"}, "127.0.0.1"},
		"other fields": {loopback, []string{"Forwarded: for=192.0.2.7", "X-Real-Ip: 192.0.2.7"}, "127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, options{config: gateway.Config{Proxies: c.proxies}})
			if a := s.do(t, "POST", "/api/execute", code("eval('1')"), c.headers...); a.StatusCode != 200 {
				t.Fatalf("%d %s", a.StatusCode, a.body)
			}
			if r := <-s.records.added; r.Caller.IP != c.want {
				t.Errorf("the caller is %s, want %s", r.Caller.IP, c.want)
			}
		})
	}
}

// One connection of a proxy carries the requests of many callers. Each counts as its own, also for the limits.
func TestCallersShareConnection(t *testing.T) {
	t.Parallel()
	s := serve(t, options{config: gateway.Config{Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}, max: 1})
	for _, want := range []struct {
		from   string
		status int
	}{{"192.0.2.7", 200}, {"192.0.2.8", 200}, {"192.0.2.7", 429}, {"", 200}, {"", 429}} {
		headers := []string{}
		if want.from != "" {
			headers = append(headers, "X-Forwarded-For: "+want.from)
		}
		if a := s.do(t, "GET", "/api/engines", "", headers...); a.StatusCode != want.status {
			t.Errorf("%q: %d, want %d", want.from, a.StatusCode, want.status)
		}
	}
}
