package statetest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A Disk is a small file system.
type Disk struct {
	// Dir is where it is mounted.
	Dir string
	t   *testing.T
}

// NewDisk mounts a file system of a size. If this user may not mount, it runs the test again in a user namespace,
// where it may, and returns nil: the test is then over.
func NewDisk(t *testing.T, bytes int) *Disk {
	t.Helper()
	dir := t.TempDir()
	err := unix.Mount("none", dir, "tmpfs", 0, "size="+strconv.Itoa(bytes))
	if errors.Is(err, unix.EPERM) && os.Getenv("STATETEST_NAMESPACE") == "" {
		inNamespace(t)
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return &Disk{Dir: dir, t: t}
}

func inNamespace(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), "STATETEST_NAMESPACE=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// Fill uses up the free space.
func (d *Disk) Fill() {
	d.t.Helper()
	f, err := os.Create(filepath.Join(d.Dir, "filler"))
	if err != nil {
		d.t.Fatal(err)
	}
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, unix.ENOSPC) {
		d.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		d.t.Fatal(err)
	}
}

// Free releases the space that Fill took.
func (d *Disk) Free() {
	d.t.Helper()
	if err := os.Remove(filepath.Join(d.Dir, "filler")); err != nil {
		d.t.Fatal(err)
	}
}

// ReadOnly mounts the same files read-only over the folder. Open files are not affected.
func (d *Disk) ReadOnly() {
	d.t.Helper()
	for _, flags := range []uintptr{unix.MS_BIND, unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY} {
		if err := unix.Mount(d.Dir, d.Dir, "", flags, ""); err != nil {
			d.t.Fatal(err)
		}
	}
}

// Remount makes the file system itself read-only or writable again, below programs that have opened its folders. The
// kernel refuses it with EBUSY while a file is open for writing.
func (d *Disk) Remount(readOnly bool) error {
	flags := uintptr(unix.MS_REMOUNT)
	if readOnly {
		flags |= unix.MS_RDONLY
	}
	return unix.Mount("none", d.Dir, "tmpfs", flags, "")
}

// Writable undoes ReadOnly.
func (d *Disk) Writable() {
	d.t.Helper()
	if err := unix.Unmount(d.Dir, unix.MNT_DETACH); err != nil {
		d.t.Fatal(err)
	}
}
