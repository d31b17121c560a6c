package scanpool

import (
	"encoding/binary"
	"fmt"
	"io"
)

// maxFrame bounds a frame; it exceeds the largest request and answer.
const maxFrame = 64 << 20

func writeFrame(w io.Writer, payload []byte) error {
	if len(payload) > maxFrame {
		return fmt.Errorf("a frame of %d bytes; at most %d are sent", len(payload), maxFrame)
	}
	frame := make([]byte, 4, 4+len(payload))
	binary.BigEndian.PutUint32(frame, uint32(len(payload)))
	_, err := w.Write(append(frame, payload...))
	return err
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
