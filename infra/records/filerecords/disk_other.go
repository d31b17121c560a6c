//go:build unix && !linux

package filerecords

import "golang.org/x/sys/unix"

// renameNew moves from to to, which must not exist: otherwise it fails with EEXIST. A kill between the two calls leaves
// both names, which recovery recognises as a finished record and a leftover.
func (d disk) renameNew(at int, from string, into int, to string) error {
	if err := d.op("rename", to, func() error { return unix.Linkat(at, from, into, to, 0) }); err != nil {
		return err
	}
	return d.unlink(at, from)
}

// spread does nothing: these file systems have no such hint.
func spread(int) {}
