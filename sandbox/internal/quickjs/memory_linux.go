package quickjs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// backing holds the image's bytes in a memfd, so that every instance can map them copy-on-write.
type backing struct {
	file *os.File
	size uint64
	// pristine is the image once more, read-only.
	pristine []byte
	// pagemap lists the written pages of an address range; nil if the system does not offer it.
	pagemap *os.File
	// borrowed reports that another backing closes pagemap.
	borrowed bool
}

// newBacking returns a backing of image, which has size bytes.
func newBacking(image io.Reader, size uint64) (*backing, error) {
	b, err := fileBacking(image, size)
	if err == nil {
		b.pagemap, _ = os.Open("/proc/self/pagemap") // without it every page is dropped after a run
	}
	return b, err
}

// another returns the backing of another image. It shares b's page map, which the system may refuse by now.
func (b *backing) another(image []byte) (*backing, error) {
	x, err := fileBacking(bytes.NewReader(image), uint64(len(image)))
	if err == nil {
		x.pagemap, x.borrowed = b.pagemap, true
	}
	return x, err
}

func fileBacking(image io.Reader, size uint64) (*backing, error) {
	fd, err := unix.MemfdCreate("airlock-image", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("create memory file for the image: %w", err)
	}
	b := &backing{file: os.NewFile(uintptr(fd), "airlock-image"), size: size}
	n, err := io.Copy(b.file, image)
	if err == nil && uint64(n) != size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		_ = b.close()
		return nil, fmt.Errorf("write image: %w", err)
	}
	if err := seal(b.file); err != nil {
		_ = b.close()
		return nil, fmt.Errorf("seal image: %w", err)
	}
	p, err := unix.MmapPtr(fd, 0, nil, uintptr(b.size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		_ = b.close()
		return nil, fmt.Errorf("map image for reading: %w", err)
	}
	b.pristine = unsafe.Slice((*byte)(p), b.size)
	return b, nil
}

// seal makes f immutable. F_SEAL_WRITE fails with EBUSY while the kernel holds a page of f for work of its own (memory
// compaction, reclaim). F_SEAL_FUTURE_WRITE does not, and is as strong here: nothing has mapped f for writing yet.
// Linux before 5.1 and gVisor do not have it.
func seal(f *os.File) error {
	const size = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW
	_, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, size|unix.F_SEAL_FUTURE_WRITE)
	if errors.Is(err, unix.EINVAL) {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, size|unix.F_SEAL_WRITE)
	}
	return err
}

// mapRange returns size bytes of address space that begin with the image, copy-on-write.
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
	_ = unix.Madvise(mem, unix.MADV_NOHUGEPAGE) // a guest touches a few pages; a kernel without huge pages refuses this
	return mem, nil
}

const (
	// maxKept bounds the written pages that a range keeps between two runs.
	maxKept = 256

	// Flags of a pagemap entry (Documentation/admin-guide/mm/pagemap.rst).
	pageOfFile  = 1 << 61
	pageSwapped = 1 << 62
	pagePresent = 1 << 63
)

// reset undoes every write of a guest that grew to used bytes. A page fault costs more than copying a page, and every
// run writes to the same few dozen pages: reset copies those back from the image (or clears them where the image
// ends) and keeps them. Pages that were only read stay as they are. After a run that wrote to many pages, reset drops
// all of them; they come back as the image or as zeros when they are touched.
func (b *backing) reset(mem []byte, used uint64) error {
	end := max(used, b.size)
	written, ok := b.written(mem, end)
	if !ok || len(written) > maxKept {
		return unix.Madvise(mem[:end], unix.MADV_DONTNEED)
	}
	for _, page := range written {
		at := uint64(page) * osPage
		if at < b.size {
			copy(mem[at:at+osPage], b.pristine[at:])
		} else {
			clear(mem[at : at+osPage])
		}
	}
	return nil
}

// touched lists the pages of mem[:end] that may differ from the image.
func (b *backing) touched(mem []byte, end uint64) []uint32 {
	if pages, ok := b.written(mem, end); ok {
		return pages
	}
	return allPages(end)
}

// written lists the pages of mem[:end] that are no longer the image's: a write to a page of a private mapping
// replaces it by an anonymous one. ok is false if the kernel does not say.
func (b *backing) written(mem []byte, end uint64) (pages []uint32, ok bool) {
	if b.pagemap == nil || os.Getpagesize() != osPage {
		return nil, false
	}
	if pages, ok := b.scanned(mem, end); ok {
		return pages, true
	}
	return b.read(mem, end)
}

// read lists written pages by reading the page map, which has an entry for each page of the range.
func (b *backing) read(mem []byte, end uint64) (pages []uint32, ok bool) {
	entries := make([]byte, end/osPage*8)
	at := int64(uintptr(unsafe.Pointer(&mem[0]))) / osPage * 8
	if n, err := b.pagemap.ReadAt(entries, at); err != nil || n != len(entries) {
		return nil, false
	}
	pages = make([]uint32, 0, maxKept)
	for i := range len(entries) / 8 {
		switch e := binary.LittleEndian.Uint64(entries[8*i:]); {
		case e&pageSwapped != 0, e&pagePresent != 0 && e&pageOfFile == 0:
			pages = append(pages, uint32(i))
		}
	}
	return pages, true
}

// scanned lists written pages with PAGEMAP_SCAN, which visits only the pages that are there (Linux 6.7). It reports
// false if the kernel does not have it, or if there are more than maxKept ranges.
func (b *backing) scanned(mem []byte, end uint64) (pages []uint32, ok bool) {
	if noPageScan.Load() {
		return nil, false
	}
	found := foundRegions.Get().(*[maxKept + 1]pageRegion)
	defer foundRegions.Put(found)
	start := uint64(uintptr(unsafe.Pointer(&mem[0])))
	arg := pageScan{
		size: uint64(unsafe.Sizeof(pageScan{})), start: start, end: start + end,
		vec: uint64(uintptr(unsafe.Pointer(found))), vecLen: uint64(len(found)),
		categoryInverted: scanFile | scanZero, categoryMask: scanFile | scanZero, categoryAnyOf: scanPresent | scanSwapped,
		returnMask: scanFile, // of none: ranges are not cut by what else differs
	}
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, b.pagemap.Fd(), pagemapScan, uintptr(unsafe.Pointer(&arg)))
	runtime.KeepAlive(found)
	switch {
	case errno != 0:
		noPageScan.Store(true)
		return nil, false
	case arg.walkEnd != arg.end:
		return nil, false
	}
	pages = make([]uint32, 0, maxKept)
	for _, r := range found[:n] {
		for at := r.start; at < r.end; at += osPage {
			pages = append(pages, uint32((at-start)/osPage))
		}
	}
	return pages, true
}

// foundRegions holds room for the regions that the kernel finds. It lies on the heap, where nothing moves.
var foundRegions = sync.Pool{New: func() any { return new([maxKept + 1]pageRegion) }}

// noPageScan is set once the kernel has refused PAGEMAP_SCAN.
var noPageScan atomic.Bool

// pageScan is struct pm_scan_arg of linux/fs.h, pageRegion struct page_region.
type pageScan struct {
	size, flags, start, end, walkEnd, vec, vecLen, maxPages   uint64
	categoryInverted, categoryMask, categoryAnyOf, returnMask uint64
}

type pageRegion struct{ start, end, _ uint64 }

const (
	pagemapScan = 0xC0606610 // _IOWR('f', 16, struct pm_scan_arg)

	scanFile    = 1 << 2
	scanPresent = 1 << 3
	scanSwapped = 1 << 4
	scanZero    = 1 << 5
)

func (b *backing) close() error {
	if b.pagemap != nil && !b.borrowed {
		_ = b.pagemap.Close() // it was opened for reading only
	}
	if b.pristine != nil {
		_ = unmapRange(b.pristine) // there is no way to recover, and the process ends soon
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
