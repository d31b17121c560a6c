package gateway_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/airlock-run/airlock/gateway/authn"
)

// BenchmarkExecute measures what the gateway itself adds to an execution: one connection, a token, a ten-line script,
// and a function that responds at once. It reports the median of a whole round trip, the socket included.
func BenchmarkExecute(b *testing.B) {
	s := serve(b, options{auth: authn.Config{Keys: hs256(b)}})
	body := `{"code":"const fib = n => n < 2 ? n : fib(n - 1) + fib(n - 2);\nconst out = [];\nfor (let i = 0; i < 10; ` +
		`i++) {\n  out.push(fib(i));\n}\nconst total = out.reduce((a, b) => a + b, ` +
		`0);\nconsole.log(total);\nreturn {\n  out, total,\n};"}`
	request := fmt.Sprintf("POST /api/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
		"application/json\r\nCache-Control: no-store\r\n%s\r\nContent-Length: %d\r\n\r\n%s",
		bearer(token(b, "alice", "acme", "execute")), len(body), body)
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	r := bufio.NewReader(conn)
	var took []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if _, err := conn.Write([]byte(request)); err != nil {
			b.Fatal(err)
		}
		res, err := http.ReadResponse(r, nil)
		if err != nil || res.StatusCode != 200 {
			b.Fatal(res, err)
		}
		if _, err := r.Discard(int(res.ContentLength)); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
