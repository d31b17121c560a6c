package main

import (
	"net/http"
	"syscall"
	"testing"
	"time"
)

// After SIGTERM a gateway with a drain period says that it is not ready and still serves. A second signal ends it.
func TestDrain(t *testing.T) {
	t.Parallel()
	p := start(t, "DRAIN_SECONDS=600", "LOG_FORMAT=json")
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for status := 0; status != http.StatusServiceUnavailable; <-look.C {
		res, err := http.Get(p.url + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		status = res.StatusCode
		_ = res.Body.Close()
	}
	if status, v := p.post(t.Context(), t, "/api/execute", `{"code":"6 * 7"}`); status != 200 || v["result"] != 42.0 {
		t.Errorf("while it drains: %d %v", status, v)
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err == nil {
		t.Error("a second signal did not end it")
	}
}
