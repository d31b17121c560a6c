package quickjs

import (
	"encoding/binary"
	"errors"
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
	made, err := from.derive(memory)
	binary.LittleEndian.PutUint32(memory[at:], eval)
	return made, err
}
