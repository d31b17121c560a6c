// Package addresstest provides a DNS server for tests of code that dials by name. Its answer can change between two
// queries. Only tests import it. Start reading at [Names].
package addresstest

import (
	"context"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// Server is a DNS server. Each query for IPv4 addresses gets the next of its answers, and the last one from then on.
type Server struct {
	conn    net.PacketConn
	answers [][]netip.Addr
	asked   atomic.Int64 // queries for IPv4 addresses
}

// Names starts a server that ends with the test, and returns a resolver that queries no other.
func Names(t testing.TB, answers ...[]netip.Addr) (*Server, *net.Resolver) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{conn: conn, answers: answers}
	done := make(chan struct{})
	go func() { defer close(done); s.serve() }()
	t.Cleanup(func() { _ = conn.Close(); <-done })
	return s, &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// Asked returns the number of queries for IPv4 addresses.
func (s *Server) Asked() int64 { return s.asked.Load() }

func (s *Server) serve() {
	buf := make([]byte, 4096)
	for {
		n, from, err := s.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		q := m.Questions[0]
		at := s.asked.Load()
		if q.Type == dnsmessage.TypeA {
			at = s.asked.Add(1) - 1
		}
		m.Response, m.Additionals = true, nil
		for _, a := range s.answers[min(int(at), len(s.answers)-1)] {
			h := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
			switch {
			case a.Is4() && q.Type == dnsmessage.TypeA:
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
			case a.Is6() && q.Type == dnsmessage.TypeAAAA:
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
			}
		}
		if out, err := m.Pack(); err == nil {
			_, _ = s.conn.WriteTo(out, from) // a lost answer is asked for again
		}
	}
}
