package lockdown

import (
	"os"
	"runtime"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// filter refuses, with EPERM, every system call that is not known to be needed, and of some the uses that are not.
//
// Each rule about arguments is a filter of its own; of all filters the kernel obeys the strictest. One filter would not
// do: once go-seccomp-bpf has looked at an argument it compares that, not the number of the call, with the numbers of
// the calls that follow, so that an argument could pass for an allowed call.
func filter(cfg Config) error {
	info, err := arch.GetInfo("")
	if err != nil {
		return err
	}
	known := func(names []string) []string {
		var here []string
		for _, name := range names {
			if _, ok := info.SyscallNames[name]; ok {
				here = append(here, name)
			}
		}
		return here
	}
	names := allowed()
	if cfg.Network {
		names = append(names, networking()...)
	}
	var policies []seccomp.Policy
	for _, use := range refused(cfg) {
		if len(known([]string{use.name})) == 0 {
			continue
		}
		group := seccomp.SyscallGroup{Action: seccomp.ActionErrno}
		for _, conditions := range use.when {
			group.NamesWithCondtions = append(group.NamesWithCondtions, seccomp.NameWithConditions{Name: use.name, Conditions: conditions})
		}
		policies = append(policies, seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: []seccomp.SyscallGroup{group}})
	}
	// Last, because it refuses to load filters.
	policies = append(policies, seccomp.Policy{
		DefaultAction: seccomp.ActionErrno,
		Syscalls: []seccomp.SyscallGroup{
			{Action: seccomp.ActionAllow, Names: known(names)},
			// A C library that is told so uses clone, whose arguments can be looked at.
			{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: known([]string{"clone3"})},
		},
	})
	runtime.LockOSThread() // no_new_privs is of the thread until the first filter takes it to the others
	defer runtime.UnlockOSThread()
	for i, policy := range policies {
		if err := seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: i == 0, Flag: seccomp.FilterFlagTSync, Policy: policy}); err != nil {
			return err
		}
	}
	return nil
}

// use is what is refused of an allowed system call: each list of conditions is enough on its own.
type use struct {
	name string
	when []seccomp.ArgumentConditions
}

// refused lists the uses that nothing here needs.
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
		// Only IP, only as Go opens it; a protocol of its own could go around Landlock.
		{"socket", []seccomp.ArgumentConditions{
			{arg(0, seccomp.NotEqual, unix.AF_INET), arg(0, seccomp.NotEqual, unix.AF_INET6)},
			kinds,
			{arg(2, seccomp.NotEqual, 0)},
		}},
		// Signals to this process only.
		{"kill", []seccomp.ArgumentConditions{{arg(0, seccomp.NotEqual, self)}}},
		{"tgkill", []seccomp.ArgumentConditions{{arg(0, seccomp.NotEqual, self)}}},
		// Own limits, and only to read them.
		{"prlimit64", []seccomp.ArgumentConditions{
			{arg(0, seccomp.NotEqual, 0), arg(0, seccomp.NotEqual, self)},
			{arg(2, seccomp.NotEqual, 0)},
		}},
		// Go names its memory areas.
		{"prctl", []seccomp.ArgumentConditions{{arg(0, seccomp.NotEqual, unix.PR_SET_VMA)}}},
	}
}

func arg(n uint32, op seccomp.Operation, value uint64) seccomp.Condition {
	return seccomp.Condition{Argument: n, Operation: op, Value: value}
}
