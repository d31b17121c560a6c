package resp_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/gateway/ratelimit/resp"
)

func TestScan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply string
		ok    bool
	}{
		"status":       {"+OK\r\n", true},
		"error":        {"-NOSCRIPT No matching script.\r\n", true},
		"numbers":      {"*3\r\n:1\r\n:-5\r\n:0\r\n", true},
		"string":       {"$5\r\nhe\r\nl\r\n", true},
		"empty string": {"$0\r\n\r\n", true},
		"nulls":        {"$-1\r\n*-1\r\n_\r\n", true},
		"hello":        {"%2\r\n$5\r\nproto\r\n:3\r\n$7\r\nmodules\r\n*0\r\n", true},
		"RESP3": {
			"#t\r\n,1.5\r\n(123\r\n~1\r\n+a\r\n=5\r\ntxt:a\r\n!3\r\nERR\r\n>2\r\n+a\r\n+b\r\n", true,
		},
		"many replies":          {strings.Repeat("+OK\r\n", 100_000), true},
		"nested":                {strings.Repeat("*1\r\n", 8) + "+a\r\n", true},
		"two thousand million":  {"*2000000000\r\n", false},
		"a million":             {"*1000000\r\n", false},
		"elements":              {"*1025\r\n", false},
		"half as many pairs":    {"%513\r\n", false},
		"set":                   {"~99999\r\n", false},
		"push":                  {">99999\r\n", false},
		"huge string":           {"$536870912\r\n", false},
		"string over the bound": {"$65537\r\n", false},
		"huge verbatim":         {"=99999999\r\n", false},
		"huge error":            {"!99999999\r\n", false},
		"overflow":              {"*99999999999999999999999999\r\n", false},
		"negative":              {"*-2\r\n", false},
		"negative, huge":        {"*-11\r\n", false},
		"plus sign":             {"*+5\r\n", false},
		"space":                 {"* 5\r\n", false},
		"no number":             {"*\r\n", false},
		"streamed":              {"$?\r\n", false},
		"attribute":             {"|1\r\n+a\r\n+b\r\n+c\r\n", false},
		"endless line":          {"+" + strings.Repeat("x", 1<<20), false},
		"endless number":        {":" + strings.Repeat("1", 1<<20), false},
		"deep":                  {strings.Repeat("*1\r\n", 9), false},
		"list as a value":       {"%2\r\n+a\r\n*1\r\n+b\r\n+c\r\n%0\r\n", true},
		"list as a key":         {"%1\r\n*1\r\n+a\r\n+b\r\n", false},
		"empty set as a key":    {"%1\r\n~0\r\n+a\r\n", false},
		"map as the second key": {
			"*1\r\n%2\r\n+a\r\n*1\r\n+b\r\n%0\r\n+c\r\n", false,
		},
		"large in all": {
			"*1024\r\n" + strings.Repeat("$1000\r\n"+strings.Repeat("x", 1000)+"\r\n", 1024), false,
		},
		"lists of lists":            {"*1024\r\n" + strings.Repeat("*1024\r\n"+strings.Repeat("_\r\n", 1024), 1024), false},
		"something else altogether": {"HTTP/1.1 400 Bad Request\r\n", false},
	} {
		for _, step := range []int{1, 3, 1 << 20} {
			var s resp.Scanner
			var handed bytes.Buffer
			var err error
			for rest := []byte(c.reply); len(rest) > 0 && err == nil; {
				part := rest[:min(step, len(rest))]
				rest = rest[len(part):]
				var n int
				n, err = s.Scan(part)
				handed.Write(part[:n])
			}
			if (err == nil) != c.ok || err != nil && !errors.Is(err, resp.ErrRefused) {
				t.Errorf("%s by %d: %v", name, step, err)
			}
			if !strings.HasPrefix(c.reply, handed.String()) || c.ok && handed.Len() != len(c.reply) {
				t.Errorf("%s by %d: %d bytes were handed on", name, step, handed.Len())
			}
			if !c.ok && strings.HasSuffix(c.reply, "\r\n") && handed.String() == c.reply {
				t.Errorf("%s by %d: all was handed on", name, step)
			}
		}
	}
}

// A refused reply ends the connection, and what came before it arrives.
func TestBound(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	hungUp := make(chan struct{})
	go func() {
		defer close(hungUp)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "+OK\r\n*2000000000\r\n")
		_, _ = io.Copy(io.Discard, conn)
	}()
	plain, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Bound(plain))
	if !errors.Is(err, resp.ErrRefused) || !strings.HasPrefix(string(got), "+OK\r\n") ||
		strings.Contains(string(got), "000\r\n") {
		t.Errorf("%q, %v", got, err)
	}
	<-hungUp
}

// However a reply is cut, what is passed on is the same, and what is announced is never more than the bounds.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		"+OK\r\n", "*2\r\n:1\r\n$1\r\na\r\n", "*2000000000\r\n", "%1\r\n+a\r\n*-1\r\n", "$-1\r\n", "=3\r\ntxt\r\n",
	} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, reply []byte, step int) {
		if step < 1 {
			step = 1
		}
		var whole, cut resp.Scanner
		want, wantErr := whole.Scan(reply)
		got, err := 0, error(nil)
		for rest := reply; len(rest) > 0 && err == nil; {
			part := rest[:min(step, len(rest))]
			rest = rest[len(part):]
			var n int
			n, err = cut.Scan(part)
			got += n
		}
		// A string that is refused for its size may be cut anywhere.
		if !errors.Is(err, wantErr) || wantErr == nil && got != want {
			t.Errorf("whole: %d, %v; by %d: %d, %v", want, wantErr, step, got, err)
		}
		for i := range reply[:want] {
			for _, huge := range []string{"*2000\r\n", "%2000\r\n", "$70000\r\n"} {
				if i == 0 && bytes.HasPrefix(reply[:want], []byte(huge)) {
					t.Errorf("%q was handed on", huge)
				}
			}
		}
	})
}
