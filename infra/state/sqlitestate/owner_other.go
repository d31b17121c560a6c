//go:build !unix

package sqlitestate

import "os"

func holdOwner(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// ownerGone removes the file, which this system refuses for a file in use, and reports whether it is gone.
func ownerGone(path string) bool {
	err := os.Remove(path)
	return err == nil || os.IsNotExist(err)
}
