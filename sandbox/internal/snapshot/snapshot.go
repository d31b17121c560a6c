package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	magic     = "airlock snapshot 1\n"
	magicRoot = "airlock snapshot "
	headBytes = len(magic) + 32 + 8
)

var (
	// ErrDamaged reports bytes that are no snapshot, or a damaged one.
	ErrDamaged = errors.New("the snapshot is damaged")
	// ErrVersion reports a snapshot of another version of the format.
	ErrVersion = errors.New("the snapshot is of another version")
	// ErrTooLarge reports a snapshot whose body exceeds the limit.
	ErrTooLarge = errors.New("the snapshot is too large")
)

// Encode returns the snapshot of a run on the engine of an identity. It returns an ErrTooLarge if decoding it would
// take more than limit bytes.
func Encode(identity [32]byte, s *State, limit int64) ([]byte, error) {
	c := coder{b: make([]byte, 0, len(s.Guest.Changes)+len(s.Output)*2+4<<10)}
	s.fields(&c)
	if n := uint64(len(c.b)) + c.lists; n > uint64(limit) {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, n)
	}
	out := append(append(make([]byte, 0, headBytes+len(c.b)/2), magic...), identity[:]...)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(c.b)))
	return encoder().EncodeAll(c.b, out), nil
}

// Identity returns the identity of the engine that a snapshot is of.
func Identity(b []byte) (identity [32]byte, err error) {
	switch {
	case bytes.HasPrefix(b, []byte(magic)) && len(b) > headBytes:
		return [32]byte(b[len(magic):]), nil
	case bytes.HasPrefix(b, []byte(magicRoot)) && !bytes.HasPrefix(b, []byte(magic)):
		return identity, ErrVersion
	}
	return identity, ErrDamaged
}

// Decode returns the state in a snapshot. The body and what it is decoded to take at most limit bytes together.
func Decode(b []byte, limit int64) (*State, error) {
	if _, err := Identity(b); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint64(b[headBytes-8:])
	frame := b[headBytes:]
	if size > uint64(max(limit, 0)) {
		return nil, ErrTooLarge
	}
	var head zstd.Header
	if head.Decode(frame) != nil || !head.HasFCS || head.FrameContentSize != size || head.Skippable {
		return nil, ErrDamaged
	}
	body, err := decoder().DecodeAll(frame, make([]byte, 0, size))
	if err != nil || uint64(len(body)) != size {
		return nil, ErrDamaged
	}
	s, c := &State{}, coder{b: body, reading: true, limit: uint64(limit) - size}
	if s.fields(&c); c.failed || len(c.b) > 0 || !s.valid() {
		return nil, ErrDamaged
	}
	return s, nil
}

// Encoders and decoders keep buffers, so there is one of each. Both are safe for concurrent use.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(512<<10),
			zstd.WithLowerEncoderMem(true), zstd.WithSingleSegment(true))
		if err != nil {
			panic(err) // the options do not fit one another
		}
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(2<<30))
		if err != nil {
			panic(err) // the options do not fit one another
		}
		return d
	})
)
