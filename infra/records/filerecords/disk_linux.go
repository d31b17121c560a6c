package filerecords

import "golang.org/x/sys/unix"

// renameNew renames from to to, and fails with EEXIST if to exists.
func (d disk) renameNew(at int, from, to string) error {
	return d.op("rename", to, func() error { return unix.Renameat2(at, from, at, to, unix.RENAME_NOREPLACE) })
}

// topDir is FS_TOPDIR_FL of linux/fs.h.
const topDir = 0x20000

// spread asks the file system to place the folders inside an open folder apart from one another, each where there is
// space. Without it ext4 keeps them near their parent, where it skips every inode that was deleted in the last minutes,
// one by one, each time that it creates a file. A file system that has no such hint refuses, which costs nothing.
func spread(fd int) {
	flags, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS)
	if err == nil && flags&topDir == 0 {
		_ = unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, int(flags|topDir))
	}
}
