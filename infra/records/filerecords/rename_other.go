//go:build unix && !linux

package filerecords

import "golang.org/x/sys/unix"

// renameNew renames from to to, and fails with EEXIST if to exists. A kill between the two calls leaves both names,
// which recovery recognises as a finished record and a leftover.
func (d disk) renameNew(at int, from, to string) error {
	if err := d.op("rename", to, func() error { return unix.Linkat(at, from, at, to, 0) }); err != nil {
		return err
	}
	return d.unlink(at, from)
}
