//go:build !linux

package quickjs

// backing holds the image's bytes; without memfd every instance gets a copy.
type backing struct {
	pristine []byte
	size     uint64
}

func newBacking(image []byte) (*backing, error) {
	return &backing{pristine: append([]byte(nil), image...), size: uint64(len(image))}, nil
}

func (b *backing) another(image []byte) (*backing, error) { return newBacking(image) }

func (b *backing) mapRange(size uint64) ([]byte, error) {
	mem := make([]byte, size)
	copy(mem, b.pristine)
	return mem, nil
}

func (b *backing) reset(mem []byte, used uint64) error {
	clear(mem[:max(used, b.size)])
	copy(mem, b.pristine)
	return nil
}

func (b *backing) touched(_ []byte, end uint64) []uint32 { return allPages(end) }

func (b *backing) close() error { return nil }

func anonymous(size uint64) ([]byte, error) { return make([]byte, size), nil }

func unmapRange([]byte) error { return nil }
