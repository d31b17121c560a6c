package quickjs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/airlock-run/airlock/sandbox/internal/rewrite"
)

// A guest that waits has no frame on the stack of WebAssembly. Its state is linear memory: the globals of the module
// have their first values again, or only count work. So the differences between its memory and the image of the library
// are enough to continue it in another instance of that image, in another process.

// Delta is a guest between two calls, as it differs from the image of the library.
type Delta struct {
	// Size is the size of linear memory in bytes.
	Size uint32
	// CollectAt is the size of linear memory at which the guest collects garbage next.
	CollectAt uint64
	// Overflow is the RangeError of the last stack overflow, or 0.
	Overflow Value
	Ticks    int64
	// Changes are the words of eight bytes that differ: for each run of them, the number of equal words before it, its own
	// number of words (both as unsigned LEB128), and the words.
	Changes []byte
}

// ErrDelta reports a Delta that no guest can have.
var ErrDelta = errors.New("the memory of the guest is not valid")

const wordSize = 8

// library returns the image of the library that im is or comes from.
func (im *Image) library() *Image {
	if im.from != nil {
		return im.from
	}
	return im
}

// Identity returns a hash of the engine and of the memory of the library's image: a Delta fits no other.
func (im *Image) Identity() [sha256.Size]byte {
	lib := im.library()
	lib.identified.Do(func() {
		h := sha256.New()
		h.Write(lib.runtime.sum[:])
		h.Write(lib.regions.image.pristine)
		h.Sum(lib.identity[:0])
	})
	return lib.identity
}

// Delta returns the state of a guest. No call may be running in it. Changes is written to room, which grows as needed.
func (in *Instance) Delta(room []byte) (Delta, error) {
	memory, ok := in.mod.Memory().Read(0, in.mod.Memory().Size())
	if in.dead || in.depth > 0 || !ok {
		return Delta{}, errNotLive
	}
	in.reclaim()
	d := Delta{Size: uint32(len(memory)), CollectAt: in.memory.collectAt, Overflow: in.overflow, Ticks: in.ticks}
	pages := in.image.regions.image.touched(in.memory.mem, in.memory.size)
	if in.image.from != nil { // the image of a version differs from the library's in other pages, too
		pages = allPages(in.memory.size)
	}
	w := deltaWriter{memory: memory, pristine: in.image.library().regions.image.pristine, out: room[:0]}
	w.pages(pages, in.image.runtime.stackPages())
	d.Changes = w.end()
	return d, nil
}

// stackPages returns the pages of the C stack. Their content is unused between two calls.
func (r *Runtime) stackPages() change {
	const n = rewrite.StackPages * rewrite.PageSize
	return change{r.facts.StackTop - n, n}
}

// deltaWriter writes Delta.Changes.
type deltaWriter struct {
	memory   []byte
	pristine []byte // the image, beyond which memory was zero
	out      []byte
	from, to uint32 // changed words that follow one another and are not written yet
	written  uint32 // the end of those that are
}

var zeroPage [osPage]byte

// pages adds the words of the pages that differ from those of the image, except on the stack.
func (w *deltaWriter) pages(pages []uint32, stack change) {
	for _, page := range pages {
		if at := page * osPage; at < stack.at || at >= stack.at+stack.n {
			w.page(at)
		}
	}
}

// page adds the words of a page that differ from those of the image.
func (w *deltaWriter) page(at uint32) {
	old := zeroPage[:]
	if int(at) < len(w.pristine) {
		old = w.pristine[at : at+osPage]
	}
	page := w.memory[at : at+osPage]
	for i := uint32(0); i < osPage; i += chunk {
		if new, old := page[i:i+chunk], old[i:i+chunk]; !bytes.Equal(new, old) { // few chunks of a page differ
			w.chunk(at+i, (*[chunk]byte)(new), (*[chunk]byte)(old))
		}
	}
}

// chunk is a number of bytes that are compared at once.
const chunk = 128

// chunk adds the words of a part of a page that differ from the old ones.
func (w *deltaWriter) chunk(at uint32, new, old *[chunk]byte) {
	for i := uint32(0); i < chunk; i += wordSize {
		if binary.LittleEndian.Uint64(new[i:]) == binary.LittleEndian.Uint64(old[i:]) {
			continue
		}
		if w.to != at+i {
			w.flush()
			w.from = at + i
		}
		w.to = at + i + wordSize
	}
}

func (w *deltaWriter) flush() {
	if w.from == w.to {
		return
	}
	w.out = binary.AppendUvarint(w.out, uint64(w.from-w.written)/wordSize)
	w.out = binary.AppendUvarint(w.out, uint64(w.to-w.from)/wordSize)
	w.out = append(w.out, w.memory[w.from:w.to]...)
	w.written = w.to
}

func (w *deltaWriter) end() []byte {
	w.flush()
	return w.out
}

// Restore returns an instance that continues the guest whose state is d. Everything in its memory is hostile, and the
// fields that stop a guest are set again. It returns the host's MemoryRefused if the budget is too small, and ErrDelta
// if d is not valid.
func (im *Image) Restore(ctx context.Context, budget *Budget, host Host, d Delta) (_ *Instance, err error) {
	lib := im.library()
	if d.Size < lib.size || d.Size%rewrite.PageSize != 0 {
		return nil, ErrDelta
	}
	if int64(d.Size) > budget.limit-budget.Held() || uint64(d.Size) > lib.regions.reserve {
		return nil, host.MemoryRefused()
	}
	in, err := lib.NewInstance(ctx, budget, host)
	if err != nil {
		return nil, err
	}
	if _, ok := in.mod.Memory().Grow((d.Size - lib.size) / rewrite.PageSize); !ok {
		in.Close()
		return nil, host.MemoryRefused()
	}
	memory, ok := in.mod.Memory().Read(0, d.Size)
	if !ok {
		in.Close()
		return nil, ErrDelta
	}
	for _, f := range lib.ownFields() { // NewInstance has set one of them
		copy(memory[f.at:f.at+f.n], lib.regions.image.pristine[f.at:])
	}
	if err := patch(memory, d.Changes); err != nil {
		in.Close()
		return nil, err
	}
	in.resume(d)
	return in, nil
}

// patch writes changes to memory.
func patch(memory, changes []byte) error {
	at := uint64(0)
	for len(changes) > 0 {
		gap, n := binary.Uvarint(changes)
		if n <= 0 || gap > uint64(len(memory)) {
			return ErrDelta
		}
		words, m := binary.Uvarint(changes[n:])
		if m <= 0 || words > uint64(len(memory)) {
			return ErrDelta
		}
		changes = changes[n+m:]
		at += gap * wordSize
		size := words * wordSize
		if at+size > uint64(len(memory)) || size > uint64(len(changes)) || size == 0 {
			return ErrDelta
		}
		copy(memory[at:], changes[:size])
		at, changes = at+size, changes[size:]
	}
	return nil
}

// resume sets the host's own state of a guest, and the fields that stop the guest.
func (in *Instance) resume(d Delta) {
	im, memory := in.image, in.mod.Memory()
	counter := im.qctx + im.runtime.facts.CtxInterruptCounter
	left, _ := memory.ReadUint32Le(counter)
	im.control(memory)
	if left > 0 && left < im.runtime.facts.InterruptInterval {
		memory.WriteUint32Le(counter, left) // so that ticks are those of a guest that went on
	}
	in.ticks, in.overflow = d.Ticks, d.Overflow
	if in.memory.setCollectAt(); d.CollectAt > 0 {
		in.memory.collectAt = d.CollectAt
	}
}

// EnableEval reverses DisableEval, so that the host can compile.
func (in *Instance) EnableEval() {
	at := in.image.qctx + in.image.runtime.facts.CtxEvalInternal
	pristine := in.image.library().regions.image.pristine
	in.mod.Memory().WriteUint32Le(at, binary.LittleEndian.Uint32(pristine[at:]))
}
