//go:build !linux

package quickjs

import "errors"

// backing holds the image's bytes; without memfd every instance gets a copy.
type backing struct {
	image []byte
	size  uint64
	spans []span
}

func newBacking(image []byte) (*backing, error) {
	return &backing{image: append([]byte(nil), image...), size: uint64(len(image))}, nil
}

func (b *backing) mapRange(size uint64) ([]byte, error) {
	mem := make([]byte, size)
	copy(mem, b.image)
	return mem, nil
}

func (b *backing) reset(mem []byte, used uint64) error {
	clear(mem[:max(used, b.size)])
	copy(mem, b.image)
	return nil
}

func touched([]byte, uint64) ([]bool, error) { return nil, errors.ErrUnsupported }

func (b *backing) close() error { return nil }

func anonymous(size uint64) ([]byte, error) { return make([]byte, size), nil }

func unmapRange([]byte) error { return nil }
