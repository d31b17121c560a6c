//go:build !unix

package sqlitestate

import "os"

func holdOwner(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// ownerGone takes the file away where the system does not let that happen to a file in use.
func ownerGone(path string) bool {
	err := os.Remove(path)
	return err == nil || os.IsNotExist(err)
}
