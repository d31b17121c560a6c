package node

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/hostops/crypto"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// maxScrypt bounds the memory of a derivation: 128 bytes for each unit of the cost times the block size.
const maxScrypt = 64 << 20

// scryptOp answers scrypt(password, salt, cost, block size, parallelization, length): RFC 7914.
func scryptOp(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	b, err := c.Views(a[0], a[1])
	if err != nil {
		return 0, err
	}
	cost, ok1 := a[2].Int()
	size, ok2 := a[3].Int()
	parallel, ok3 := a[4].Int()
	length, ok4 := a[5].Int()
	if !ok1 || !ok2 || !ok3 || !ok4 || cost < 2 || bits.OnesCount32(uint32(cost)) != 1 || size < 1 || parallel < 1 ||
		length < 0 {
		return 0, hostops.ErrForged
	}
	if length > crypto.MaxDerived || int64(cost)*int64(size) > maxScrypt/128 ||
		int64(parallel)*int64(size) > crypto.MaxDerived/128 {
		return 0, hostops.Throw("RangeError", "Invalid scrypt params: memory limit exceeded")
	}
	s := &scrypt{call: c, size: int(size), cost: int(cost)}
	blocks, err := crypto.PBKDF2(c, sha256.New, b[0], b[1], 1, int(parallel)*128*int(size))
	if err != nil {
		return 0, err
	}
	if err := c.Hold(128 * int(size) * (int(cost) + 2)); err != nil {
		return 0, err
	}
	s.table = make([]uint32, 32*s.size*s.cost)
	s.x, s.y = make([]uint32, 32*s.size), make([]uint32, 32*s.size)
	for i := range int(parallel) {
		if err := s.mix(blocks[i*128*s.size:][:128*s.size]); err != nil {
			return 0, err
		}
	}
	out, err := crypto.PBKDF2(c, sha256.New, b[0], blocks, 1, int(length))
	if err != nil {
		return 0, err
	}
	return c.NewBytes(out)
}

// scrypt is the state of a derivation: the table of cost blocks and two blocks.
type scrypt struct {
	call       *hostops.Call
	size, cost int
	table      []uint32
	x, y       []uint32
}

// mix computes ROMix in place.
func (s *scrypt) mix(block []byte) error {
	for i := range s.x {
		s.x[i] = binary.LittleEndian.Uint32(block[4*i:])
	}
	n := len(s.x)
	for i := range s.cost {
		if err := s.call.Work(16 * s.size); err != nil {
			return err
		}
		copy(s.table[i*n:], s.x)
		s.blockMix()
	}
	for range s.cost {
		if err := s.call.Work(16 * s.size); err != nil {
			return err
		}
		j := int(s.x[n-16]) & (s.cost - 1)
		for k, v := range s.table[j*n:][:n] {
			s.x[k] ^= v
		}
		s.blockMix()
	}
	for i, v := range s.x {
		binary.LittleEndian.PutUint32(block[4*i:], v)
	}
	return nil
}

// blockMix computes BlockMix over x, with y as its buffer.
func (s *scrypt) blockMix() {
	var t [16]uint32
	copy(t[:], s.x[len(s.x)-16:])
	for i := range 2 * s.size {
		for k, v := range s.x[16*i:][:16] {
			t[k] ^= v
		}
		salsa(&t)
		at := i / 2
		if i%2 == 1 {
			at += s.size
		}
		copy(s.y[16*at:], t[:])
	}
	s.x, s.y = s.y, s.x
}

// salsa computes Salsa20/8.
func salsa(b *[16]uint32) {
	x := *b
	quarter := func(a, b, c, d int) {
		x[b] ^= bits.RotateLeft32(x[a]+x[d], 7)
		x[c] ^= bits.RotateLeft32(x[b]+x[a], 9)
		x[d] ^= bits.RotateLeft32(x[c]+x[b], 13)
		x[a] ^= bits.RotateLeft32(x[d]+x[c], 18)
	}
	for range 4 {
		quarter(0, 4, 8, 12)
		quarter(5, 9, 13, 1)
		quarter(10, 14, 2, 6)
		quarter(15, 3, 7, 11)
		quarter(0, 1, 2, 3)
		quarter(5, 6, 7, 4)
		quarter(10, 11, 8, 9)
		quarter(15, 12, 13, 14)
	}
	for i := range x {
		b[i] += x[i]
	}
}
