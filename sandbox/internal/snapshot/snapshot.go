package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

const (
	magic = "airlock snapshot 2\n"
	// former begins snapshots whose body is a frame of Zstandard.
	former    = "airlock snapshot 1\n"
	magicRoot = "airlock snapshot "
	headBytes = len(magic) + 32 + 8
	sumBytes  = 4
)

var (
	// ErrDamaged reports bytes that are no snapshot, or a damaged one.
	ErrDamaged = errors.New("the snapshot is damaged")
	// ErrVersion reports a snapshot of another version of the format.
	ErrVersion = errors.New("the snapshot has another version")
	// ErrTooLarge reports a snapshot whose body exceeds the limit.
	ErrTooLarge = errors.New("the snapshot is too large")
)

// Encode returns the snapshot of a run on the engine of an identity. It returns an ErrTooLarge if decoding it would
// take more than limit bytes.
func Encode(identity [32]byte, s *State, limit int64) ([]byte, error) {
	body := Borrow(len(s.Guest.Changes) + len(s.Output)*2 + 4<<10)
	defer Return(body)
	c := coder{b: *body}
	s.fields(&c)
	*body = c.b // it may have grown
	if n := uint64(len(c.b)) + c.lists; n > uint64(limit) {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, n)
	}
	const head = headBytes + sumBytes
	packed := Borrow(head + s2.MaxEncodedLen(len(c.b)))
	defer Return(packed)
	out := append(append(*packed, magic...), identity[:]...)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(c.b)))
	out = binary.LittleEndian.AppendUint32(out, crc32.Checksum(c.b, castagnoli))
	block := s2.EncodeSnappy(out[head:cap(out)], c.b) // Zstandard saves a third and takes ten times as long
	return bytes.Clone(out[:head+len(block)]), nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Identity returns the identity of the engine that a snapshot is of.
func Identity(b []byte) (identity [32]byte, err error) {
	switch {
	case bytes.HasPrefix(b, []byte(magic)) || bytes.HasPrefix(b, []byte(former)):
		if len(b) > headBytes {
			return [32]byte(b[len(magic):]), nil
		}
	case bytes.HasPrefix(b, []byte(magicRoot)):
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
	if size > uint64(max(limit, 0)) {
		return nil, ErrTooLarge
	}
	unpack := fromBlock
	if bytes.HasPrefix(b, []byte(former)) {
		unpack = fromFrame
	}
	body, ok := unpack(b[headBytes:], size)
	if !ok {
		return nil, ErrDamaged
	}
	s, c := &State{}, coder{b: body, reading: true, limit: uint64(limit) - size}
	if s.fields(&c); c.failed || len(c.b) > 0 || !s.valid() {
		return nil, ErrDamaged
	}
	return s, nil
}

// fromBlock returns the body in a checksum and a block of Snappy.
func fromBlock(b []byte, size uint64) (body []byte, ok bool) {
	if len(b) < sumBytes {
		return nil, false
	}
	sum, block := binary.LittleEndian.Uint32(b), b[sumBytes:]
	if n, err := s2.DecodedLen(block); err != nil || uint64(n) != size {
		return nil, false
	}
	body, err := s2.Decode(make([]byte, size), block)
	return body, err == nil && crc32.Checksum(body, castagnoli) == sum
}

// fromFrame returns the body in a frame of Zstandard.
func fromFrame(frame []byte, size uint64) (body []byte, ok bool) {
	var head zstd.Header
	if head.Decode(frame) != nil || !head.HasFCS || head.FrameContentSize != size || head.Skippable {
		return nil, false
	}
	body, err := decoder().DecodeAll(frame, make([]byte, 0, size))
	return body, err == nil && uint64(len(body)) == size
}

// decoder keeps buffers, so there is one. It is safe for concurrent use.
var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(2<<30))
	if err != nil {
		panic(err) // the options do not fit one another
	}
	return d
})
