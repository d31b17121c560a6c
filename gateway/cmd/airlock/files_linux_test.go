package main

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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

// TestMemoryEndsAtTheGatewayLast: when memory runs out, the kernel ends the processes that run or scan code before the
// gateway, which replaces them.
func TestMemoryEndsAtTheGatewayLast(t *testing.T) {
	t.Parallel()
	p := start(t)
	first := func(id string) bool {
		text, err := os.ReadFile("/proc/" + id + "/oom_score_adj")
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text)) == "1000"
	}
	own := strconv.Itoa(p.Process.Pid)
	if first(own) {
		t.Error("the gateway ends first")
	}
	threads, err := filepath.Glob("/proc/" + own + "/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	children := 0
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			continue // the thread has ended
		}
		for id := range strings.FieldsSeq(string(text)) {
			if children++; !first(id) {
				t.Errorf("process %s does not end before the gateway", id)
			}
		}
	}
	if children == 0 {
		t.Error("the gateway has no processes")
	}
}
