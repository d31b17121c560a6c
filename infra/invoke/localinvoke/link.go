package localinvoke

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"syscall"
	"time"

	"github.com/airlock-run/airlock/infra/invoke/replystream"
	"github.com/airlock-run/airlock/infra/invoke/sealed"
)

const (
	// directBytes is how much of an invocation fits into the empty buffer of a socket, so that the write cannot block.
	directBytes = 64 << 10
	// partBytes is the size of the parts in which an answer is passed on.
	partBytes = 256 << 10
)

// A link is the owner's side of the link to one process.
type link struct {
	pool   *Pool
	proc   *process
	conn   *net.UnixConn
	in     *bufio.Reader
	closed chan struct{} // closed when nothing more comes
	reset  bool          // the process ended with an invocation unread; set before closed is closed

	size    int64 // of what has come for the current invocation, in bytes
	records [][]byte
}

func newLink(p *Pool, proc *process, conn *net.UnixConn) *link {
	return &link{pool: p, proc: proc, conn: conn, in: bufio.NewReaderSize(conn, 32<<10), closed: make(chan struct{})}
}

// hand writes an invocation. An error means that the process is ending and has not read it. A process that does not
// read is killed at the call's deadline.
func (l *link) hand(c *call) error {
	inv := sealed.Invocation{ID: c.id, Tenant: c.tenant, Deadline: c.deadline, Payload: c.payload}
	if c.inv != nil && c.inv.Decision != nil && c.inv.Scanned != nil {
		inv.Scan = c.inv.Scanned() // the decision in the record is then not used
	}
	message := inv.Message()
	if len(message) > directBytes {
		go func() {
			if _, err := l.conn.Write(message); err != nil {
				l.proc.killDuring(c, protocol)
			}
		}()
		return nil
	}
	_, err := l.conn.Write(message)
	return err
}

// follow reads what the process sends until the link ends, and then ends the process.
func (l *link) follow() {
	err := l.read()
	l.reset = errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	if c := l.proc.owed(); c != nil {
		c.send(part{end: true, broken: true})
	}
	l.proc.kill(protocol)
	_ = l.conn.Close() // it has ended
	close(l.closed)
}

func (l *link) read() error {
	for {
		kind, n, err := sealed.Head(l.in)
		if err != nil {
			return err
		}
		switch kind {
		case sealed.KindReady:
			if n != 0 || !l.proc.starts() {
				return sealed.ErrProtocol
			}
			l.pool.offer(l.proc, nil)
			continue
		case sealed.KindPart, sealed.KindRecord, sealed.KindEnd, sealed.KindFailure:
		default:
			return sealed.ErrProtocol
		}
		c := l.proc.owed()
		if c == nil {
			return sealed.ErrProtocol
		}
		if err := l.take(c, kind, n); err != nil {
			return err
		}
	}
}

// take reads one message of the answer to c.
func (l *link) take(c *call, kind sealed.Kind, n int) error {
	if l.size == 0 {
		close(c.begun)
	}
	if l.size += int64(n) + 1; l.size > l.pool.cfg.MaxAnswer {
		// The rest is never read: the process is ended.
		c.send(part{end: true, failure: &replystream.Failure{Type: replystream.TooLarge,
			Message: "the answer is larger than " + strconv.FormatInt(l.pool.cfg.MaxAnswer, 10) + " bytes"}})
		return sealed.ErrProtocol
	}
	if kind == sealed.KindPart {
		return l.part(c, n)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(l.in, body); err != nil {
		return err
	}
	if kind == sealed.KindRecord {
		l.records = append(l.records, body)
		return nil
	}
	last, rest, err := sealed.Ended(body)
	if err != nil {
		return err
	}
	end := part{end: true}
	if kind == sealed.KindFailure {
		var f sealed.Failure
		if err := json.Unmarshal(rest, &f); err != nil || f.Type == "" {
			return fmt.Errorf("read a failure: %w", sealed.ErrProtocol)
		}
		end.failure = &replystream.Failure{Type: f.Type, Message: f.Message}
	}
	c.records, l.records, l.size = l.records, nil, 0
	if last {
		l.proc.wear(spent)
	}
	l.proc.finish(c, l.pool.cfg.Now())
	c.send(end)
	if l.in.Buffered() > 0 {
		return sealed.ErrProtocol // data after an end would be read as the next execution's answer
	}
	l.pool.offer(l.proc, nil)
	return nil
}

// part passes a part of the answer on.
func (l *link) part(c *call, n int) error {
	for n > 0 {
		data := make([]byte, min(n, partBytes))
		if _, err := io.ReadFull(l.in, data); err != nil {
			return err
		}
		if n -= len(data); !c.send(part{data: data}) {
			return sealed.ErrProtocol // no reader is left, because the process was ended
		}
	}
	return nil
}

// unread reports whether the process, which has ended, never read its last invocation, so that nothing of it has run.
func (l *link) unread() bool {
	late := time.NewTimer(settling) // a child of the process may hold the link open
	defer late.Stop()
	select {
	case <-l.closed:
		return l.reset && l.size == 0
	case <-late.C:
		return false
	}
}
