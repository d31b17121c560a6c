package engines

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// A conversation with an engine ends with its answer, or with the pool, whatever the engine does.
func TestConverse(t *testing.T) {
	for _, c := range []struct {
		name, want string
		engine     func(conn net.Conn, close func())
	}{
		{"ready", "<nil>", func(conn net.Conn, _ func()) {
			line, _ := bufio.NewReader(conn).ReadString('\n')
			_, _ = conn.Write([]byte("note: " + line + `{"ready":1}` + "\n"))
		}},
		{"ends", `did not become ready: "no`, func(conn net.Conn, _ func()) {
			_, _ = bufio.NewReader(conn).ReadString('\n')
			_, _ = conn.Write([]byte("no job\n"))
			_ = conn.Close()
		}},
		{"prints without end", "short buffer", func(conn net.Conn, _ func()) {
			for err := error(nil); err == nil; {
				_, err = conn.Write(make([]byte, 4<<10))
			}
		}},
		{"pool closed while it works", "i/o timeout", func(conn net.Conn, close func()) {
			_, _ = bufio.NewReader(conn).ReadString('\n')
			close()
		}},
		{"pool closed while it does not read", "i/o timeout", func(_ net.Conn, close func()) { close() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			own, engine := net.Pipe()
			defer own.Close()
			defer engine.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go c.engine(engine, cancel)
			err := converse(ctx, own, []byte("job\n"), time.Hour)
			if !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
	t.Run("pool closed before", func(t *testing.T) {
		own, engine := net.Pipe()
		defer own.Close()
		defer engine.Close()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := converse(ctx, own, []byte("job\n"), time.Hour); err == nil {
			t.Error("no error")
		}
	})
}
