package main

import (
	"io"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/gateway/ratelimit"
	"github.com/airlock-run/airlock/gateway/wiring"
)

// TestHostileRedis: whatever a Redis sends, limits are decided in time and in little memory, by the gateway alone.
func TestHostileRedis(t *testing.T) {
	for name, answer := range map[string]func(w io.Writer) error{
		"two thousand million elements": func(w io.Writer) error { return pour(w, "*2000000000\r\n", ":1\r\n") },
		"two thousand million pairs":    func(w io.Writer) error { return pour(w, "%1000000000\r\n", "+a\r\n:1\r\n") },
		"half a gigabyte":               func(w io.Writer) error { return pour(w, "$536870912\r\n", "xxxxxxxx") },
		"a line without end":            func(w io.Writer) error { return pour(w, "+", "xxxxxxxx") },
		"lists of lists":                func(w io.Writer) error { return pour(w, "", "*1000\r\n") },
		"pushes without end":            func(w io.Writer) error { return pour(w, "", ">1\r\n+a\r\n") },
		"replies without end":           func(w io.Writer) error { return pour(w, "", "+OK\r\n") },
		"a web server":                  func(w io.Writer) error { return pour(w, "HTTP/1.1 200 OK\r\n\r\n", "<p>") },
		"nothing":                       func(io.Writer) error { return nil },
		"a byte at a time": func(w io.Writer) error {
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			_, err := io.WriteString(w, "+")
			for ; err == nil; <-tick.C {
				_, err = io.WriteString(w, "x")
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			url, written := serveHostile(t, answer)
			client, err := wiring.RedisClient("redis://" + strings.TrimPrefix(url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			l, err := ratelimit.NewShared(ratelimit.SharedConfig{
				Config: ratelimit.Config{Window: time.Hour, Max: 5, Now: time.Now}, Client: client,
				Log: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			for n := range 10 {
				if v, err := l.Take(t.Context(), "alice"); err != nil || v.Allowed != (n < 5) {
					t.Errorf("request %d: %+v, %v", n, v, err)
				}
			}
			runtime.ReadMemStats(&after)
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("ten requests took %v", took)
			}
			// What the heap takes from the system shows its peak; garbage that was collected meanwhile does not count.
			if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 64<<20 {
				t.Errorf("the heap grew by %d MB; %d bytes were sent", grown>>20, written.Load())
			}
		})
	}
}
