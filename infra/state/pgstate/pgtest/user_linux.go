package pgtest

import (
	"cmp"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// quit has Postgres end at once, as a crash does.
const quit = syscall.SIGQUIT

// account returns the IDs to run as. Postgres refuses to run as root.
func account() (uid, gid int, needed bool) {
	if os.Getuid() != 0 {
		return 0, 0, false
	}
	uid, gid = 65534, 65534
	if u, err := user.Lookup("postgres"); err == nil {
		uid, _ = strconv.Atoi(u.Uid) // always numbers on Linux
		gid, _ = strconv.Atoi(u.Gid)
	}
	return uid, gid, true
}

// unprivileged makes a program run without root's rights.
func unprivileged() *syscall.SysProcAttr {
	if uid, gid, needed := account(); needed {
		return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	return nil
}

// serving makes a program run without root's rights, and names the signal by which Postgres ends at once as the one
// that ends it with the tests.
func serving() *syscall.SysProcAttr {
	as := cmp.Or(unprivileged(), &syscall.SysProcAttr{})
	as.Pdeathsig = quit
	return as
}

// giveAway makes the account own a folder.
func giveAway(dir string) error {
	if uid, gid, needed := account(); needed {
		return os.Chown(dir, uid, gid)
	}
	return nil
}
