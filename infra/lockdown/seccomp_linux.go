package lockdown

import (
	"os"
	"runtime"
	"slices"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// filter installs the filters of a configuration.
func filter(cfg Config) error {
	policies, err := policiesOf(cfg)
	if err != nil {
		return err
	}
	runtime.LockOSThread() // no_new_privs applies to one thread until the first filter extends it to the others
	defer runtime.UnlockOSThread()
	for i, policy := range policies {
		if err := seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: i == 0, Flag: seccomp.FilterFlagTSync,
			Policy: policy}); err != nil {
			return err
		}
	}
	return nil
}

// policiesOf returns the policies that refuse, with EPERM, every system call that is not known to be needed, and
// unneeded uses of some.
//
// Each rule about arguments is a filter of its own; the kernel obeys the strictest. One filter would not do: once
// go-seccomp-bpf has loaded an argument, it compares that, and not the number of the call, with the numbers of the
// calls that follow, so that an argument could pass for an allowed call.
func policiesOf(cfg Config) ([]seccomp.Policy, error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return nil, err
	}
	names := computing()
	switch {
	case cfg.Sealed:
		names = append(names, inherited()...)
	case cfg.Network:
		names = slices.Concat(names, inherited(), filing(), connecting(), networking())
	default:
		names = slices.Concat(names, inherited(), filing(), connecting())
	}
	var policies []seccomp.Policy
	for _, use := range refused(cfg) {
		if len(existing(info, []string{use.name})) == 0 {
			continue
		}
		group := seccomp.SyscallGroup{Action: seccomp.ActionErrno}
		for _, conditions := range use.when {
			group.NamesWithCondtions = append(group.NamesWithCondtions,
				seccomp.NameWithConditions{Name: use.name, Conditions: conditions})
		}
		policies = append(policies, seccomp.Policy{DefaultAction: seccomp.ActionAllow,
			Syscalls: []seccomp.SyscallGroup{group}})
	}
	// Last, because it refuses to load further filters.
	return append(policies, seccomp.Policy{
		DefaultAction: seccomp.ActionErrno,
		Syscalls: []seccomp.SyscallGroup{
			{Action: seccomp.ActionAllow, Names: existing(info, names)},
			// A C library that gets this error uses clone, whose arguments can be checked.
			{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: existing(info, []string{"clone3"})},
		},
	}), nil
}

// existing returns the system calls that an architecture has.
func existing(info *arch.Info, names []string) []string {
	var here []string
	for _, name := range names {
		if _, ok := info.SyscallNames[name]; ok {
			here = append(here, name)
		}
	}
	return here
}

// A use is the refused part of an allowed system call: each list of conditions is sufficient.
type use struct {
	name string
	when []seccomp.ArgumentConditions
}

// refused returns the uses that nothing here needs.
func refused(cfg Config) []use {
	self := uint64(os.Getpid())
	const plain = unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC
	kinds := seccomp.ArgumentConditions{arg(1, seccomp.NotEqual, unix.SOCK_STREAM|plain)}
	if cfg.Network {
		kinds = append(kinds, arg(1, seccomp.NotEqual, unix.SOCK_DGRAM|plain))
	}
	const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	return []use{
		// Threads, not processes.
		{"clone", []seccomp.ArgumentConditions{
			{arg(0, seccomp.BitsNotSet, unix.CLONE_THREAD)},
			{arg(0, seccomp.BitsSet, namespaces)},
		}},
		// Only IP, as Go opens it: another protocol could bypass Landlock.
		{"socket", []seccomp.ArgumentConditions{
			{arg(0, seccomp.NotEqual, unix.AF_INET), arg(0, seccomp.NotEqual, unix.AF_INET6)},
			kinds,
			{arg(2, seccomp.NotEqual, 0)},
		}},
		// Signals to this process only.
		{"kill", []seccomp.ArgumentConditions{{arg(0, seccomp.NotEqual, self)}}},
		{"tgkill", []seccomp.ArgumentConditions{{arg(0, seccomp.NotEqual, self)}}},
		// Only reading the process's own limits.
		{"prlimit64", []seccomp.ArgumentConditions{
			{arg(0, seccomp.NotEqual, 0), arg(0, seccomp.NotEqual, self)},
			{arg(2, seccomp.NotEqual, 0)},
		}},
		// Which pages of its own memory were written; the descriptor is of the page map.
		{"ioctl", []seccomp.ArgumentConditions{{arg(1, seccomp.NotEqual, pagemapScan)}}},
		// A descriptor could send signals to another process.
		{"fcntl", signalling(cfg)},
		// Go names its memory areas.
		{"prctl", []seccomp.ArgumentConditions{{arg(0, seccomp.NotEqual, unix.PR_SET_VMA)}}},
	}
}

// pagemapScan is PAGEMAP_SCAN of Linux 6.7, of which package unix has no name.
const pagemapScan = 0xc0606610

// signalling returns the refused uses of fcntl. A sealed process has only those that it needs.
func signalling(cfg Config) []seccomp.ArgumentConditions {
	if cfg.Sealed {
		var all seccomp.ArgumentConditions
		for _, needed := range []uint64{
			unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_ADD_SEALS,
			unix.F_GET_SEALS,
		} {
			all = append(all, arg(1, seccomp.NotEqual, needed))
		}
		return []seccomp.ArgumentConditions{all}
	}
	var each []seccomp.ArgumentConditions
	for _, refused := range []uint64{unix.F_SETOWN, unix.F_SETOWN_EX, unix.F_SETSIG, unix.F_NOTIFY, unix.F_SETLEASE} {
		each = append(each, seccomp.ArgumentConditions{arg(1, seccomp.Equal, refused)})
	}
	return each
}

func arg(n uint32, op seccomp.Operation, value uint64) seccomp.Condition {
	return seccomp.Condition{Argument: n, Operation: op, Value: value}
}
