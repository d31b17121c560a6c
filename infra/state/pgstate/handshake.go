package pgstate

import (
	"bytes"
	endian "encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
)

const (
	// maxRounds bounds the rounds in which a password is hashed for a server. PostgreSQL asks for 4,096; a million take
	// half a second. The library accepts two thousand million, and nothing interrupts it.
	maxRounds = 1_000_000
	// maxHandshake bounds what a server sends before it has accepted a connection.
	maxHandshake = 64 << 10
)

var errHandshake = errors.New("the server of the database sends too much before it accepts a connection")

// handshake reads the messages of a server. Until the server has accepted the connection, it checks them.
type handshake struct {
	from io.Reader
	seen []byte // of the message that is read
	size int    // of all messages
	done bool
}

// Read implements io.Reader.
func (h *handshake) Read(p []byte) (int, error) {
	n, err := h.from.Read(p)
	if h.done || n == 0 {
		return n, err
	}
	if refused := h.check(p[:n]); refused != nil {
		return 0, refused
	}
	return n, err
}

// check takes the next bytes: messages of a kind, their length without the kind in four bytes, and their content
// (postgresql.org/docs/current/protocol-message-formats.html).
func (h *handshake) check(b []byte) error {
	if h.size += len(b); h.size > maxHandshake {
		return errHandshake
	}
	h.seen = append(h.seen, b...)
	for len(h.seen) >= 5 {
		kind, length := h.seen[0], 1+int64(endian.BigEndian.Uint32(h.seen[1:]))
		if kind == 'Z' || kind == 'K' { // ready, or accepted with the key for cancelling
			h.done, h.seen = true, nil
			return nil
		}
		if length < 5 || length > maxHandshake {
			return errHandshake
		}
		if int64(len(h.seen)) < length {
			return nil
		}
		if kind == 'R' {
			if err := rounds(h.seen[5:length]); err != nil {
				return err
			}
		}
		h.seen = h.seen[length:]
	}
	return nil
}

// rounds checks a message about authentication. One with the code 11 has the attributes of SCRAM (RFC 5802), such as
// r=nonce,s=salt,i=4096.
func rounds(content []byte) error {
	const continues = 11
	if len(content) < 4 || endian.BigEndian.Uint32(content) != continues {
		return nil
	}
	for attribute := range bytes.SplitSeq(content[4:], []byte(",")) {
		text, ok := bytes.CutPrefix(attribute, []byte("i="))
		if !ok {
			continue
		}
		if n, err := strconv.ParseUint(string(text), 10, 64); err != nil || n > maxRounds {
			return fmt.Errorf("the server of the database asks for %.20q rounds of hashing a password; at most %d are made",
				text, maxRounds)
		}
	}
	return nil
}
