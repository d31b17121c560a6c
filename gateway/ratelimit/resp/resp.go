// Package resp bounds what a Redis server may announce. A client library allocates what a reply announces: one line
// with two thousand million elements makes it allocate 24 GB before the first of them arrives. The connection is
// therefore read through a scanner of the protocol (redis.io/docs/latest/develop/reference/protocol-spec), which
// refuses such a line before the library sees all of it.
//
// Package wiring imports it. Start with [Bound].
package resp

import (
	"errors"
	"net"
	"sync/atomic"
	"syscall"
)

// ErrRefused is the error of a connection whose server announced or sent more than is read. The connection is then
// closed.
var ErrRefused = errors.New("the Redis server sent an invalid reply, or one that is too large")

// The bounds suit what a limiter asks: a few numbers, and what a server says about itself at the start.
const (
	maxLine     = 16 << 10
	maxBulk     = 64 << 10
	maxReply    = 256 << 10 // bytes of a whole reply
	maxElements = 1024      // of one list, set or map
	maxDepth    = 8
)

// Bound returns conn with the bounds on what is read from it.
func Bound(conn net.Conn) net.Conn {
	b := &bounded{Conn: conn}
	if raw, ok := conn.(syscall.Conn); ok {
		return &checked{b, raw}
	}
	return b
}

type bounded struct {
	net.Conn
	scan   Scanner
	failed atomic.Bool
}

// checked lets the library check whether the connection is still open.
type checked struct {
	*bounded
	syscall.Conn
}

// Read implements net.Conn.
func (b *bounded) Read(p []byte) (int, error) {
	if b.failed.Load() {
		return 0, ErrRefused
	}
	n, err := b.Conn.Read(p)
	good, refused := b.scan.Scan(p[:n])
	if refused == nil {
		return n, err
	}
	b.failed.Store(true)
	_ = b.Conn.Close() // nothing more is read from it
	if good == 0 {
		return 0, refused
	}
	return good, nil
}

// Scanner follows the replies of a server. The zero value is at the start of a reply.
type Scanner struct {
	kind   byte  // of the line that is read; 0 at the start of a value
	length int   // bytes of that line so far
	number int64 // what it announces
	null   bool  // it begins with a minus sign
	bulk   int64 // bytes left of a string and its line end
	size   int64 // bytes of the reply
	open   []list
}

// list is a list, set or map that has not ended.
type list struct {
	left int64 // elements; a map has two for each pair
	keys bool  // every second element, from the first, is the key of a pair
}

// Scan takes the next bytes. It returns how many of them may be passed on, and ErrRefused if that is not all.
func (s *Scanner) Scan(b []byte) (good int, err error) {
	for i := 0; i < len(b); {
		if s.bulk > 0 {
			n := min(s.bulk, int64(len(b)-i))
			i += int(n)
			if s.size += n; s.size > maxReply {
				return i - int(n), ErrRefused
			}
			if s.bulk -= n; s.bulk == 0 {
				s.ended()
			}
			continue
		}
		if s.size++; s.size > maxReply || !s.next(b[i]) {
			return i, ErrRefused
		}
		i++
	}
	return len(b), nil
}

// next takes a byte of a line. It reports whether the byte can be one.
func (s *Scanner) next(c byte) bool {
	if s.kind == 0 {
		s.kind, s.length, s.number, s.null = c, 0, 0, false
		return isLine(c) || isBulk(c) || isList(c)
	}
	if s.length++; s.length > maxLine {
		return false
	}
	if isLine(s.kind) {
		if c == '\n' {
			s.ended()
		}
		return true
	}
	switch {
	case c >= '0' && c <= '9':
		s.number = s.number*10 + int64(c-'0')
		return s.length <= 8
	case c == '-' && s.length == 1:
		s.null = true
		return true
	case c == '\r':
		return s.length > 1
	case c == '\n':
		return s.announced()
	}
	return false
}

// announced ends a line that says how much follows. It reports whether that is within the bounds.
func (s *Scanner) announced() bool {
	switch {
	case s.null:
		s.ended()
		return s.number == 1
	case isBulk(s.kind):
		s.kind, s.bulk = 0, s.number+2
		return s.number <= maxBulk
	}
	keys := s.kind == '%'
	if keys {
		s.number *= 2
	}
	switch {
	case s.number > maxElements || len(s.open) == maxDepth || s.atKey():
		return false
	case s.number == 0:
		s.ended()
	default:
		s.kind, s.open = 0, append(s.open, list{s.number, keys})
	}
	return true
}

// atKey reports whether the next value is the key of a pair. The library panics if that is a list.
func (s *Scanner) atKey() bool {
	if len(s.open) == 0 {
		return false
	}
	in := s.open[len(s.open)-1]
	return in.keys && in.left%2 == 0
}

// ended closes a value, and the lists whose last element it was.
func (s *Scanner) ended() {
	s.kind = 0
	for len(s.open) > 0 {
		last := len(s.open) - 1
		if s.open[last].left--; s.open[last].left > 0 {
			return
		}
		s.open = s.open[:last]
	}
	s.size = 0
}

func isLine(c byte) bool {
	return c == '+' || c == '-' || c == ':' || c == '_' || c == '#' || c == ',' || c == '('
}

func isBulk(c byte) bool { return c == '$' || c == '=' || c == '!' }

func isList(c byte) bool { return c == '*' || c == '~' || c == '%' || c == '>' }
