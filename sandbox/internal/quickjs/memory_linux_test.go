package quickjs

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// TestBackingIsImmutable checks that no write reaches the bytes that every instance starts with.
func TestBackingIsImmutable(t *testing.T) {
	b, err := newBacking(bytes.NewReader(make([]byte, 2*osPage)), 2*osPage)
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

// TestWritten checks that both ways to ask the kernel find the written pages, and no others but those that were only
// read: some kernels give a page that is read a page of zeros of its own instead of the one that all share.
func TestWritten(t *testing.T) {
	b, err := newBacking(bytes.NewReader(make([]byte, 64*osPage)), 64*osPage)
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
	for name, find := range map[string]func([]byte, uint64) ([]uint32, bool){"scanned": b.scanned, "read": b.read} {
		pages, ok := find(mem, 80*osPage)
		t.Logf("%s: the kernel offers it: %t", name, ok)
		written := slices.DeleteFunc(slices.Clone(pages), func(p uint32) bool { return p%2 == 0 && mem[p*osPage] == 0 })
		if ok && !slices.Equal(written, want) {
			t.Errorf("%s %v, want %v and perhaps even ones, which were read", name, pages, want)
		}
	}
	if err := errors.Join(unmapRange(mem), b.close()); err != nil {
		t.Error(err)
	}
}

// BenchmarkWritten measures both ways with the page tables of an image of 12 MiB in which 96 pages were written.
func BenchmarkWritten(b *testing.B) {
	const size, step = 3072, 32
	back, err := newBacking(bytes.NewReader(make([]byte, size*osPage)), size*osPage)
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

// TestResetRestoresImage resets a range after runs of random sizes that write to random pages, often to the same ones,
// so that most resets use the list of the one before.
func TestResetRestoresImage(t *testing.T) {
	const size, reserve, runs = 64, 1024, 2000
	image := make([]byte, size*osPage)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range image {
		image[i] = byte(r.Uint32())
	}
	b, err := newBacking(bytes.NewReader(image), size*osPage)
	if err != nil {
		t.Fatal(err)
	}
	mem, err := b.mapRange(reserve * osPage)
	if err != nil {
		t.Fatal(err)
	}
	want := append(image, make([]byte, (reserve-size)*osPage)...)
	var kept keptPages
	listed := 0
	for run := range runs {
		used := size + r.IntN(32)
		first := 0
		if run%5 == 0 { // the last pages, of which shorter runs say nothing
			used, first = reserve, reserve-4
		}
		for range r.IntN(16) {
			mem[(first+r.IntN(used-first))*osPage+r.IntN(osPage)]++
		}
		if run%100 == 7 {
			for page := range used { // more than a range keeps
				mem[page*osPage]++
			}
		}
		if kept.complete(uint64(used) * osPage) {
			listed++
		}
		if err := b.reset(mem, uint64(used)*osPage, &kept); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(mem, want) {
			t.Fatalf("run %d left something", run)
		}
	}
	t.Logf("faults are counted: %t; %d of %d resets used the list of the one before", faultsCounted(), listed, runs)
	if faultsCounted() && listed < runs/10 {
		t.Errorf("%d of %d resets used the list of the one before", listed, runs)
	}
	if err := errors.Join(unmapRange(mem), b.close()); err != nil {
		t.Error(err)
	}
}
