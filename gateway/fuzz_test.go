package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
)

// fuzzed returns a server for a fuzz target: with state, and without credentials.
func fuzzed(f *testing.F) *served {
	f.Helper()
	store, err := sqlitestate.Open(f.TempDir(), sqlitestate.Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = store.Close() })
	s := serve(
		f,
		options{
			state: store, invoke: mirror,
			config: gateway.Config{
				ReadTimeout: 500 * time.Millisecond, IdleTimeout: 100 * time.Millisecond, MaxBodyBytes: 1 << 16,
			},
		},
	)
	s.do(f, "PUT", "/api/functions/f", `{"code":"1","hook":{"scheme":"none"}}`)
	return s
}

// answered reads the responses, and fails on one that reports a failure of the gateway.
func answered(t *testing.T, addr, request string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = io.WriteString(conn, request) // the server may have hung up by then
		if half, ok := conn.(*net.TCPConn); ok {
			_ = half.CloseWrite()
		}
	}()
	for r := bufio.NewReader(conn); ; {
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			return // it has hung up
		}
		if res.StatusCode == 500 || res.StatusCode == 502 {
			t.Errorf("%d for %q", res.StatusCode, request)
		}
		if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
			return
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			return
		}
	}
}

// Whatever bytes arrive, no response says that the gateway failed.
func FuzzBytes(f *testing.F) {
	s := fuzzed(f)
	for _, seed := range []string{
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", postHead + "Content-Length: 12\r\n\r\n" + script,
		postHead + "Transfer-Encoding: chunked\r\n\r\nc\r\n" + script + "\r\n0\r\n\r\n",
		"PUT /api/functions/g HTTP/1.1\r\nHost: [::1]:80\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n" +
			script, "OPTIONS * HTTP/1.0\r\n\r\n", smuggled + smuggled,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) { answered(t, s.addr, string(b)) })
}

// The same holds for whatever is in the path, the query, the headers and the body of a request to any route.
func FuzzRoutes(f *testing.F) {
	s := fuzzed(f)
	var routes [][2]string
	for _, r := range s.Routes() {
		method, path, _ := strings.Cut(r, " ")
		routes = append(routes, [2]string{method, path})
	}
	for n, d := range routeCases() {
		f.Add(uint8(n), "f", "limit=1", "Idempotency-Key", "k", d.body) // there are fewer
	}
	f.Add(
		uint8(7), "exec_0123456789", "version=1&alias=live", "Prefer", "respond-async",
		`{"code":"1","callback":{"url":"https://a.example"}}`,
	)
	f.Add(uint8(9), "..%2f", "window=1h", "Last-Event-ID", "exec_0123456789:1", `{"input":{"a":[1]}}`)
	plain := strings.NewReplacer("\r", "", "\n", "", " ", "", "\x00", "")
	f.Fuzz(func(t *testing.T, route uint8, segment, query, name, value, body string) {
		r := routes[int(route)%len(routes)]
		path := strings.NewReplacer(
			"{name}", plain.Replace(segment), "{id}", plain.Replace(segment), "{tenant}", "default", "{alias}", "live",
			"{version}", "1",
		).Replace(r[1])
		header := ""
		if name = plain.Replace(name); name != "" && !strings.EqualFold(name, "Host") {
			header = name + ": " + plain.Replace(value) + "\r\n"
		}
		answered(t, s.addr, fmt.Sprintf("%s %s?%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: "+
			"application/json, text/event-stream\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s",
			r[0], path, plain.Replace(query), header, len(body), body))
	})
}
