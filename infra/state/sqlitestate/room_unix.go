//go:build linux || darwin

package sqlitestate

import (
	"errors"

	"golang.org/x/sys/unix"
)

// noRoom reports whether the disk of a folder is full. SQLite reports an I/O error if the file that it shares with
// other processes cannot grow.
func noRoom(dir string) bool {
	var disk unix.Statfs_t
	const least = 64 << 10
	return unix.Statfs(dir, &disk) == nil && disk.Bavail*uint64(disk.Bsize) < least // a block has a size
}

// readOnly reports whether a file is on a read-only disk.
func readOnly(path string) bool { return errors.Is(unix.Access(path, unix.W_OK), unix.EROFS) }
