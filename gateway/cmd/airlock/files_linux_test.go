package main

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestFloodOfConnectionsAndFewFiles: a caller opens more connections than the gateway may have files open. The gateway
// keeps files for itself and for other callers, whose code runs.
func TestFloodOfConnectionsAndFewFiles(t *testing.T) {
	t.Parallel()
	const files = "256"
	p := startCommand(t, t.TempDir(), exec.Command("sh", "-c", `ulimit -n `+files+` && exec "$0" serve`, os.Args[0]),
		[]string{"AIRLOCK_TEST_AS_PROGRAM=1", "PORT=0", "FUNCTION_PROCESSES=1"})
	from := func(address string) *net.Dialer {
		return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	}
	for range 300 {
		c, err := from("127.0.0.1").DialContext(t.Context(), "tcp", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
	}
	other := &http.Client{Transport: &http.Transport{DialContext: from("127.0.0.2").DialContext}}
	defer other.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+"/api/execute",
		strings.NewReader(`{"code": "6 * 7"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := other.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		t.Errorf("status %d", res.StatusCode)
	}
}
