package main

import (
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// A wire is what carries the connections of one gateway to a store. It resets them when the test says so.
type wire struct {
	address string

	mu   sync.Mutex
	ends map[*net.TCPConn]bool // the gateway's ends; true for one whose next answer is lost
}

// newWire returns a wire to an address.
func newWire(t *testing.T, network, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{address: l.Addr().String(), ends: map[*net.TCPConn]bool{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			end, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { w.carry(end.(*net.TCPConn), network, to) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close() // ends the loop
		w.cut()
		all.Wait()
	})
	return w
}

// httpWire returns a wire to a server and the server's URL over that wire.
func httpWire(t *testing.T, server string) (w *wire, there string) {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	w = newWire(t, "tcp", u.Host)
	return w, strings.Replace(server, u.Host, w.address, 1)
}

// cut resets all connections.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for end := range w.ends {
		reset(end)
	}
}

// loseAnswers has each connection reset in place of its next answer, when the server has done what was asked.
func (w *wire) loseAnswers() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for end := range w.ends {
		w.ends[end] = true
	}
}

// reset closes a connection so that its peer gets a reset.
func reset(end *net.TCPConn) {
	_ = end.SetLinger(0) // fails only if it is closed already
	_ = end.Close()
}

// carry connects one of the gateway's ends until either side closes it.
func (w *wire) carry(end *net.TCPConn, network, to string) {
	server, err := net.Dial(network, to)
	if err != nil {
		reset(end) // the server has ended
		return
	}
	w.mu.Lock()
	w.ends[end] = false
	w.mu.Unlock()
	var asks sync.WaitGroup
	asks.Go(func() {
		_, _ = io.Copy(server, end) // a connection that breaks is what the test wants
		_ = server.Close()
	})
	buffer := make([]byte, 16<<10)
	for {
		n, err := server.Read(buffer)
		w.mu.Lock()
		lost := w.ends[end]
		w.mu.Unlock()
		if errors.Is(err, io.EOF) && !lost {
			_ = end.CloseWrite()
			asks.Wait() // the gateway still reads what was sent last; a reset would take that away
			break
		}
		if lost || err != nil {
			break
		}
		if _, err := end.Write(buffer[:n]); err != nil {
			break
		}
	}
	w.mu.Lock()
	delete(w.ends, end)
	w.mu.Unlock()
	reset(end)
	_ = server.Close()
	asks.Wait()
}
