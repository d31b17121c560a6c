package filerecords

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// Interceptor is asked before each system call that changes the folder, with the call's name (mkdir, create, write,
// pwrite, rename, unlink, flock, truncate, sync), the path within the folder and, for writes, the number of bytes. An
// error makes the call fail with it in place; a [*ShortWrite] lets a part of the bytes through first. It exists so that
// tests can fill the disk and kill the process between any two calls.
type Interceptor func(call, path string, size int) error

// A ShortWrite stops a write after N bytes with Err.
type ShortWrite struct {
	N   int
	Err error
}

// Error implements error.
func (e *ShortWrite) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ShortWrite) Unwrap() error { return e.Err }

// disk makes the system calls, relative to open folders, so that a process that is confined to the folder can still
// use it.
type disk struct {
	before Interceptor
}

func (d disk) ask(call, path string, size int) error {
	if d.before == nil {
		return nil
	}
	return d.before(call, path, size)
}

// op asks the Interceptor, runs call, repeats it if a signal interrupts it, and wraps its error.
func (d disk) op(name, path string, call func() error) error {
	if err := d.ask(name, path, 0); err != nil {
		return &fs.PathError{Op: name, Path: path, Err: err}
	}
	for {
		err := call()
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return &fs.PathError{Op: name, Path: path, Err: err}
		}
		return nil
	}
}

// mkdir creates a folder unless it exists.
func (d disk) mkdir(at int, path string) error {
	err := d.op("mkdir", path, func() error { return unix.Mkdirat(at, path, 0o700) })
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

// create opens a new file for writing; flags are added to O_CREAT.
func (d disk) create(at int, path string, flags int) (fd int, err error) {
	err = d.op("create", path, func() (err error) {
		fd, err = unix.Openat(at, path, unix.O_CREAT|unix.O_CLOEXEC|flags, 0o600)
		return err
	})
	return fd, err
}

// open opens an existing file or folder. It changes nothing, so the Interceptor is not asked.
func open(at int, path string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(at, path, flags|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return -1, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		return fd, nil
	}
}

// write appends b, or writes at offset if that is not negative. After an error a part of it may be written.
func (d disk) write(fd int, path string, b []byte, offset int64) error {
	name := "write"
	if offset >= 0 {
		name = "pwrite"
	}
	fault := d.ask(name, path, len(b))
	var short *ShortWrite
	switch {
	case errors.As(fault, &short):
		b = b[:min(short.N, len(b))]
	case fault != nil:
		return &fs.PathError{Op: name, Path: path, Err: fault}
	}
	for len(b) > 0 {
		var n int
		var err error
		if offset >= 0 {
			n, err = unix.Pwrite(fd, b, offset)
		} else {
			n, err = unix.Write(fd, b)
		}
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err == nil && n == 0 {
			err = unix.ENOSPC
		}
		if err != nil {
			return &fs.PathError{Op: name, Path: path, Err: err}
		}
		b = b[n:]
		if offset >= 0 {
			offset += int64(n)
		}
	}
	if short != nil {
		return &fs.PathError{Op: name, Path: path, Err: short.Err}
	}
	return nil
}

// rename renames from to to, which it replaces.
func (d disk) rename(at int, from, to string) error {
	return d.op("rename", to, func() error { return unix.Renameat(at, from, at, to) })
}

func (d disk) unlink(at int, path string) error {
	return d.op("unlink", path, func() error { return unix.Unlinkat(at, path, 0) })
}

func (d disk) rmdir(at int, path string) error {
	return d.op("unlink", path, func() error { return unix.Unlinkat(at, path, unix.AT_REMOVEDIR) })
}

func (d disk) truncate(fd int, path string, size int64) error {
	return d.op("truncate", path, func() error { return unix.Ftruncate(fd, size) })
}

func (d disk) sync(fd int, path string) error {
	return d.op("sync", path, func() error { return unix.Fsync(fd) })
}

// lock locks a file, waiting unless how has LOCK_NB.
func (d disk) lock(fd int, path string, how int) error {
	return d.op("flock", path, func() error { return unix.Flock(fd, how) })
}

// unlock unlocks a file, which cannot fail on an open descriptor.
func unlock(fd int) { _ = unix.Flock(fd, unix.LOCK_UN) }

// shut closes a descriptor. Earlier writes have checked its data; nothing is buffered.
func shut(fd int) { _ = unix.Close(fd) }

func stat(fd int, path string) (unix.Stat_t, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstat(fd, &st)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return st, &fs.PathError{Op: "stat", Path: path, Err: err}
		}
		return st, nil
	}
}
