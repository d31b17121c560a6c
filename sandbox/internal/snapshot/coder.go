package snapshot

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// coder writes the fields of a State, or reads them: one list of fields serves both.
type coder struct {
	b       []byte // what was written, or what is still to be read
	reading bool
	failed  bool
	// lists is how many bytes the lists take in memory, and limit how many they and the body may.
	lists, limit uint64
}

// take returns the next n bytes of what is read.
func (c *coder) take(n uint64) []byte {
	if c.failed || n > uint64(len(c.b)) {
		c.failed = true
		return nil
	}
	out := c.b[:n:n]
	c.b = c.b[n:]
	return out
}

func (c *coder) uvarint(v *uint64) {
	if !c.reading {
		c.b = binary.AppendUvarint(c.b, *v)
		return
	}
	x, n := binary.Uvarint(c.b)
	if n <= 0 || n > 1 && c.b[n-1] == 0 {
		c.failed = true
		return
	}
	*v, c.b = x, c.b[n:]
}

// count codes a number that is not negative.
func count[T ~uint32 | ~uint64](c *coder, v *T) {
	x := uint64(*v)
	c.uvarint(&x)
	if *v = T(x); uint64(*v) != x {
		c.failed = true
	}
}

// number codes a number that may be negative.
func number[T ~int | ~int32 | ~int64](c *coder, v *T) {
	x := uint64(int64(*v)<<1 ^ int64(*v)>>63)
	c.uvarint(&x)
	n := int64(x>>1) ^ -int64(x&1)
	if *v = T(n); int64(*v) != n {
		c.failed = true
	}
}

func (c *coder) bool(v *bool) {
	if !c.reading {
		b := byte(0)
		if *v {
			b = 1
		}
		c.b = append(c.b, b)
		return
	}
	if b := c.take(1); b != nil {
		c.failed = c.failed || b[0] > 1
		*v = b[0] == 1
	}
}

func (c *coder) float(v *float64) {
	if !c.reading {
		c.b = binary.LittleEndian.AppendUint64(c.b, math.Float64bits(*v))
		return
	}
	if b := c.take(8); b != nil {
		*v = math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
}

func (c *coder) fixed(v []byte) {
	if !c.reading {
		c.b = append(c.b, v...)
		return
	}
	copy(v, c.take(uint64(len(v))))
}

// bytes codes bytes. What is read is a part of the body.
func (c *coder) bytes(v *[]byte) {
	n := uint64(len(*v))
	c.uvarint(&n)
	if !c.reading {
		c.b = append(c.b, *v...)
		return
	}
	if b := c.take(n); len(b) > 0 {
		*v = b
	}
}

// optional codes bytes that may be nil.
func (c *coder) optional(v *[]byte) {
	has := *v != nil
	c.bool(&has)
	if !has {
		return
	}
	c.bytes(v)
	if *v == nil {
		*v = []byte{}
	}
}

func (c *coder) string(v *string) {
	if !c.reading {
		b := []byte(*v)
		c.bytes(&b)
		return
	}
	var b []byte
	c.bytes(&b)
	if *v = ""; len(b) > 0 {
		*v = unsafe.String(&b[0], len(b)) // nothing changes the body
	}
}

// list codes the elements of a list with f.
func list[T any](c *coder, v *[]T, f func(*coder, *T)) {
	n := uint64(len(*v))
	c.uvarint(&n)
	if c.reading && n > uint64(len(c.b)) {
		c.failed = true
	}
	if c.failed {
		return
	}
	if c.lists += n * uint64(unsafe.Sizeof(*new(T))); c.reading && n > 0 {
		if c.lists > c.limit {
			c.failed = true
			return
		}
		*v = make([]T, n)
	}
	for i := range *v {
		if c.failed {
			return
		}
		f(c, &(*v)[i])
	}
}
