package scanpool

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// maxFrame bounds a frame; it exceeds the largest request and answer.
const maxFrame = 64 << 20

// together is the size up to which parts of a frame are written together. Longer ones are not copied.
const together = 32 << 10

// writeFrame writes a frame whose payload is in parts.
func writeFrame(w io.Writer, payload ...string) error {
	n := 0
	for _, part := range payload {
		n += len(part)
	}
	if n > maxFrame {
		return fmt.Errorf("a frame of %d bytes; at most %d are sent", n, maxFrame)
	}
	out := bufio.NewWriterSize(w, min(4+n, together))
	_, _ = out.Write(binary.BigEndian.AppendUint32(nil, uint32(n))) // Flush returns the error of each write
	for _, part := range payload {
		_, _ = out.WriteString(part)
	}
	return out.Flush()
}

// readFrame reads a frame of at most a number of bytes. It returns io.EOF only between frames.
func readFrame(r io.Reader, most int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if uint64(n) > uint64(most) {
		return nil, fmt.Errorf("a frame of %d bytes; at most %d are read", n, most)
	}
	payload := make([]byte, n)
	if _, err := io.ReadFull(r, payload); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return payload, nil
}
