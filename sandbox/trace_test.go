package sandbox_test

import (
	"fmt"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// TestTrace checks that the requests of an execution, also those of its tools, carry its place in the trace unless
// its code sets another, and carry none without a trace.
func TestTrace(t *testing.T) {
	const (
		trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		own   = "00-11111111111111111111111111111111-2222222222222222-00"
	)
	o := newOrigin(t)
	e := o.engine(t, &names{addrs: map[string][]string{"example.com": {"93.184.216.34"}}})
	grants := sandbox.Grants{
		Network: sandbox.Network{Mode: sandbox.NetworkPublic, OpenedHosts: []string{"example.com"}},
		Tools:   []sandbox.Tool{{Name: "a:b", URL: "http://example.com/tool"}},
	}
	code := "await fetch('http://example.com/1'); await fetch('http://example.com/2', {headers: {traceparent: '" + own +
		"'}}); await fetch('http://example.com/to/302?url=/3'); await a.b().catch(() => {})"
	for _, given := range []string{trace, ""} {
		o.seen = nil
		if r := run(t, e, sandbox.Script{Code: code, TraceParent: given}, grants); r.Error != "" {
			t.Fatal(r.Error)
		}
		var got []string
		for _, q := range o.seen {
			got = append(got, q.Header.Get("Traceparent"))
		}
		if want := fmt.Sprint([]string{given, own, given, given, given}); fmt.Sprint(got) != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}
