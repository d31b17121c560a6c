//go:build unix

package sealed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Outside asks the broker on behalf of a function, which has no other access to the outside. It is safe for concurrent
// use.
type Outside struct {
	broker *net.UnixConn

	mu      sync.Mutex
	waiting map[uint32]chan<- delivery
	last    uint32
	broken  error
}

// A delivery is a reply and the connection that came with it.
type delivery struct {
	reply Reply
	conn  net.Conn
}

// A RefusedError means that the owner's rules refuse a request. Its text is for guests.
type RefusedError string

func (e RefusedError) Error() string { return string(e) }

// Refused reports true, which distinguishes a refusal from a network failure.
func (e RefusedError) Refused() bool { return true }

type timeoutError struct{}

func (timeoutError) Error() string   { return "the connection timed out" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return false }

var _ net.Error = timeoutError{}

func newOutside(broker *net.UnixConn) *Outside {
	o := &Outside{broker: broker, waiting: map[uint32]chan<- delivery{}}
	go o.receive()
	return o
}

// Connect returns a connection to a host that the current execution may reach. The owner resolves the name.
func (o *Outside) Connect(ctx context.Context, host string, port uint16) (net.Conn, error) {
	d, err := o.ask(ctx, Request{Verb: VerbConnect, Name: host, Port: port})
	if err != nil {
		return nil, err
	}
	switch d.reply.Outcome {
	case Granted:
		if d.conn != nil {
			return d.conn, nil
		}
	case Refused:
		return nil, RefusedError(d.reply.Text)
	case Unreachable:
		return nil, syscall.ECONNREFUSED
	case TimedOut:
		return nil, timeoutError{}
	}
	return nil, errors.New("the connection failed")
}

// Secret returns the value of a secret that the current execution was granted; "" for any other.
func (o *Outside) Secret(name string) string {
	if name == "" {
		return ""
	}
	d, err := o.ask(context.Background(), Request{Verb: VerbSecret, Name: name})
	if err != nil || d.reply.Outcome != Granted {
		return ""
	}
	return d.reply.Text
}

// Engine returns a connection to a process of another engine, the ID of that process and the build of its engine. The
// owner ends the process with the execution.
func (o *Outside) Engine(ctx context.Context, name string) (conn net.Conn, pid int, build string, err error) {
	d, err := o.ask(ctx, Request{Verb: VerbEngine, Name: name})
	if err != nil {
		return nil, 0, "", err
	}
	if d.reply.Outcome != Lent || d.conn == nil {
		return nil, 0, "", fmt.Errorf("no process of the engine %s: %s", name, d.reply.Text)
	}
	id, build, _ := strings.Cut(d.reply.Text, " ")
	if pid, err = strconv.Atoi(id); err != nil {
		return nil, 0, "", errors.Join(err, d.conn.Close())
	}
	return d.conn, pid, build, nil
}

func (o *Outside) ask(ctx context.Context, q Request) (delivery, error) {
	reply := make(chan delivery, 1)
	o.mu.Lock()
	if o.broken != nil {
		o.mu.Unlock()
		return delivery{}, o.broken
	}
	o.last++
	q.ID = o.last
	o.waiting[q.ID] = reply
	message, err := q.Message()
	if err == nil {
		_, err = o.broker.Write(message)
	}
	if err != nil {
		delete(o.waiting, q.ID)
	}
	o.mu.Unlock()
	if err != nil {
		return delivery{}, err
	}
	select {
	case d := <-reply:
		return d, nil
	case <-ctx.Done():
	}
	o.mu.Lock()
	_, waits := o.waiting[q.ID]
	delete(o.waiting, q.ID)
	o.mu.Unlock()
	if !waits {
		if d := <-reply; d.conn != nil {
			_ = d.conn.Close() // its request was given up
		}
	}
	return delivery{}, ctx.Err()
}

// receive passes replies on until the broker closes the connection.
func (o *Outside) receive() {
	err := o.deliver()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.broken = err
	for id, c := range o.waiting {
		c <- delivery{reply: Reply{ID: id, Outcome: Failed}}
		delete(o.waiting, id)
	}
}

func (o *Outside) deliver() error {
	// A read returns at most one connection: the kernel ends a read after the bytes that came with a descriptor.
	var (
		pending []byte
		files   []*os.File
		buffer  = make([]byte, replyHead+MaxText)
		rights  = make([]byte, unix.CmsgSpace(4))
	)
	for {
		n, nrights, _, _, err := o.broker.ReadMsgUnix(buffer, rights)
		if err == nil && n == 0 {
			err = net.ErrClosed
		}
		if err != nil {
			return err
		}
		received, err := filesOf(rights[:nrights])
		if err != nil {
			return err
		}
		files = append(files, received...)
		pending = append(pending, buffer[:n]...)
		for {
			p, rest, whole, err := parseReply(pending)
			if err != nil {
				return err
			}
			if !whole {
				break
			}
			pending = rest
			d := delivery{reply: p}
			if (p.Outcome == Granted && p.Text == "" || p.Outcome == Lent) && len(files) > 0 {
				d.conn, err = net.FileConn(files[0])
				if err = errors.Join(err, files[0].Close()); err != nil {
					d = delivery{reply: Reply{ID: p.ID, Outcome: Failed}}
				}
				files = files[1:]
			}
			o.hand(d)
		}
	}
}

func (o *Outside) hand(d delivery) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c, ok := o.waiting[d.reply.ID]; ok {
		c <- d
		delete(o.waiting, d.reply.ID)
		return
	}
	if d.conn != nil {
		_ = d.conn.Close() // its request was given up
	}
}

func filesOf(rights []byte) ([]*os.File, error) {
	if len(rights) == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			return files, err
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "connection"))
		}
	}
	return files, nil
}
