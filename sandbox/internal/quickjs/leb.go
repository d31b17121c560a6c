package quickjs

import "errors"

var errTruncated = errors.New("module is truncated")

// reader walks a byte slice. After the first failure err is set and every read gives zero.
type reader struct {
	b   []byte
	pos int
	err error
}

func (r *reader) byte() byte {
	if r.err != nil || r.pos >= len(r.b) {
		r.err = errTruncated
		return 0
	}
	r.pos++
	return r.b[r.pos-1]
}

func (r *reader) bytes(n uint64) []byte {
	if r.err != nil || n > uint64(len(r.b)-r.pos) {
		r.err = errTruncated
		return nil
	}
	r.pos += int(n)
	return r.b[r.pos-int(n) : r.pos]
}

// uint reads an unsigned LEB128 of at most 64 bits.
func (r *reader) uint() uint64 {
	if r.pos < len(r.b) && r.b[r.pos] < 0x80 && r.err == nil { // nearly all are of one byte
		r.pos++
		return uint64(r.b[r.pos-1])
	}
	return r.longUint()
}

func (r *reader) longUint() (v uint64) {
	for shift := 0; shift < 64; shift += 7 {
		c := r.byte()
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.err = errTruncated
	return 0
}

// int reads a signed LEB128 of at most 64 bits.
func (r *reader) int() int64 {
	if r.pos < len(r.b) && r.b[r.pos] < 0x80 && r.err == nil {
		r.pos++
		return int64(int8(r.b[r.pos-1]<<1)) >> 1
	}
	return r.longInt()
}

func (r *reader) longInt() (v int64) {
	for shift := 0; shift < 64; shift += 7 {
		c := r.byte()
		v |= int64(c&0x7f) << shift
		if c < 0x80 {
			if c&0x40 != 0 && shift+7 < 64 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	r.err = errTruncated
	return 0
}

func appendUint(out []byte, v uint64) []byte {
	for ; v >= 0x80; v >>= 7 {
		out = append(out, byte(v)|0x80)
	}
	return append(out, byte(v))
}

func appendInt(out []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && c&0x40 == 0) || (v == -1 && c&0x40 != 0) {
			return append(out, c)
		}
		out = append(out, c|0x80)
	}
}
