package quickjs

import (
	"encoding/binary"

	"github.com/airlock-run/airlock/sandbox/internal/rewrite"
)

// Compiling takes longer than a short script runs, and its effect on a fresh guest's memory depends on the text alone.
// So the effect is recorded once and copied into other fresh guests of the image: some ten kilobytes for a short
// script. No guest code has run by then. The data of a run is added later, or is among ownFields.

// Compiled holds the changes that compiling made to memory. It is safe for concurrent use.
type Compiled struct {
	image   *Image
	value   Value
	ticks   int64
	changes []change
	data    []byte // of all changes, one after the other
}

// change is a range of n bytes that differ from the image.
type change struct{ at, n uint32 }

// changeGap is how many unchanged bytes a change may contain.
const changeGap = 32

// Compiled returns what was compiled in a fresh instance in which nothing has run; v is its value. It returns nil if
// compiling took more memory than the image has.
func (in *Instance) Compiled(v Value) *Compiled {
	memory, ok := in.mod.Memory().Read(0, in.mod.Memory().Size())
	if !ok || in.dead || uint32(len(memory)) != in.image.size {
		return nil
	}
	c := &Compiled{image: in.image, value: v, ticks: in.ticks}
	facts := in.image.runtime.facts
	pristine := in.image.regions.image.pristine
	for _, page := range in.image.regions.image.touched(in.memory.mem, in.memory.size) {
		// Data on the stack is no longer used.
		if at := page * osPage; at < facts.StackTop-rewrite.StackPages*rewrite.PageSize || at >= facts.StackTop {
			c.compare(memory[at:at+osPage], pristine[at:at+osPage], at)
		}
	}
	return c
}

// compare adds the differences of a and b, which are at an address.
func (c *Compiled) compare(a, b []byte, at uint32) {
	const word = 8
	end := 0 // of the last change
	for i := 0; i < len(a); i += word {
		if binary.LittleEndian.Uint64(a[i:]) == binary.LittleEndian.Uint64(b[i:]) {
			continue
		}
		if end > 0 && i-end <= changeGap {
			c.data = append(c.data, a[end:i+word]...)
			c.changes[len(c.changes)-1].n += uint32(i + word - end)
		} else {
			c.data = append(c.data, a[i:i+word]...)
			c.changes = append(c.changes, change{at + uint32(i), word})
		}
		end = i + word
	}
}

// Bytes returns about how much memory c takes.
func (c *Compiled) Bytes() int { return len(c.data) + 8*len(c.changes) }

// Ticks returns the work that compiling took.
func (c *Compiled) Ticks() int64 { return c.ticks }

// Take applies the changes to a fresh instance of the same image and returns the value. ok is false for an instance of
// another image.
func (in *Instance) Take(c *Compiled) (v Value, ok bool) {
	memory, read := in.mod.Memory().Read(0, in.mod.Memory().Size())
	if !read || in.dead || in.image != c.image {
		return 0, false
	}
	var own [ownFields][8]byte
	fields := in.image.ownFields()
	for i, f := range fields {
		copy(own[i][:f.n], memory[f.at:])
	}
	data := c.data
	for _, x := range c.changes {
		copy(memory[x.at:x.at+x.n], data)
		data = data[x.n:]
	}
	for i, f := range fields {
		copy(memory[f.at:], own[i][:f.n])
	}
	in.ticks = c.ticks
	return c.value, true
}

// ownFields is the number of fields that belong to a run. They are kept when an instance takes compiled code.
const ownFields = 3

func (im *Image) ownFields() [ownFields]change {
	f := im.runtime.facts
	return [ownFields]change{{im.qctx + f.CtxRandomState, 8}, {im.qctx + f.CtxTimeOrigin, 8}, {im.rt + f.RtCollectAt, 4}}
}
