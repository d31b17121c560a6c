//go:build !linux

package quickjs

import (
	"bytes"
	"io"
)

// backing holds the image's bytes; without memfd every instance gets a copy.
type backing struct {
	pristine []byte
	size     uint64
}

func newBacking(image io.Reader, size uint64) (*backing, error) {
	b := &backing{pristine: make([]byte, size), size: size}
	_, err := io.ReadFull(image, b.pristine)
	return b, err
}

func (b *backing) another(image []byte) (*backing, error) {
	return newBacking(bytes.NewReader(image), uint64(len(image)))
}

func (b *backing) mapRange(size uint64) ([]byte, error) {
	mem := make([]byte, size)
	copy(mem, b.pristine)
	return mem, nil
}

func (b *backing) reset(mem []byte, used uint64, _ *keptPages) error {
	clear(mem[:max(used, b.size)])
	copy(mem, b.pristine)
	return nil
}

// keptPages has nothing to say: every byte is copied.
type keptPages struct{}

func (b *backing) touched(_ []byte, end uint64) []uint32 { return allPages(end) }

func (b *backing) close() error { return nil }

func anonymous(size uint64) ([]byte, error) { return make([]byte, size), nil }

func unmapRange([]byte) error { return nil }
