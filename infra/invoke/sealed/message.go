package sealed

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// Kind is the kind of a message on the link.
type Kind byte

// The kinds. The owner sends the first, the function the others.
const (
	KindInvocation Kind = 'i'
	KindReady      Kind = 'r'
	KindPart       Kind = 'p' // of the answer
	KindRecord     Kind = 'a' // an audit record, as JSON
	KindEnd        Kind = 'e' // of the answer; the body is one byte, 1 when the process takes no more invocations
	KindFailure    Kind = 'f' // in place of the rest of the answer: that byte, and a Failure as JSON
)

const headBytes = 5

// ErrProtocol means that the other side broke the protocol.
var ErrProtocol = errors.New("the other side of the link breaks the protocol")

// Head reads the head of a message: its kind, and the length of the body that follows.
func Head(r io.Reader) (Kind, int, error) {
	var head [headBytes]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, 0, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > math.MaxInt32 {
		return 0, 0, ErrProtocol
	}
	return Kind(head[0]), int(n), nil
}

// appendMessage appends a whole message.
func appendMessage(to []byte, kind Kind, body ...[]byte) []byte {
	n := 0
	for _, b := range body {
		n += len(b)
	}
	to = append(to, byte(kind))
	to = binary.BigEndian.AppendUint32(to, uint32(n))
	for _, b := range body {
		to = append(to, b...)
	}
	return to
}

// An Invocation is one invocation on its way into a function process.
type Invocation struct {
	// ID is the invoker's ID, for the log.
	ID string
	// Tenant is the Lambda tenant id, or empty.
	Tenant string
	// Deadline is when the process is killed.
	Deadline time.Time
	// Scan is the owner's scan of the payload's sources (scan.Hand), or empty.
	Scan    []byte
	Payload []byte
}

// Message returns the message with inv.
func (inv Invocation) Message() []byte {
	to := make([]byte, 0, headBytes+8+4+4+len(inv.ID)+len(inv.Tenant)+len(inv.Scan)+len(inv.Payload))
	deadline := binary.BigEndian.AppendUint64(nil, uint64(inv.Deadline.UnixMilli()))
	scanned := binary.BigEndian.AppendUint32(nil, uint32(len(inv.Scan)))
	return appendMessage(to, KindInvocation, deadline, sized(inv.ID), sized(inv.Tenant), scanned, inv.Scan, inv.Payload)
}

// sized returns a short string after its length. It cuts longer ones: IDs and tenants are shorter.
func sized(s string) []byte {
	s = s[:min(len(s), math.MaxUint16)]
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(s))), s...)
}

// parseInvocation reads the body of an invocation message. The payload and the scan alias body.
func parseInvocation(body []byte) (Invocation, error) {
	var inv Invocation
	if len(body) < 8 {
		return inv, ErrProtocol
	}
	inv.Deadline = time.UnixMilli(int64(binary.BigEndian.Uint64(body)))
	rest := body[8:]
	for _, field := range []*string{&inv.ID, &inv.Tenant} {
		if len(rest) < 2 {
			return inv, ErrProtocol
		}
		n := int(binary.BigEndian.Uint16(rest))
		if rest = rest[2:]; len(rest) < n {
			return inv, ErrProtocol
		}
		*field, rest = string(rest[:n]), rest[n:]
	}
	if len(rest) < 4 {
		return inv, ErrProtocol
	}
	n := binary.BigEndian.Uint32(rest)
	if rest = rest[4:]; uint64(len(rest)) < uint64(n) {
		return inv, ErrProtocol
	}
	inv.Scan, inv.Payload = rest[:n], rest[n:]
	return inv, nil
}

// A Failure is a function's error. The names are those of the Lambda Runtime API.
type Failure struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
}

func (f Failure) body() []byte {
	b, err := json.Marshal(f)
	if err != nil {
		return []byte("{}") // two strings always encode
	}
	return b
}

// Ended reads the body of an end or of a failure: last reports that the process takes no more invocations; rest is
// what follows.
func Ended(body []byte) (last bool, rest []byte, err error) {
	if len(body) == 0 || body[0] > 1 {
		return false, nil, fmt.Errorf("end of an answer: %w", ErrProtocol)
	}
	return body[0] == 1, body[1:], nil
}
