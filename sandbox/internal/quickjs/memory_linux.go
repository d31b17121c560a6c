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
		faultsCounted()                              // now, as it takes a file
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
// all of them; they come back as the image or as zeros when they are touched. kept is what the last reset of mem left
// there.
func (b *backing) reset(mem []byte, used uint64, kept *keptPages) error {
	end := max(used, b.size)
	if !kept.complete(end) && !kept.update(b, mem, end) {
		return unix.Madvise(mem[:end], unix.MADV_DONTNEED)
	}
	for _, page := range kept.pages {
		at := uint64(page) * osPage
		if at < b.size {
			copy(mem[at:at+osPage], b.pristine[at:])
		} else {
			clear(mem[at : at+osPage])
		}
	}
	return nil
}

// keptPages lists the pages of a range that are no longer the image's own, as of the last time the kernel was asked.
// Asking takes longer than copying them. The first write to another page is a page fault, so while the process has had
// no page fault the list is complete.
type keptPages struct {
	pages  []uint32
	end    uint64 // the list covers the addresses below it; 0 if there is no list
	faults int64  // of the process, before the kernel was asked
}

// complete reports whether k lists every page below end that may have been written.
func (k *keptPages) complete(end uint64) bool {
	if k.end < end {
		return false
	}
	faults, ok := pageFaults()
	return ok && faults == k.faults
}

// update asks the kernel for the written pages of mem[:end]. It reports false if the kernel does not say, or if there
// are more than maxKept.
func (k *keptPages) update(b *backing, mem []byte, end uint64) bool {
	faults, _ := pageFaults() // before the pages are listed, so that a fault in the meantime counts as new
	pages, ok := b.written(mem, end)
	if !ok || len(pages) > maxKept {
		*k = keptPages{}
		return false
	}
	*k = keptPages{pages: pages, end: end, faults: faults}
	return true
}

// pageFaults returns the number of page faults of the process so far, of every thread and kind. ok is false on a system
// that does not count them, such as gVisor.
func pageFaults() (n int64, ok bool) {
	if !faultsCounted() {
		return 0, false
	}
	return countFaults()
}

func countFaults() (n int64, ok bool) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return int64(u.Minflt) + int64(u.Majflt), true
}

// faultsCounted reports whether writes to untouched private pages of a file, as the pages of an image are, and to
// untouched pages without a file are counted as page faults.
var faultsCounted = sync.OnceValue(func() bool {
	const pages = 8 // few, as a fault takes ten microseconds on some machines
	image := make([]byte, pages*osPage)
	b, err := fileBacking(bytes.NewReader(image), uint64(len(image)))
	if err != nil {
		return false
	}
	defer func() { _ = b.close() }() // nothing is left in it
	mem, err := b.mapRange(2 * b.size)
	if err != nil {
		return false
	}
	defer func() { _ = unmapRange(mem) }() // the addresses are lost at worst
	sum := byte(0)
	for at := range pages {
		sum += mem[at*osPage] // maps the page, which is still the file's
	}
	for _, half := range [][]byte{mem[:b.size], mem[b.size:]} {
		before, ok := countFaults()
		if !ok {
			return false
		}
		for at := range pages {
			half[at*osPage] = sum + 1
		}
		if after, ok := countFaults(); !ok || after-before < pages {
			return false
		}
	}
	return true
})

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
