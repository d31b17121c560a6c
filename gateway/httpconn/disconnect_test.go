package httpconn_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/airlock-run/airlock/gateway/httpconn"
)

// connected returns both ends of a connection.
func connected(t *testing.T) (server, client net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close(); _ = client.Close() })
	return server, client
}

// A hang-up ends the context, whether it comes before the request, with its first moment, or while it is watched.
func TestDisconnectContext(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]time.Duration{
		"before": -1, "at once": 0, "while watched": 3 * httpconn.Unwatched,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, client := connected(t)
			if after < 0 {
				_ = client.Close()
			}
			ctx, release := httpconn.DisconnectContext(t.Context(), server)
			defer release()
			if after >= 0 {
				time.AfterFunc(after, func() { _ = client.Close() })
			}
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Second):
				t.Error("the hang-up was not noticed")
			}
		})
	}
}

// Whenever a context is released, also twice, the connection can be read as if it had not been watched.
func TestDisconnectContextReleased(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]time.Duration{
		"at once": 0, "when the watch begins": httpconn.Unwatched, "while watched": 3 * httpconn.Unwatched,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, client := connected(t)
			for range 20 {
				if _, err := client.Write([]byte("x")); err != nil {
					t.Fatal(err)
				}
				ctx, release := httpconn.DisconnectContext(t.Context(), server)
				<-time.After(after)
				if ctx.Err() != nil {
					t.Fatal("the context ended, although nobody hung up")
				}
				release()
				release()
				if ctx.Err() != context.Canceled {
					t.Fatalf("released: %v", ctx.Err())
				}
				b := make([]byte, 2)
				if n, err := server.Read(b); n != 1 || err != nil {
					t.Fatalf("read %d bytes: %v", n, err)
				}
			}
		})
	}
}
