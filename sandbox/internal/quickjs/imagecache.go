package quickjs

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
)

// An image depends on nothing but the engine and the library, so it is kept in the cache folder beside the compiled
// code: evaluating the library takes longer than everything else at a start. The file's name is the hash of what the
// image was built from.
//
//	magic, size, qctx, rt, scratch (5), number of roots (uint32 each), roots (uint64 each), memory

const imageMagic = "airlock image 2\n"

var errImageFile = errors.New("not an image file")

// cachePath gives the file of the image that cfg builds on r; "" when there is no folder. The rewritten module and the
// library stand for all that goes into an image but the steps of builder: who changes those changes imageMagic.
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
	put(fmt.Sprint(cfg.Roots, stackTop, stackLimit, sourceRoom))
	return filepath.Join(cfg.CacheDir, "image-"+hex.EncodeToString(h.Sum(nil)[:16]))
}

// encode gives the file of an image.
func (im *Image) encode(memory []byte) []byte {
	b := bytes.NewBufferString(imageMagic)
	s := im.scratch
	for _, v := range []uint32{im.size, im.qctx, im.rt, s.options, s.arguments, s.filename, s.source, s.job, uint32(len(im.roots))} {
		b.Write(binary.LittleEndian.AppendUint32(nil, v))
	}
	for _, v := range im.roots {
		b.Write(binary.LittleEndian.AppendUint64(nil, uint64(v)))
	}
	b.Write(memory)
	return b.Bytes()
}

// decode fills im in and gives the memory, which is part of file.
func (im *Image) decode(file []byte, roots int) ([]byte, error) {
	head := len(imageMagic) + 9*4 + 8*roots
	if len(file) < head || string(file[:len(imageMagic)]) != imageMagic {
		return nil, errImageFile
	}
	at := len(imageMagic)
	word := func() uint32 {
		at += 4
		return binary.LittleEndian.Uint32(file[at-4:])
	}
	s := &im.scratch
	for _, field := range []*uint32{&im.size, &im.qctx, &im.rt, &s.options, &s.arguments, &s.filename, &s.source, &s.job} {
		*field = word()
	}
	if word() != uint32(roots) || uint64(len(file)-head) != uint64(im.size) || im.size%pageSize != 0 {
		return nil, errImageFile
	}
	for range roots {
		im.roots = append(im.roots, Value(binary.LittleEndian.Uint64(file[at:])))
		at += 8
	}
	return file[head:], nil
}
