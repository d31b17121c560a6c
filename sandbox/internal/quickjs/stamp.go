package quickjs

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/airlock-run/airlock/sandbox/internal/rewrite"
)

// Code that only keeps the time at which it loads, and computes nothing from it, leaves that time as a number here and
// there in memory. Those numbers are found by loading twice, at two times, and comparing: nothing else may differ. A
// run then starts with its own time in these places, as if it had loaded the code itself.

// Stamps are the places of a time in the memory of an image.
type Stamps struct {
	at    []uint32
	added []uint64 // what the engine adds to the bits of a number at each place
	bits  uint64   // of the time that the image has there
}

// maxStamps bounds the places, and with them the work of a start.
const maxStamps = 256

// StampsOf returns the places in im of the time a, where other has the time b. ok is false if they differ in more.
func StampsOf(im, other *Image, a, b time.Duration) (s *Stamps, ok bool) {
	x, y := im.regions.image.pristine, other.regions.image.pristine
	if len(x) != len(y) {
		return nil, false
	}
	s = &Stamps{bits: bitsOf(a)}
	facts := im.runtime.facts
	for i := uint32(0); i+8 <= uint32(len(x)); i += 8 {
		v, w := binary.LittleEndian.Uint64(x[i:]), binary.LittleEndian.Uint64(y[i:])
		// What lies on the stack is dead.
		if v == w || i >= facts.StackTop-rewrite.StackPages*rewrite.PageSize && i < facts.StackTop || padded(v, w) {
			continue
		}
		offset := v - s.bits
		if offset != w-bitsOf(b) || offset<<32 != 0 || len(s.at) == maxStamps {
			return nil, false
		}
		s.at, s.added = append(s.at, i), append(s.added, offset)
	}
	return s, true
}

// padded reports whether two words are the header of one object of the collector and differ in its padding alone, which
// nothing writes and which may be what is left of a number that was there: the three bits above its kind and mark, and
// in the header of a variable that closures share all that follows them.
func padded(v, w uint64) bool {
	const count, kind, header, variable = 0xffffffff, 0xf << 32, 0xe0 << 32, 0xffff << 48
	if v&count == 0 || v&count >= 1<<16 {
		return false
	}
	differ := v ^ w
	if v&kind == varRefKind<<32 {
		differ &^= variable
	}
	return differ&^header == 0
}

func bitsOf(t time.Duration) uint64 { return math.Float64bits(float64(t.Milliseconds())) }

// Within returns those places that still have their time in another image, which was made from the stamps' own.
func (s *Stamps) Within(im *Image) *Stamps {
	if s == nil {
		return nil
	}
	out := &Stamps{bits: s.bits}
	for i, at := range s.at {
		if binary.LittleEndian.Uint64(im.regions.image.pristine[at:]) == s.bits+s.added[i] {
			out.at, out.added = append(out.at, at), append(out.added, s.added[i])
		}
	}
	return out
}

// Empty reports whether there are no places.
func (s *Stamps) Empty() bool { return s == nil || len(s.at) == 0 }

// Stamp sets the time at all places of a fresh instance of the image that the stamps are of.
func (in *Instance) Stamp(s *Stamps, t time.Duration) {
	memory := in.mod.Memory()
	for i, at := range s.at {
		memory.WriteUint64Le(at, bitsOf(t)+s.added[i])
	}
}
