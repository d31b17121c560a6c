package filerecords

import "golang.org/x/sys/unix"

// renameNew moves from to to, which must not exist: otherwise it fails with EEXIST.
func (d disk) renameNew(at int, from string, into int, to string) error {
	return d.op("rename", to, func() error { return unix.Renameat2(at, from, into, to, unix.RENAME_NOREPLACE) })
}

// topDir is FS_TOPDIR_FL of linux/fs.h, the hint that chattr +T sets.
const topDir = 0x20000

// spread asks the file system to place the folders inside an open folder apart from one another, by their names. A file
// stays where the folder was in which it was created. ext4 otherwise keeps all records near one another, where it skips
// each inode that was deleted in the last minutes, one by one, each time that it creates a file. Writers have random
// names, so that their files come to lie where nothing else was deleted. A file system without the hint refuses it,
// which costs nothing.
func spread(fd int) {
	flags, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS)
	if err == nil && flags&topDir == 0 {
		_ = unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, int(flags|topDir))
	}
}
