//go:build unix

package sqlitestate

import (
	"os"

	"golang.org/x/sys/unix"
)

// holdOwner creates the file of this process and locks it for the life of the process.
func holdOwner(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close() // the lock's error says more
		return nil, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	return f, nil
}

// ownerGone reports whether the process behind a file has ended.
func ownerGone(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return os.IsNotExist(err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return false
	}
	_ = os.Remove(path) // a file that stays is asked about again
	return true
}
