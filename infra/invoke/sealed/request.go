package sealed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Verb is the kind of a request to the broker.
type Verb byte

// The verbs.
const (
	VerbConnect Verb = 'c' // to Name and Port
	VerbSecret  Verb = 's' // called Name
	VerbEngine  Verb = 'e' // a process of the engine Name
	VerbTool    Verb = 't' // a connection for one call of the caller's tool Name
)

// verbs are all verbs.
const verbs = string(VerbConnect) + string(VerbSecret) + string(VerbEngine) + string(VerbTool)

// A Request is one request to the broker.
type Request struct {
	ID   uint32 // repeated in the reply
	Verb Verb
	Port uint16
	Name string
}

// Outcome is how a request ended.
type Outcome byte

// The outcomes. The zero value is invalid.
const (
	Granted     Outcome = 'g' // a connection comes with the reply, or Text is the secret
	Refused     Outcome = 'r' // by the rules; Text says why, in words for guests
	Unreachable Outcome = 'u' // refused by the other side
	TimedOut    Outcome = 't'
	Failed      Outcome = 'f' // in any other way
	Lent        Outcome = 'e' // a connection to a process comes with the reply; Text is its ID and the build of its engine
)

// A Reply is the answer to a request. A connection travels beside it.
type Reply struct {
	ID      uint32
	Outcome Outcome
	Text    string
}

const (
	requestHead = 4 + 1 + 2 + 2 // id, verb, port, length of name
	replyHead   = 4 + 1 + 4     // id, outcome, length of text
	// MaxName bounds the name in a request, and MaxText the text of a reply, in bytes.
	MaxName = 512
	MaxText = 64 << 10
)

var errTooLong = errors.New("a name or a text is too long")

// Message returns the request as it is sent.
func (q Request) Message() ([]byte, error) {
	if len(q.Name) > MaxName {
		return nil, errTooLong
	}
	b := binary.BigEndian.AppendUint32(make([]byte, 0, requestHead+len(q.Name)), q.ID)
	b = append(b, byte(q.Verb))
	b = binary.BigEndian.AppendUint16(b, q.Port)
	b = binary.BigEndian.AppendUint16(b, uint16(len(q.Name)))
	return append(b, q.Name...), nil
}

// ReadRequest reads the next request.
func ReadRequest(r io.Reader) (Request, error) {
	var head [requestHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Request{}, err
	}
	q := Request{ID: binary.BigEndian.Uint32(head[:]), Verb: Verb(head[4]), Port: binary.BigEndian.Uint16(head[5:])}
	n := int(binary.BigEndian.Uint16(head[7:]))
	if n > MaxName || !strings.ContainsRune(verbs, rune(q.Verb)) {
		return q, fmt.Errorf("a request: %w", ErrProtocol)
	}
	name := make([]byte, n)
	if _, err := io.ReadFull(r, name); err != nil {
		return q, io.ErrUnexpectedEOF
	}
	q.Name = string(name)
	return q, nil
}

// message returns the reply as it is sent.
func (p Reply) message() []byte {
	text := p.Text[:min(len(p.Text), MaxText)]
	b := binary.BigEndian.AppendUint32(make([]byte, 0, replyHead+len(text)), p.ID)
	b = append(b, byte(p.Outcome))
	b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
	return append(b, text...)
}

// parseReply cuts the first reply off b; ok is false if it is incomplete.
func parseReply(b []byte) (p Reply, rest []byte, ok bool, err error) {
	if len(b) < replyHead {
		return p, b, false, nil
	}
	n := binary.BigEndian.Uint32(b[5:])
	if n > MaxText {
		return p, b, false, ErrProtocol
	}
	if len(b) < replyHead+int(n) {
		return p, b, false, nil
	}
	p = Reply{ID: binary.BigEndian.Uint32(b), Outcome: Outcome(b[4]), Text: string(b[replyHead : replyHead+int(n)])}
	return p, b[replyHead+int(n):], true, nil
}
