package quickjs

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// backing holds the image's bytes in a memfd, so that every instance can map them copy-on-write.
type backing struct {
	file *os.File
	size uint64
	// pristine is the image once more, read-only; spans say which of its pages are kept (see span).
	pristine []byte
	spans    []span
}

func newBacking(image []byte) (*backing, error) {
	fd, err := unix.MemfdCreate("airlock-image", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("create memory file for the image: %w", err)
	}
	b := &backing{file: os.NewFile(uintptr(fd), "airlock-image"), size: uint64(len(image))}
	if _, err := b.file.Write(image); err != nil {
		_ = b.close()
		return nil, fmt.Errorf("write image: %w", err)
	}
	seals := unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	if _, err := unix.FcntlInt(b.file.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		_ = b.close()
		return nil, fmt.Errorf("seal image: %w", err)
	}
	p, err := unix.MmapPtr(fd, 0, nil, uintptr(b.size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		_ = b.close()
		return nil, fmt.Errorf("map image for reading: %w", err)
	}
	b.pristine = unsafe.Slice((*byte)(p), b.size)
	b.spans = []span{{to: b.size}}
	return b, nil
}

// mapRange reserves size bytes of address space whose beginning is the image, copy-on-write.
func (b *backing) mapRange(size uint64) ([]byte, error) {
	mem, err := anonymous(size)
	if err != nil {
		return nil, err
	}
	_, err = unix.MmapPtr(int(b.file.Fd()), 0, unsafe.Pointer(&mem[0]), uintptr(b.size),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
	if err != nil {
		_ = unmapRange(mem)
		return nil, fmt.Errorf("map image: %w", err)
	}
	return mem, nil
}

// reset undoes every write of a guest that grew to used bytes: kept pages are copied from the image (or cleared, where
// the image ends), and all others are dropped, so that they come back as the image or as zeros when they are touched.
func (b *backing) reset(mem []byte, used uint64) error {
	end := max(used, b.size)
	for _, s := range b.spans {
		s.to = min(s.to, end)
		switch {
		case s.from >= s.to:
		case !s.kept:
			if err := unix.Madvise(mem[s.from:s.to], unix.MADV_DONTNEED); err != nil {
				return err
			}
		case s.from < b.size:
			copy(mem[s.from:s.to], b.pristine[s.from:s.to])
		default:
			clear(mem[s.from:s.to])
		}
	}
	if last := b.spans[len(b.spans)-1].to; last < end {
		return unix.Madvise(mem[last:end], unix.MADV_DONTNEED)
	}
	return nil
}

// touched tells for each page of mem[:used] whether it is in memory.
func touched(mem []byte, used uint64) ([]bool, error) {
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	page := uint64(os.Getpagesize())
	entries := make([]byte, used/page*8)
	at := uint64(uintptr(unsafe.Pointer(&mem[0]))) / page * 8
	if _, err := f.ReadAt(entries, int64(at)); err != nil {
		return nil, err
	}
	out := make([]bool, used/page)
	for i := range out {
		out[i] = entries[8*i+7]&0x80 != 0 // bit 63: present
	}
	return out, nil
}

func (b *backing) close() error {
	if b.pristine != nil {
		_ = unmapRange(b.pristine) // nothing can be done about it, and the process ends soon
	}
	return b.file.Close()
}

func anonymous(size uint64) ([]byte, error) {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(size),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes of address space: %w", size, err)
	}
	return unsafe.Slice((*byte)(p), size), nil
}

func unmapRange(mem []byte) error {
	return unix.MunmapPtr(unsafe.Pointer(&mem[0]), uintptr(len(mem)))
}
