package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// worstPayloads are the requests within the limits that cost most to read, decode, encode or run.
func worstPayloads() []string {
	repeat := strings.Repeat
	var names strings.Builder
	for i := range 90_000 {
		fmt.Fprintf(&names, `,"%x":0`, i)
	}
	const full = 1<<20 - 400
	return []string{
		`{"code":"` + repeat("a\u2028", 65_500) + `"}`,
		`{"code":"1` + repeat(",1", 40_000) + `"}`,
		`{"code":"1` + repeat(",1", 16_000) + `","language":"typescript"}`,
		`{"code":"[` + "`${" + repeat("+/*c*/", 40_000) + "1}`" + `]"}`,
		`{"code":"class A{` + repeat(`#p\n`, 40_000) + `}"}`,
		`{"code":"input","input":[0` + repeat(",0", full/2) + `]}`,
		`{"code":"input","input":{"a":0` + names.String() + `}}`,
		`{"code":"input","input":"` + repeat(`\u0001`, full/6) + `"}`,
		`{"code":"console.log('\\x01'.repeat(1e6))"}`,
		`{"code":"'<&>'.repeat(3e5)"}`,
		`{"code":"for (;;);","timeout":200}`,
		`{"code":"1`,
	}
}

// BenchmarkFlood reports how a flood of the worst payloads, from sixteen connections of one token, changes the slowest
// hundredth of another caller's requests: a caller of another tenant, and one of the same. Both are medians over the
// rounds. The gateway is a process of its own; the benchmark's side shares its machine.
func BenchmarkFlood(b *testing.B) {
	p := start(b, "JWT_SECRET="+secret, "RATE_LIMIT_MAX_REQUESTS=100000000", "FUNCTION_PROCESSES=4")
	token := func(subject, tenant string) string {
		code, out, errs := command(b, env("JWT_SECRET="+secret), "token", "--sub", subject, "--tenant", tenant,
			"--scope", "execute")
		if code != 0 {
			b.Fatal(errs)
		}
		return "Bearer " + strings.TrimSpace(out)
	}
	greedy := token("greedy", "a")
	for _, c := range []struct {
		name, credential string
		requests         int
	}{
		{"another tenant", token("modest", "b"), 200},
		{"the same tenant", token("modest", "a"), 50},
	} {
		b.Run(c.name, func(b *testing.B) {
			var alone, flooded []time.Duration
			var requests int64
			p.slowest(b, c.credential, 50)
			for b.Loop() {
				alone = append(alone, p.slowest(b, c.credential, c.requests))
				sent, stop := p.flood(b, greedy)
				p.slowest(b, c.credential, c.requests/10)
				flooded = append(flooded, p.slowest(b, c.credential, c.requests))
				stop()
				requests += sent()
			}
			slices.Sort(alone)
			slices.Sort(flooded)
			before, during := alone[len(alone)/2], flooded[len(flooded)/2]
			b.ReportMetric(float64(before.Microseconds())/1000, "alone-p99-ms")
			b.ReportMetric(float64(during.Microseconds())/1000, "flooded-p99-ms")
			b.ReportMetric(float64(during)/float64(before), "ratio")
			b.ReportMetric(float64(requests)/float64(b.N), "flood-requests/op")
		})
	}
}

// slowest returns the time of the slowest hundredth of a caller's requests, one after the other.
func (p *program) slowest(b *testing.B, credential string, requests int) time.Duration {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var took []time.Duration
	for n := range requests {
		began := time.Now()
		status, err := p.send(b.Context(), client, credential, fmt.Sprintf(`{"code":"input * 2","input":%d}`, n))
		if err != nil || status != 200 {
			b.Fatal(status, err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

// flood sends the worst payloads until it is stopped.
func (p *program) flood(b *testing.B, credential string) (sent func() int64, stop func()) {
	ctx, cancel := context.WithCancel(b.Context())
	var n atomic.Int64
	var all sync.WaitGroup
	payloads := worstPayloads()
	for c := range 16 {
		all.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for i := c; ctx.Err() == nil; i++ {
				if _, err := p.send(ctx, client, credential, payloads[i%len(payloads)]); err == nil {
					n.Add(1)
				}
			}
		})
	}
	return n.Load, func() { cancel(); all.Wait() }
}

// send posts an execution and reads its response.
func (p *program) send(ctx context.Context, client *http.Client, credential, body string) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/api/execute", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Cache-Control", "no-store")
	r.Header.Set("Authorization", credential)
	res, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}
