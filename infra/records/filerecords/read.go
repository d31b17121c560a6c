package filerecords

import (
	"errors"
	"io"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/policy/audit"
)

// readAt fills b from offset.
func readAt(fd int, name string, b []byte, offset int64) error {
	for len(b) > 0 {
		n, err := unix.Pread(fd, b, offset)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return &fs.PathError{Op: "read", Path: name, Err: err}
		}
		b, offset = b[n:], offset+int64(n)
	}
	return nil
}

// openFile opens a file of lines for reading, and nothing else in its place: opening a pipe would block.
func openFile(at int, name string) (fd int, size int64, err error) {
	fd, err = open(at, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK)
	if err != nil {
		return -1, 0, err
	}
	st, err := stat(fd, name)
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = &fs.PathError{Op: "read", Path: name, Err: errNoFile}
	}
	if err != nil {
		shut(fd)
		return -1, 0, err
	}
	return fd, st.Size, nil
}

var errNoFile = errors.New("it is not a file")

// readFile reads a whole file of at most audit.MaxBytes.
func readFile(at int, name string) ([]byte, error) {
	fd, size, err := openFile(at, name)
	if err != nil {
		return nil, err
	}
	defer shut(fd)
	if size > audit.MaxBytes {
		return nil, &fs.PathError{Op: "read", Path: name, Err: unix.EFBIG}
	}
	b := make([]byte, size)
	return b, readAt(fd, name, b, 0)
}

// list returns the names in a folder, in no order.
func list(at int, name string) ([]string, error) {
	fd, err := open(at, name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer shut(fd)
	var names []string
	buf := make([]byte, 32<<10)
	for {
		n, err := unix.ReadDirent(fd, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "list", Path: name, Err: err}
		}
		if n <= 0 {
			return names, nil
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}
