package snapshot

import "sync"

// maxKept bounds a buffer that is kept for another snapshot, in bytes.
const maxKept = 1 << 20

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Borrow returns an empty buffer with room for n bytes, for the work on one snapshot. New memory would be cleared
// first, which takes as long as writing to it.
func Borrow(n int) *[]byte {
	b := buffers.Get().(*[]byte)
	if cap(*b) < n {
		*b = make([]byte, 0, n)
	}
	*b = (*b)[:0]
	return b
}

// Return takes back a buffer that nothing refers to any more. It may have grown.
func Return(b *[]byte) {
	if cap(*b) <= maxKept {
		buffers.Put(b)
	}
}
