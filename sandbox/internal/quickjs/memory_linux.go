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

// reset drops every page the guest wrote: the image's pages come back as they were, the others as zeros.
func (b *backing) reset(mem []byte, used uint64) error {
	return unix.Madvise(mem[:max(used, b.size)], unix.MADV_DONTNEED)
}

func (b *backing) close() error { return b.file.Close() }

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
