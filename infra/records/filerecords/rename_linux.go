package filerecords

import "golang.org/x/sys/unix"

// renameNew gives from the name to, and fails with EEXIST when there is one.
func (d disk) renameNew(at int, from, to string) error {
	return d.op("rename", to, func() error { return unix.Renameat2(at, from, at, to, unix.RENAME_NOREPLACE) })
}
