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
)

const (
	postHead = "POST /api/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	script   = `{"code":"1"}`
	// smuggled is a request that must never be answered as a request of its own.
	smuggled = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
)

// More shapes that two parsers could read differently. Each gets at most one response, a refusal, and the connection
// ends.
func TestSmugglingShapesRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, options{config: gateway.Config{ReadTimeout: time.Second, IdleTimeout: time.Second / 2}})
	chunked := postHead + "Transfer-Encoding: chunked\r\n\r\n"
	length := func(value string) string {
		return postHead + "Content-Length:" + value + "\r\n\r\n" + script + smuggled
	}
	coding := func(line string) string {
		return postHead + line + "\r\n\r\nc\r\n" + script + "\r\n0\r\n\r\n" + smuggled
	}
	for name, request := range map[string]string{
		"CL.TE": postHead + "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG" +
			smuggled,
		"TE.CL": postHead + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5c\r\n" +
			smuggled + "\r\n0\r\n\r\n",
		"TE.TE": postHead +
			"Transfer-Encoding: chunked\r\nTransfer-encoding: x\r\n\r\n0\r\n\r\n" + smuggled,
		"two equal lengths":             postHead + "Content-Length: 12\r\nContent-Length: 12\r\n\r\n" + script + smuggled,
		"a length of two numbers":       length(" 1 2"),
		"a length with an underscore":   length(" 1_2"),
		"a length with a point":         length(" 12.0"),
		"a length with an exponent":     length(" 1e1"),
		"an empty length":               length(""),
		"a length and a NUL":            length(" 12\x00"),
		"a length in quotes":            length(` "12"`),
		"a coding after a vertical tab": coding("Transfer-Encoding:\x0bchunked"),
		"a coding in quotes":            coding(`Transfer-Encoding: "chunked"`),
		"a coding twice in a line":      coding("Transfer-Encoding: chunked, chunked"),
		"a coding with a parameter":     coding("Transfer-Encoding: chunked;q=1"),
		"a coding behind a comma":       coding("Transfer-Encoding: ,chunked"),
		"a coding with a NUL":           coding("Transfer-Encoding: chunked\x00"),
		"a coding on a folded line":     coding("Transfer-Encoding:\r\n chunked"),
		"a coding after a space":        coding("X-A: 1\r\n Transfer-Encoding: chunked"),
		"a coding before a space":       coding("Transfer-Encoding : chunked"),
		"a coding after a bare LF":      coding("X-A: 1\nTransfer-Encoding: chunked"),
		"a coding after a bare CR":      coding("X-A: 1\rTransfer-Encoding: chunked"),
		"a first header that is folded": "POST /api/execute HTTP/1.1\r\n Host: localhost\r\nHost: " +
			"localhost\r\nContent-Length: 12\r\n\r\n" + script,
		"a chunk of hexadecimal prefix":  chunked + "0xc\r\n" + script + "\r\n0\r\n\r\n" + smuggled,
		"a chunk with a plus":            chunked + "+c\r\n" + script + "\r\n0\r\n\r\n" + smuggled,
		"a chunk after a space":          chunked + " c\r\n" + script + "\r\n0\r\n\r\n" + smuggled,
		"a chunk without a size":         chunked + "\r\n" + script + "\r\n0\r\n\r\n" + smuggled,
		"a chunk that is too long":       chunked + "5\r\n" + script + "\r\n0\r\n\r\n" + smuggled,
		"a chunk line that ends in LF":   chunked + "c\n" + script + "\r\n0\r\n\r\n" + smuggled,
		"a chunk that ends in LF":        chunked + "c\r\n" + script + "\n0\r\n\r\n" + smuggled,
		"a chunk size of 17 digits":      chunked + "0000000000000000c\r\n" + script + "\r\n0\r\n\r\n",
		"a chunk size that overflows":    chunked + "1000000000000000c\r\n" + script + "\r\n0\r\n\r\n" + smuggled,
		"a chunk size beyond the limit":  chunked + "7fffffff\r\n" + script,
		"a bare LF in a chunk extension": chunked + "c;x\n" + script + "\r\n0\r\n\r\n" + smuggled,
		"an endless trailer": chunked + "c\r\n" + script + "\r\n0\r\n" + strings.Repeat(
			"X-A: aaaaaaaaaaaaaaaa\r\n", 1<<14,
		) + "\r\n",
		"a trailer with a length": chunked + "c\r\n" + script + "\r\n0\r\nContent-Length: 50\r\n\r\n",
		"a trailer with a coding": chunked + "c\r\n" + script + "\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n",
		"a trailer that is no header": chunked + "c\r\n" + script + "\r\n0\r\nGET /smuggled HTTP/1.1\r\nHost: " +
			"localhost\r\n\r\n",
		"a NUL in the path":               "GET /healthz\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"a space in the path":             "GET /healthz x HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"a tab for a space":               "GET\t/healthz\tHTTP/1.1\r\nHost: localhost\r\n\r\n",
		"a control byte in the path":      "GET /\x01healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"a path without a slash":          "GET healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"no version":                      "GET /healthz\r\nHost: localhost\r\n\r\n",
		"a version of its own":            "GET /healthz HTTP/1.2\r\nHost: localhost\r\n\r\n",
		"a version in lower case":         "GET /healthz http/1.1\r\nHost: localhost\r\n\r\n",
		"a name for a method":             "G@T /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"no method":                       " /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"a foreign authority":             "GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"another scheme":                  "GET file:///etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"a tunnel":                        "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n" + smuggled,
		"an empty host":                   "GET /api/stats HTTP/1.1\r\nHost:\r\n\r\n",
		"a host with a NUL":               "GET /api/stats HTTP/1.1\r\nHost: localhost\x00evil\r\n\r\n",
		"a host with user information":    "GET /api/stats HTTP/1.1\r\nHost: me@localhost\r\n\r\n",
		"a host with a path":              "GET /api/stats HTTP/1.1\r\nHost: localhost/evil.example\r\n\r\n",
		"two hosts in a line":             "GET /api/stats HTTP/1.1\r\nHost: localhost, evil.example\r\n\r\n",
		"a body beyond the limit":         postHead + "Content-Length: 30000000\r\n\r\n" + strings.Repeat(smuggled, 100),
		"an expectation beyond the limit": postHead + "Expect: 100-continue\r\nContent-Length: 30000000\r\n\r\n" + smuggled,
		"a head beyond the limit": "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: " +
			strings.Repeat("a", 64<<10) + "\r\n\r\n" + smuggled,
		"a body of no length":              postHead + "\r\n" + smuggled,
		"a body of no length at no path":   "POST /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n" + smuggled,
		"a body of no length to be put":    "PUT /api/execute HTTP/1.1\r\nHost: localhost\r\n\r\n" + smuggled,
		"an expectation that nobody knows": postHead + "Expect: 200-maybe\r\nContent-Length: 12\r\n\r\n" + script,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := exchange(t, s.addr, request)
			answers := statusLine.FindAllString(got, -1)
			if len(answers) != 1 || strings.Contains(got, "/smuggled") {
				t.Errorf("%d answers:\n%.600s", len(answers), got)
			}
			if !strings.HasPrefix(got, "HTTP/1.1 4") && !strings.HasPrefix(got, "HTTP/1.1 501") {
				t.Errorf("it is not refused:\n%.600s", got)
			}
		})
	}
}

// Requests that are unusual but unambiguous are answered as they mean.
func TestUnusualButValidRequests(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	const last = "Connection: close\r\n"
	for name, c := range map[string]struct{ request, want string }{
		"a chunk extension": {
			postHead + last + "Transfer-Encoding: chunked\r\n\r\nc;name=value\r\n" + script + "\r\n0\r\n\r\n", "HTTP/1.1 200 ",
		},
		"a coding in capitals": {
			postHead + last + "Transfer-Encoding: Chunked\r\n\r\nC\r\n" + script + "\r\n0\r\n\r\n", "HTTP/1.1 200 ",
		},
		"leading zeros": {postHead + last + "Content-Length: 0012\r\n\r\n" + script, "HTTP/1.1 200 "},
		"our own authority": {
			"GET http://localhost/healthz HTTP/1.1\r\nHost: localhost\r\n" + last + "\r\n", "HTTP/1.1 200 ",
		},
		"an upgrade to HTTP/2": {
			"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: " +
				"h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
			"HTTP/1.1 200 ",
		},
		// no Host: it cannot be told from a rebound name
		"HTTP/1.0": {"GET /healthz HTTP/1.0\r\n\r\n", "HTTP/1.1 403 "},
		"a GET that has a body": {
			"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + last + fmt.Sprintf(
				"Content-Length: %d\r\n\r\n", len(smuggled),
			) + smuggled,
			"HTTP/1.1 200 ",
		},
	} {
		if got := exchange(t, s.addr, c.request); !strings.HasPrefix(got, c.want) ||
			len(statusLine.FindAllString(got, -1)) != 1 || strings.Contains(got, "/smuggled") {
			t.Errorf("%s:\n%.500s", name, got)
		}
	}
}

// Requests that are sent in one piece are answered one after the other, in order.
func TestPipelining(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	var all strings.Builder
	for n := range 20 {
		body := fmt.Sprintf(`{"code":"1","input":%d}`, n)
		fmt.Fprintf(&all, "%sContent-Length: %d\r\n\r\n%s", postHead, len(body), body)
	}
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, all.String()); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	for n := range 20 {
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != 200 || !strings.Contains(string(body), fmt.Sprintf(`"result":%d,`, n)) {
			t.Fatalf("%d: %d %v %s", n, res.StatusCode, err, body)
		}
	}
}

// A body that trickles in is refused when the time for the whole request is over, however often a byte arrives.
func TestSlowBodiesTimeOut(t *testing.T) {
	t.Parallel()
	s := serve(t, options{config: gateway.Config{ReadTimeout: 300 * time.Millisecond}})
	for name, head := range map[string]string{
		"body": postHead + "Content-Length: 100000\r\n\r\n", "chunks": postHead + "Transfer-Encoding: chunked\r\n\r\n",
		"head": "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", s.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, head); err != nil {
				t.Fatal(err)
			}
			ended := make(chan string, 1)
			go func() {
				got, _ := io.ReadAll(conn) // a reset ends it too
				ended <- string(got)
			}()
			drip, patience := time.NewTicker(20*time.Millisecond), time.NewTimer(10*time.Second)
			defer drip.Stop()
			defer patience.Stop()
			for {
				select {
				case got := <-ended:
					if got != "" && !strings.HasPrefix(got, "HTTP/1.1 408 ") {
						t.Errorf("%.300s", got)
					}
					return
				case <-patience.C:
					t.Fatal("it is still waited for")
				case <-drip.C:
					piece := "x"
					if name == "chunks" {
						piece = "1\r\nx\r\n"
					}
					_, _ = io.WriteString(conn, piece) // fails once the server has hung up
				}
			}
		})
	}
}
