package pgstate

import (
	"net"
	"time"
)

// Die ends a process as a kill does: its connections close and its row stays.
func (s *Store) Die() (id string) {
	s.beat.end()
	s.pool.Close()
	return s.id
}

// ID returns the ID of the process.
func (s *Store) ID() string { return s.id }

// Patient bounds the waits of a connection.
func Patient(conn net.Conn, most time.Duration) net.Conn { return &patient{Conn: conn, most: most} }
