package pgstate

import (
	"net"
	"sync"
	"time"
)

// longestWait bounds the wait for the next bytes of a server. No statement takes as long, not even a migration.
const longestWait = 10 * time.Minute

// patient bounds every wait for a server. The library bounds a statement by its context, but forgets the context when
// the server says that it is ready in the middle of a result, and then waits forever for the rest.
type patient struct {
	net.Conn
	most time.Duration

	mu  sync.Mutex
	set bool // the library has set a deadline
}

// Read implements net.Conn.
func (p *patient) Read(b []byte) (int, error) {
	p.mu.Lock()
	if !p.set {
		if err := p.Conn.SetReadDeadline(time.Now().Add(p.most)); err != nil {
			p.mu.Unlock()
			return 0, err
		}
	}
	p.mu.Unlock()
	return p.Conn.Read(b)
}

// SetDeadline implements net.Conn.
func (p *patient) SetDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set = !t.IsZero()
	return p.Conn.SetDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (p *patient) SetReadDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set = !t.IsZero()
	return p.Conn.SetReadDeadline(t)
}
