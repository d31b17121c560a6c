package quickjs

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/airlock-run/airlock/sandbox/internal/rewrite"
)

// An image depends on nothing but the engine and the library, so it is kept in the cache folder beside the compiled
// code: evaluating the library takes longer than everything else at a start. The file's name is the hash of what the
// image was built from.
//
//	magic, length of the header (uint32), header (JSON), memory

const imageMagic = "airlock image 5\n"

var errImageFile = errors.New("not an image file")

// cachePath returns the file of the image that cfg builds on r, or "" without a folder. Its name depends on the
// rewritten module and the library, and on imageMagic in place of the steps of builder: change imageMagic with them.
func (r *Runtime) cachePath(cfg ImageConfig) string {
	if cfg.CacheDir == "" {
		return ""
	}
	h := sha256.New()
	put := func(s string) { fmt.Fprintf(h, "%d:%s", len(s), s) }
	put(imageMagic + captureRaw)
	put(string(r.sum[:]))
	for _, s := range cfg.Library {
		put(s.Name)
		put(s.Source)
	}
	for _, name := range cfg.Hidden {
		put(name)
	}
	put(fmt.Sprint(cfg.Roots, r.facts, sourceRoom))
	return filepath.Join(cfg.CacheDir, "image-"+hex.EncodeToString(h.Sum(nil)[:16]))
}

// imageHeader is the part of an image that is not memory.
type imageHeader struct {
	Size, Context, Runtime                        uint32
	Options, Arguments, Filename, Source, Pending uint32
	Roots                                         []Value
	Learned                                       learned
}

// encode returns the file of an image.
func (im *Image) encode(memory []byte) ([]byte, error) {
	s := im.scratch
	header, err := json.Marshal(imageHeader{
		im.size, im.qctx, im.rt, s.options, s.arguments, s.filename, s.source, s.job, im.roots, im.learned,
	})
	if err != nil {
		return nil, err
	}
	out := binary.LittleEndian.AppendUint32([]byte(imageMagic), uint32(len(header)))
	return append(append(out, header...), memory...), nil
}

// decode sets im from a file of length bytes. The memory is what is left to read.
func (im *Image) decode(file io.Reader, length int64, roots int) error {
	var begin [len(imageMagic) + 4]byte
	if _, err := io.ReadFull(file, begin[:]); err != nil || string(begin[:len(imageMagic)]) != imageMagic {
		return errors.Join(errImageFile, err)
	}
	n := int64(binary.LittleEndian.Uint32(begin[len(imageMagic):]))
	if length -= int64(len(begin)) + n; length < 0 {
		return errImageFile
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(file, header); err != nil {
		return errors.Join(errImageFile, err)
	}
	var h imageHeader
	if err := json.Unmarshal(header, &h); err != nil {
		return errors.Join(errImageFile, err)
	}
	if len(h.Roots) != roots || length != int64(h.Size) || h.Size%rewrite.PageSize != 0 ||
		len(h.Learned.FunctionCode) == 0 {
		return errImageFile
	}
	im.size, im.qctx, im.rt, im.roots, im.learned = h.Size, h.Context, h.Runtime, h.Roots, h.Learned
	im.scratch = scratch{h.Options, h.Arguments, h.Filename, h.Source, h.Pending}
	return nil
}

// thaw sets im from the file at path, and makes its backing. The memory goes from one file to the other in pieces:
// read at once, it would be more than half of what a start allocates.
func (im *Image) thaw(path string, cfg ImageConfig) error {
	kept, err := openKept(path)
	if err != nil {
		return err
	}
	defer func() { _ = kept.file.Close() }() // it was only read
	if err := im.decode(kept, kept.left, cfg.Roots); err != nil {
		return err
	}
	back, err := newBacking(kept, uint64(im.size))
	if err != nil {
		return err
	}
	if err := kept.verify(); err != nil {
		return errors.Join(err, back.close())
	}
	im.freeze(back, cfg)
	return nil
}
