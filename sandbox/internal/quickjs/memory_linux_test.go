package quickjs

import (
	"errors"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// TestBackingIsImmutable checks that no write reaches the bytes that every instance starts with.
func TestBackingIsImmutable(t *testing.T) {
	b, err := newBacking(make([]byte, 2*osPage))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := b.file.WriteAt([]byte{1}, 0); err == nil {
		t.Error("a write to the file succeeded")
	}
	if err := b.file.Truncate(osPage); err == nil {
		t.Error("the file became shorter")
	}
	if err := b.file.Truncate(3 * osPage); err == nil {
		t.Error("the file became longer")
	}
	_, err = unix.MmapPtr(int(b.file.Fd()), 0, nil, osPage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err == nil {
		t.Error("the file was mapped for shared writing")
	}
	mem, err := b.mapRange(4 * osPage)
	if err != nil {
		t.Fatal(err)
	}
	mem[0] = 1 // a guest's own copy
	if b.pristine[0] != 0 {
		t.Error("a guest's write reached the image")
	}
	if err := unmapRange(mem); err != nil {
		t.Error(err)
	}
}

// TestCloseOfUnfinishedImage checks that an image whose memory could not be made can be closed.
func TestCloseOfUnfinishedImage(t *testing.T) {
	if err := new(Image).Close(); err != nil {
		t.Error(err)
	}
}

// TestWritten checks that both ways to ask the kernel find the written pages, and no others.
func TestWritten(t *testing.T) {
	b, err := newBacking(make([]byte, 64*osPage))
	if err != nil {
		t.Fatal(err)
	}
	mem, err := b.mapRange(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	want := []uint32{3, 4, 5, 40, 70}
	for at := 0; at < 80*osPage; at += 2 * osPage {
		if mem[at] != 0 {
			t.Fatal("the memory is not empty")
		}
	}
	for _, page := range want {
		mem[page*osPage] = 1
	}
	pages, ok := b.scanned(mem, 80*osPage)
	t.Logf("the kernel has PAGEMAP_SCAN: %t", ok)
	if ok && !slices.Equal(pages, want) {
		t.Errorf("scanned %v, want %v", pages, want)
	}
	pages, ok = b.read(mem, 80*osPage)
	pages = slices.DeleteFunc(pages, func(p uint32) bool { return mem[p*osPage] == 0 }) // pages that were only read
	if ok && !slices.Equal(pages, want) {
		t.Errorf("read %v, want %v", pages, want)
	}
	if err := errors.Join(unmapRange(mem), b.close()); err != nil {
		t.Error(err)
	}
}

// BenchmarkWritten measures both ways with the page tables of an image of 12 MiB in which 96 pages were written.
func BenchmarkWritten(b *testing.B) {
	const size, step = 3072, 32
	back, err := newBacking(make([]byte, size*osPage))
	if err != nil {
		b.Fatal(err)
	}
	mem, err := back.mapRange(size * osPage)
	if err != nil {
		b.Fatal(err)
	}
	for page := range size {
		if mem[page*osPage] != 0 {
			b.Fatal("the memory is not empty")
		}
		if page%step == 0 {
			mem[page*osPage] = 1
		}
	}
	for name, written := range map[string]func([]byte, uint64) ([]uint32, bool){"scan": back.scanned, "read": back.read} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if pages, ok := written(mem, size*osPage); ok && len(pages) != size/step {
					b.Fatal(len(pages))
				}
			}
		})
	}
	if err := errors.Join(unmapRange(mem), back.close()); err != nil {
		b.Error(err)
	}
}
