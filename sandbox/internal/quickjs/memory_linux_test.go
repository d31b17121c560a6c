package quickjs

import (
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
