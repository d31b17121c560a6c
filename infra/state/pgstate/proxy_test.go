package pgstate_test

import (
	"encoding/binary"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// mortal is the connection of one process to the server. It breaks before a request, or between a request and its
// answer.
type mortal struct {
	url      string
	listener net.Listener
	socket   string

	mu    sync.Mutex
	armed bool
	left  int  // requests that go through
	carry bool // the last request arrives, and its answer is lost
	once  bool // only that one connection ends
	died  bool
	conns map[net.Conn]bool
}

// way returns a connection to a database.
func way(t *testing.T, url string) *mortal {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address, _, _ := strings.Cut(strings.Replace(url, "@/", "@"+l.Addr().String()+"/", 1), "?")
	m := &mortal{url: address + "?sslmode=disable&pool_max_conns=4", listener: l,
		socket: filepath.Join(server.Dir, ".s.PGSQL.5432"), conns: map[net.Conn]bool{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { m.serve(client) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close() // ends the loop
		m.cut()
		all.Wait()
	})
	return m
}

// after breaks the connection after so many requests.
func (m *mortal) after(requests int, carry, once bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.armed, m.left, m.carry, m.once = true, requests, carry, once
}

func (m *mortal) dead() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.died
}

func (m *mortal) cut() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for c := range m.conns {
		_ = c.Close() // this ends its reader
	}
}

// passes counts one request.
func (m *mortal) passes() (through, carry bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.armed {
		return true, false
	}
	m.left--
	if m.left >= 0 || m.once && m.left < -1 {
		return true, false
	}
	m.died = true
	return false, m.carry && m.left == -1
}

func (m *mortal) serve(client net.Conn) {
	defer client.Close()
	if m.dead() && !m.once {
		return
	}
	server, err := net.Dial("unix", m.socket)
	if err != nil {
		return
	}
	defer server.Close()
	m.mu.Lock()
	m.conns[client], m.conns[server] = true, true
	m.mu.Unlock()
	var lost atomic.Bool
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		defer client.Close()
		head := make([]byte, 5)
		for {
			if _, err := io.ReadFull(server, head); err != nil {
				return
			}
			to := io.Writer(client)
			if lost.Load() {
				to = io.Discard
			}
			if !copyRest(to, server, head, 1) || lost.Load() && head[0] == 'Z' {
				return
			}
		}
	}()
	if !copyMessage(server, client, make([]byte, 4)) {
		return
	}
	head := make([]byte, 5)
	for {
		if _, err := io.ReadFull(client, head); err != nil {
			return
		}
		if head[0] == 'S' || head[0] == 'Q' {
			through, carry := m.passes()
			if carry {
				lost.Store(true)
				if copyRest(server, client, head, 1) {
					<-answered // the server has carried it out
				}
			}
			if !through {
				if !m.once {
					m.cut()
				}
				return
			}
		}
		if !copyRest(server, client, head, 1) {
			return
		}
	}
}

func copyMessage(to io.Writer, from io.Reader, head []byte) bool {
	if _, err := io.ReadFull(from, head); err != nil {
		return false
	}
	return copyRest(to, from, head, 0)
}

// copyRest copies a message whose head was read. Its length follows the type.
func copyRest(to io.Writer, from io.Reader, head []byte, kind int) bool {
	if _, err := to.Write(head); err != nil {
		return false
	}
	_, err := io.CopyN(to, from, int64(binary.BigEndian.Uint32(head[kind:]))-4)
	return err == nil
}
