package gateway_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestRefusedBodyIsAnswered sends a request to its last byte before it reads, as most clients do. A reset of the
// connection must not lose the response.
func TestRefusedBodyIsAnswered(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	const size = 17 << 20
	for _, c := range []struct {
		name, head string
		status     int
	}{
		{"length", fmt.Sprintf("Content-Length: %d\r\n\r\n", size), 413},
		{"chunked", fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n", size), 413},
		{"head", "X-Long: ", 431},
		{"expectation", fmt.Sprintf("Expect: 100-continue\r\nContent-Length: %d\r\n\r\n", size), 413},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", s.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			head := "POST /api/execute HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + c.head
			if _, err := conn.Write([]byte(head + strings.Repeat("x", size))); err != nil {
				t.Fatal(err)
			}
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != c.status || !answer.Close {
				t.Error(answer.Status, answer.Header)
			}
		})
	}
}
