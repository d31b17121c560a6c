package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// hostile are servers that answer as no server should. Each gets a connection on which a request has begun.
var hostile = map[string]func(conn io.Writer) error{
	"endless text": func(w io.Writer) error {
		return pour(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n\"", "xxxxxxxx")
	},
	"endless list": func(w io.Writer) error {
		return pour(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"keys\":[", "{},")
	},
	"endless failure": func(w io.Writer) error {
		return pour(w, "HTTP/1.1 418 I\r\nContent-Type: application/xml\r\n\r\n<a>", "<b/>")
	},
	"endless events": func(w io.Writer) error {
		return pour(w, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", "data: {}\n\n")
	},
	"endless frames": func(w io.Writer) error {
		return pour(w, "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.amazon.eventstream\r\n\r\n",
			"\x00\x00\x00\x10\x00\x00\x00\x00")
	},
	"huge": func(w io.Writer) error {
		return pour(w, "HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n", "xxxxxxxx")
	},
	"endless headers": func(w io.Writer) error { return pour(w, "HTTP/1.1 200 OK\r\n", "X-A: b\r\n") },
	"garbage": func(w io.Writer) error {
		_, err := w.Write([]byte("\x00\xff\x16\x03\x01 SSH-2.0\r\n\r\n\r\n"))
		return err
	},
	"endless early answers": func(w io.Writer) error {
		return pour(w, "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n")
	},
	"endless trailers": func(w io.Writer) error {
		return pour(w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X-A: b\r\n")
	},
	"endless line of events": func(w io.Writer) error {
		return pour(w, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ", "xxxxxxxx")
	},
	"endless depth": func(w io.Writer) error {
		return pour(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", `{"keys":[`)
	},
	"endless depth of XML": func(w io.Writer) error {
		return pour(w, "HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n\r\n", "<a>")
	},
	"compressed zeros": func(w io.Writer) error {
		var zeros strings.Builder // a thousandth of what they decode to
		z := gzip.NewWriter(&zeros)
		_, err := z.Write(make([]byte, 1<<20))
		if err = errors.Join(err, z.Close()); err != nil {
			return err
		}
		return pour(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n", zeros.String())
	},
	"later": func(w io.Writer) error {
		_, err := io.WriteString(w, "HTTP/1.1 503 No\r\nRetry-After: 999999999\r\nContent-Length: 0\r\n\r\n")
		return err
	},
	"drip": func(w io.Writer) error {
		_, err := io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50000\r\n\r\n")
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for ; err == nil; <-tick.C {
			_, err = io.WriteString(w, " ")
		}
		return err
	},
}

func pour(w io.Writer, head, each string) error {
	_, err := io.WriteString(w, head)
	for block := strings.Repeat(each, max(1, 64<<10/len(each))); err == nil; {
		_, err = io.WriteString(w, block)
	}
	return err
}

type countingWriter struct {
	io.Writer
	n *atomic.Int64
}

func (c countingWriter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n.Add(int64(n))
	return n, err
}

// serveHostile listens, and returns the number of bytes that it could send.
func serveHostile(t *testing.T, answer func(io.Writer) error) (string, *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	written := &atomic.Int64{}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if tcp, ok := conn.(*net.TCPConn); ok {
					_ = tcp.SetWriteBuffer(64 << 10) // what it holds counts as read
				}
				if _, err := conn.Read(make([]byte, 64<<10)); err == nil {
					_ = answer(countingWriter{conn, written}) // it ends when the client has enough
				}
			}()
		}
	}()
	return "http://" + l.Addr().String(), written
}

// TestClientsMeetHostileServers: whatever a server answers, each client ends by itself with an error, and reads no more
// than its bound.
func TestClientsMeetHostileServers(t *testing.T) {
	slack := int64(256<<10) + receiveBuffer() // what the sockets hold of the server, and of the client
	for _, folder := range slices.Sorted(maps.Keys(clients)) {
		for _, c := range clients[folder] {
			for _, kind := range slices.Sorted(maps.Keys(hostile)) {
				t.Run(c.name+"/"+kind, func(t *testing.T) {
					// The deadline is the caller's. Clients with a shorter deadline end before it.
					ctx, cancel := context.WithTimeout(t.Context(), patienceWith(kind))
					defer cancel()
					url, written := serveHostile(t, hostile[kind])
					began := time.Now()
					if err := c.call(ctx, t, url); err == nil {
						t.Error("the answer was taken")
					}
					if took := time.Since(began); took > time.Minute {
						t.Errorf("took %v", took)
					}
					if n := written.Load(); n > c.most+slack {
						t.Errorf("%d bytes were read; want at most %d", n, c.most)
					}
				})
			}
		}
	}
}

// TestClientsMeetStalledHandshakes: a server that is asked to speak TLS, and sends its greeting byte by byte, keeps no
// client longer than the client's caller waits.
func TestClientsMeetStalledHandshakes(t *testing.T) {
	greeting := func(w io.Writer) error {
		_, err := w.Write([]byte{22, 3, 3, 64, 0, 2, 0, 63, 252})
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for ; err == nil; <-tick.C {
			_, err = w.Write([]byte{0})
		}
		return err
	}
	for _, folder := range slices.Sorted(maps.Keys(clients)) {
		for _, c := range clients[folder] {
			t.Run(c.name, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
				defer cancel()
				url, _ := serveHostile(t, greeting)
				began := time.Now()
				if err := c.call(ctx, t, strings.Replace(url, "http:", "https:", 1)); err == nil {
					t.Error("the answer was taken")
				}
				if took := time.Since(began); took > time.Minute {
					t.Errorf("took %v", took)
				}
			})
		}
	}
}

// receiveBuffer returns how many bytes this machine lets a socket hold that its program has not read.
func receiveBuffer() int64 {
	var least, usual, most int64
	limits, err := os.ReadFile("/proc/sys/net/ipv4/tcp_rmem")
	if err == nil {
		_, err = fmt.Sscan(string(limits), &least, &usual, &most)
	}
	if err != nil {
		return 48 << 20
	}
	return most
}

func patienceWith(kind string) time.Duration {
	if kind == "drip" {
		return time.Second
	}
	return 2 * time.Minute
}

// TestClientsFollowNoRedirect: a server leads no client to another server, whatever it answers.
func TestClientsFollowNoRedirect(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, folder := range slices.Sorted(maps.Keys(clients)) {
			for _, c := range clients[folder] {
				if folder == "sandbox/internal/egress" {
					continue // they follow redirects, and check the address of each
				}
				t.Run(fmt.Sprint(c.name, "/", status), func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), patienceWith(""))
					defer cancel()
					inside, said := serveHostile(t, func(w io.Writer) error {
						_, err := io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
						return err
					})
					url, _ := serveHostile(t, func(w io.Writer) error {
						_, err := fmt.Fprintf(w, "HTTP/1.1 %d Go\r\nLocation: %s/latest/meta-data/\r\nContent-Length: 0\r\n\r\n",
							status, inside)
						return err
					})
					_ = c.call(ctx, t, url) // some have nothing to say about it
					if said.Load() > 0 {
						t.Error("the redirect was followed")
					}
				})
			}
		}
	}
}
