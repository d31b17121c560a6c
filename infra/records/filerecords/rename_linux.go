package filerecords

import "golang.org/x/sys/unix"

// renameNew renames from to to, and fails with EEXIST if to exists.
func (d disk) renameNew(at int, from, to string) error {
	return d.op("rename", to, func() error { return unix.Renameat2(at, from, at, to, unix.RENAME_NOREPLACE) })
}
