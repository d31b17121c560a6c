package wasm

import "errors"

// ErrTruncated reports that a module ends too early, or that a length in it is too large.
var ErrTruncated = errors.New("module is truncated")

// Reader reads a byte slice from Pos on. After the first failure Err is set and every read returns zero.
type Reader struct {
	B   []byte
	Pos int
	Err error
}

// More reports whether bytes are left and nothing has failed.
func (r *Reader) More() bool { return r.Err == nil && r.Pos < len(r.B) }

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if r.Err != nil || r.Pos >= len(r.B) {
		r.Err = ErrTruncated
		return 0
	}
	r.Pos++
	return r.B[r.Pos-1]
}

// Bytes reads n bytes. They are part of B.
func (r *Reader) Bytes(n uint64) []byte {
	if r.Err != nil || n > uint64(len(r.B)-r.Pos) {
		r.Err = ErrTruncated
		return nil
	}
	r.Pos += int(n)
	return r.B[r.Pos-int(n) : r.Pos : r.Pos]
}

// Block reads a length and that many bytes.
func (r *Reader) Block() []byte { return r.Bytes(r.Uint()) }

// Uint reads an unsigned LEB128 of at most 64 bits.
func (r *Reader) Uint() uint64 {
	if r.Err == nil && r.Pos < len(r.B) && r.B[r.Pos] < 0x80 { // nearly all have one byte
		r.Pos++
		return uint64(r.B[r.Pos-1])
	}
	return r.longUint()
}

func (r *Reader) longUint() (v uint64) {
	for shift := 0; shift < 64; shift += 7 {
		c := r.Byte()
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.Err = ErrTruncated
	return 0
}

// Int reads a signed LEB128 of at most 64 bits.
func (r *Reader) Int() int64 {
	if r.Err == nil && r.Pos < len(r.B) && r.B[r.Pos] < 0x80 {
		r.Pos++
		return int64(int8(r.B[r.Pos-1]<<1)) >> 1
	}
	return r.longInt()
}

func (r *Reader) longInt() (v int64) {
	for shift := 0; shift < 64; shift += 7 {
		c := r.Byte()
		v |= int64(c&0x7f) << shift
		if c < 0x80 {
			if c&0x40 != 0 && shift+7 < 64 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	r.Err = ErrTruncated
	return 0
}

// AppendUint appends v as an unsigned LEB128.
func AppendUint(out []byte, v uint64) []byte {
	for ; v >= 0x80; v >>= 7 {
		out = append(out, byte(v)|0x80)
	}
	return append(out, byte(v))
}

// AppendInt appends v as a signed LEB128.
func AppendInt(out []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && c&0x40 == 0) || (v == -1 && c&0x40 != 0) {
			return append(out, c)
		}
		out = append(out, c|0x80)
	}
}

// AppendBlock appends the length of b and b.
func AppendBlock(out, b []byte) []byte { return append(AppendUint(out, uint64(len(b))), b...) }
