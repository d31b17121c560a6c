package quickjs

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime"

	"github.com/airlock-run/airlock/sandbox/internal/rewrite"
)

// An image that comes from the library's is kept as its changes. The content of a file is hostile, as is the memory of
// the guest that it comes from, so an altered file can do no more harm than the code that it was made of.
//
//	magic, length of the header (uint32), header (JSON), changes as in Delta

const (
	derivedMagic = "airlock derived image 1\n"
	// MaxDerived bounds the file of an image.
	MaxDerived = 64 << 20
)

// derivedHeader is the part of a file that is not memory.
type derivedHeader struct {
	Size  uint32
	Bits  uint64   `json:",omitempty"` // of the stamps
	At    []uint32 `json:",omitempty"`
	Added []uint64 `json:",omitempty"`
	Notes Notes
}

// Notes are what the host knows of the packages in an image.
type Notes struct {
	// Live are the exports that may change after the evaluation, by the keys of their modules.
	Live map[string][]string `json:",omitempty"`
	// Requires are the modules of Node that the packages require by name.
	Requires []string `json:",omitempty"`
}

// derive returns an image with other memory than im, which it comes from.
func (im *Image) derive(memory []byte) (*Image, error) {
	back, err := im.regions.image.another(memory)
	if err != nil {
		return nil, err
	}
	ahead := runtime.GOMAXPROCS(0)
	return &Image{
		runtime: im.runtime, size: uint32(len(memory)), qctx: im.qctx, rt: im.rt, scratch: im.scratch,
		roots: im.roots, learned: im.learned, from: im.library(),
		regions: &regions{image: back, reserve: max(im.regions.reserve, uint64(len(memory)))},
		ready:   make(chan *Instance, ahead), busy: make(chan struct{}, ahead),
	}, nil
}

// Keep writes an image that comes from the library's, its stamps and notes to a file. It replaces the file in one step.
func (im *Image) Keep(path string, s *Stamps, notes Notes) error {
	h := derivedHeader{Size: im.size, Notes: notes}
	if !s.Empty() {
		h.Bits, h.At, h.Added = s.bits, s.at, s.added
	}
	header, err := json.Marshal(h)
	if err != nil {
		return err
	}
	memory, pristine := im.regions.image.pristine, im.library().regions.image.pristine
	w := deltaWriter{memory: memory, pristine: pristine}
	w.pages(allPages(uint64(im.size)), im.runtime.stackPages())
	out := binary.LittleEndian.AppendUint32([]byte(derivedMagic), uint32(len(header)))
	out = append(append(out, header...), w.end()...)
	if len(out) > MaxDerived {
		return errors.New("the image is too large to be kept")
	}
	return writeKept(path, out)
}

// Derived returns the image in a file that Keep wrote for an image that came from im, and what else Keep was given. The
// stamps may be nil.
func (im *Image) Derived(file *os.File) (made *Image, s *Stamps, notes Notes, err error) {
	text, err := io.ReadAll(io.NewSectionReader(file, 0, MaxDerived+1<<10))
	if err != nil {
		return nil, nil, notes, err
	}
	if text, err = whole(text); err != nil {
		return nil, nil, notes, err
	}
	h, changes, err := decodeDerived(text)
	if err != nil {
		return nil, nil, notes, err
	}
	lib := im.library()
	if h.Size < lib.size || uint64(h.Size) > lib.regions.reserve {
		return nil, nil, notes, errImageFile
	}
	memory := make([]byte, h.Size)
	copy(memory, lib.regions.image.pristine)
	if err := patch(memory, changes); err != nil {
		return nil, nil, notes, err
	}
	at := lib.qctx + lib.runtime.facts.CtxEvalInternal // the host can compile
	copy(memory[at:at+4], lib.regions.image.pristine[at:])
	made, err = lib.derive(memory)
	if err != nil || len(h.At) == 0 {
		return made, nil, h.Notes, err
	}
	return made, &Stamps{at: h.At, added: h.Added, bits: h.Bits}, h.Notes, nil
}

// decodeDerived returns the header and the changes of a file.
func decodeDerived(text []byte) (h derivedHeader, changes []byte, err error) {
	rest, ok := bytes.CutPrefix(text, []byte(derivedMagic))
	if !ok || len(rest) < 4 {
		return h, nil, errImageFile
	}
	n, rest := binary.LittleEndian.Uint32(rest), rest[4:]
	if uint64(n) > uint64(len(rest)) || json.Unmarshal(rest[:n], &h) != nil {
		return h, nil, errImageFile
	}
	if h.Size == 0 || h.Size%rewrite.PageSize != 0 || len(h.At) > maxStamps || len(h.At) != len(h.Added) {
		return h, nil, errImageFile
	}
	for _, at := range h.At {
		if at%8 != 0 || at > h.Size-8 {
			return h, nil, errImageFile
		}
	}
	return h, rest[n:], nil
}
