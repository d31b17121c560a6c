package node

import (
	"encoding/binary"
	"hash"
	"math/bits"
)

// ripemd160 is the hash RIPEMD-160, which the standard library lacks.
type ripemd160 struct {
	state  [5]uint32
	block  [64]byte
	used   int
	length uint64
}

func newRIPEMD160() hash.Hash {
	h := &ripemd160{}
	h.Reset()
	return h
}

func (h *ripemd160) Size() int      { return 20 }
func (h *ripemd160) BlockSize() int { return 64 }

func (h *ripemd160) Reset() {
	*h = ripemd160{state: [5]uint32{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}}
}

func (h *ripemd160) Write(b []byte) (int, error) {
	n := len(b)
	h.length += uint64(n)
	for len(b) > 0 {
		k := copy(h.block[h.used:], b)
		b = b[k:]
		if h.used += k; h.used == len(h.block) {
			h.compress()
			h.used = 0
		}
	}
	return n, nil
}

func (h *ripemd160) Sum(out []byte) []byte {
	d := *h
	padding := make([]byte, 1+(119-h.used)%64)
	padding[0] = 0x80
	_, _ = d.Write(binary.LittleEndian.AppendUint64(padding, h.length*8)) // never fails
	for _, v := range d.state {
		out = binary.LittleEndian.AppendUint32(out, v)
	}
	return out
}

// The words and the rotations of the two lines.
var (
	ripemdWords = [2][80]byte{{
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 7, 4, 13, 1, 10, 6, 15, 3, 12, 0, 9, 5, 2, 14, 11, 8,
		3, 10, 14, 4, 9, 15, 8, 1, 2, 7, 0, 6, 13, 11, 5, 12, 1, 9, 11, 10, 0, 8, 12, 4, 13, 3, 7, 15, 14, 5, 6, 2,
		4, 0, 5, 9, 7, 12, 2, 10, 14, 1, 3, 8, 11, 6, 15, 13,
	}, {
		5, 14, 7, 0, 9, 2, 11, 4, 13, 6, 15, 8, 1, 10, 3, 12, 6, 11, 3, 7, 0, 13, 5, 10, 14, 15, 8, 12, 4, 9, 1, 2,
		15, 5, 1, 3, 7, 14, 6, 9, 11, 8, 12, 2, 10, 0, 4, 13, 8, 6, 4, 1, 3, 11, 15, 0, 5, 12, 2, 13, 9, 7, 10, 14,
		12, 15, 10, 4, 1, 5, 8, 7, 6, 2, 13, 14, 0, 3, 9, 11,
	}}
	ripemdRotations = [2][80]byte{{
		11, 14, 15, 12, 5, 8, 7, 9, 11, 13, 14, 15, 6, 7, 9, 8, 7, 6, 8, 13, 11, 9, 7, 15, 7, 12, 15, 9, 11, 7, 13, 12,
		11, 13, 6, 7, 14, 9, 13, 15, 14, 8, 13, 6, 5, 12, 7, 5, 11, 12, 14, 15, 14, 15, 9, 8, 9, 14, 5, 6, 8, 6, 5, 12,
		9, 15, 5, 11, 6, 8, 13, 12, 5, 12, 13, 14, 11, 8, 5, 6,
	}, {
		8, 9, 9, 11, 13, 15, 15, 5, 7, 7, 8, 11, 14, 14, 12, 6, 9, 13, 15, 7, 12, 8, 9, 11, 7, 7, 12, 7, 6, 15, 13, 11,
		9, 7, 15, 11, 8, 6, 6, 14, 12, 13, 5, 14, 13, 13, 7, 5, 15, 5, 8, 11, 14, 14, 6, 14, 6, 9, 12, 9, 12, 5, 15, 8,
		8, 5, 12, 9, 12, 5, 14, 6, 8, 13, 6, 5, 15, 13, 11, 11,
	}}
	ripemdConstants = [2][5]uint32{
		{0, 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xa953fd4e}, {0x50a28be6, 0x5c4dd124, 0x6d703ef3, 0x7a6d76e9, 0},
	}
)

func (h *ripemd160) compress() {
	var words [16]uint32
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(h.block[4*i:])
	}
	lines := [2][5]uint32{h.state, h.state}
	for side := range lines {
		a, b, c, d, e := h.state[0], h.state[1], h.state[2], h.state[3], h.state[4]
		for i := range 80 {
			round := i / 16
			function := round
			if side == 1 {
				function = 4 - round
			}
			var f uint32
			switch function {
			case 0:
				f = b ^ c ^ d
			case 1:
				f = b&c | ^b&d
			case 2:
				f = (b | ^c) ^ d
			case 3:
				f = b&d | c&^d
			default:
				f = b ^ (c | ^d)
			}
			t := a + f + words[ripemdWords[side][i]] + ripemdConstants[side][round]
			t = bits.RotateLeft32(t, int(ripemdRotations[side][i])) + e
			a, b, c, d, e = e, t, b, bits.RotateLeft32(c, 10), d
		}
		lines[side] = [5]uint32{a, b, c, d, e}
	}
	s, l, r := h.state, lines[0], lines[1]
	h.state = [5]uint32{s[1] + l[2] + r[3], s[2] + l[3] + r[4], s[3] + l[4] + r[0], s[4] + l[0] + r[1], s[0] + l[1] + r[2]}
}
