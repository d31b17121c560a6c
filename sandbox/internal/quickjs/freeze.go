package quickjs

import (
	"encoding/binary"
	"errors"
	"runtime"
)

// Freeze returns an image whose instances start as in is now: with the library, and with what guest code has left in
// memory. No call may be running in in, which stays usable. The memory of such an image is hostile from the start.
// What the host relies on (roots, scratch addresses) comes from the library's image, and the fields that stop a guest
// are set in every instance. The host can compile in them, whether or not in was given eval. Close the image before the
// one that in came from.
func (in *Instance) Freeze() (*Image, error) {
	from := in.image
	memory, ok := in.mod.Memory().Read(0, in.mod.Memory().Size())
	if in.dead || in.depth > 0 || !ok {
		return nil, errors.New("freeze: the instance is dead, or at work")
	}
	at := from.qctx + from.runtime.facts.CtxEvalInternal
	eval := binary.LittleEndian.Uint32(memory[at:])
	copy(memory[at:at+4], from.regions.image.pristine[at:])
	back, err := from.regions.image.another(memory)
	binary.LittleEndian.PutUint32(memory[at:], eval)
	if err != nil {
		return nil, err
	}
	ahead := runtime.GOMAXPROCS(0)
	return &Image{
		runtime: from.runtime, size: uint32(len(memory)), qctx: from.qctx, rt: from.rt, scratch: from.scratch,
		roots: from.roots, learned: from.learned, from: from.library(),
		regions: &regions{image: back, reserve: max(from.regions.reserve, uint64(len(memory)))},
		ready:   make(chan *Instance, ahead), busy: make(chan struct{}, ahead),
	}, nil
}
