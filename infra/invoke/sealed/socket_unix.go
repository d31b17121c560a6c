//go:build unix

package sealed

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Pair is a connected pair of sockets: the owner keeps one end and gives the other to the process that it starts.
type Pair struct {
	Owner    *net.UnixConn
	Function *os.File
}

// NewPair returns a connected pair. Neither end is inherited by accident.
func NewPair() (Pair, error) {
	syscall.ForkLock.RLock()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(ends[0])
		unix.CloseOnExec(ends[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return Pair{}, fmt.Errorf("connect a pair of sockets: %w", err)
	}
	function := os.NewFile(uintptr(ends[1]), "function")
	owner, err := connOf(os.NewFile(uintptr(ends[0]), "owner"))
	if err != nil {
		return Pair{}, errors.Join(err, function.Close())
	}
	return Pair{owner, function}, nil
}

// NewConns returns two connected connections. The owner keeps one and passes the other.
func NewConns() (owner, function *net.UnixConn, err error) {
	pair, err := NewPair()
	if err != nil {
		return nil, nil, err
	}
	if function, err = connOf(pair.Function); err != nil {
		return nil, nil, errors.Join(err, pair.Owner.Close())
	}
	return pair.Owner, function, nil
}

// connOf returns a connection that takes over a file.
func connOf(f *os.File) (*net.UnixConn, error) {
	c, err := net.FileConn(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("use an inherited socket: %w", err)
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(errors.New("an inherited descriptor is not a socket of this machine"), c.Close())
	}
	return u, nil
}

// Inherited returns the link of this process and its connection to the broker.
func Inherited() (*Function, *Outside, error) {
	link, err := connOf(os.NewFile(linkDescriptor, "link"))
	if err != nil {
		return nil, nil, err
	}
	broker, err := connOf(os.NewFile(brokerDescriptor, "broker"))
	if err != nil {
		return nil, nil, errors.Join(err, link.Close())
	}
	return NewFunction(link), newOutside(broker), nil
}

// Send writes a reply, with a connection, which may be nil and which the caller closes. It waits for room. It makes
// each attempt through current, which reports whether the reply still belongs to the execution that asked; if not,
// Send returns net.ErrClosed and sends nothing.
func Send(broker *net.UnixConn, p Reply, conn net.Conn, current func(attempt func()) bool) error {
	raw, err := broker.SyscallConn()
	if err != nil {
		return err
	}
	message := p.message()
	send := func(rights []byte) error {
		var sent error
		err := raw.Write(func(fd uintptr) bool {
			if !current(func() { sent = sendMessage(int(fd), message, rights) }) {
				sent = net.ErrClosed
			}
			return !errors.Is(sent, unix.EAGAIN)
		})
		return errors.Join(err, sent)
	}
	if conn == nil {
		return send(nil)
	}
	held, ok := conn.(syscall.Conn)
	if !ok {
		return errors.New("a connection has no descriptor")
	}
	control, err := held.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = control.Control(func(fd uintptr) { sent = send(unix.UnixRights(int(fd))) })
	return errors.Join(err, sent)
}

// sendMessage sends a message without waiting for room.
func sendMessage(fd int, message, rights []byte) error {
	n, err := unix.SendmsgN(fd, message, rights, nil, unix.MSG_DONTWAIT)
	if err == nil && n != len(message) {
		err = errors.New("a reply was cut off")
	}
	return err
}
