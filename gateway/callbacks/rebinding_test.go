package callbacks_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/callbacks"
	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/policy/address/addresstest"
)

// A receiver whose name resolves to a public address when it is checked, and to a private one when the callback is
// made, is not connected to, neither at the first attempt nor later. A pattern with a wildcard opens private
// addresses and never loopback.
func TestRebinding(t *testing.T) {
	t.Parallel()
	var reached atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(receiver.Close)
	at, err := url.Parse(receiver.URL)
	if err != nil {
		t.Fatal(err)
	}
	public := []netip.Addr{netip.MustParseAddr("93.184.216.34")}
	for name, inside := range map[string]string{
		"this machine": "127.0.0.1", "mapped": "::ffff:127.0.0.1", "metadata": "169.254.169.254", "Azure": "168.63.129.16",
		"private": "10.0.0.1", "unspecified": "0.0.0.0", "shared": "100.64.0.1",
	} {
		for _, opened := range [][]string{nil, {"*.example"}} {
			if len(opened) > 0 && (name == "private" || name == "shared") {
				continue // that is what the pattern opens
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				server, resolver := addresstest.Names(t, public, []netip.Addr{netip.MustParseAddr(inside)})
				s := callbacks.NewSenderWith(opened, resolver, time.Now)
				t.Cleanup(s.Close)
				if found, err := resolver.LookupNetIP(t.Context(), "ip4", "rebinding.example"); err != nil || len(found) != 1 ||
					address.ClassOf(found[0].Unmap()) != address.Public {
					t.Fatal(found, err)
				}
				job := execution.Job{
					ID:       "exec_0123456789",
					Callback: &execution.Callback{URL: "http://rebinding.example:" + at.Port() + "/x", Secret: callbacks.NewSecret()},
				}
				for range 3 {
					if r := s.Send(t.Context(), job); r.Delivered || r.Gone || !strings.Contains(r.Problem, "not public") {
						t.Errorf("%s: %+v", inside, r)
					}
				}
				if server.Asked() < 2 {
					t.Errorf("%d questions: the sender did not look the name up itself", server.Asked())
				}
			})
		}
	}
	t.Cleanup(func() {
		if n := reached.Load(); n > 0 {
			t.Errorf("the receiver inside was reached %d times", n)
		}
	})
}
