package lockdown

import (
	"encoding/binary"
	"fmt"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// EnginePrograms returns the filters of a process of another JavaScript engine, to be loaded in this order: each is the
// array of struct sock_filter of seccomp(2). Every call that they do not allow fails with EPERM. Unless jit, no memory
// can be made executable.
func EnginePrograms(jit bool) ([][]byte, error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return nil, err
	}
	// As in policiesOf, each rule about arguments is a filter of its own.
	var policies []seccomp.Policy
	if !jit {
		for _, name := range []string{"mmap", "mprotect"} {
			executable := seccomp.NameWithConditions{Name: name,
				Conditions: []seccomp.Condition{arg(2, seccomp.BitsSet, unix.PROT_EXEC)}}
			policies = append(policies, seccomp.Policy{DefaultAction: seccomp.ActionAllow,
				Syscalls: []seccomp.SyscallGroup{{Action: seccomp.ActionErrno,
					NamesWithCondtions: []seccomp.NameWithConditions{executable}}}})
		}
	}
	policies = append(policies, seccomp.Policy{DefaultAction: seccomp.ActionErrno,
		Syscalls: []seccomp.SyscallGroup{{Action: seccomp.ActionAllow, Names: existing(info, engineCalls())}}})
	var programs [][]byte
	for _, policy := range policies {
		instructions, err := policy.Assemble()
		if err != nil {
			return nil, fmt.Errorf("assemble a filter: %w", err)
		}
		raw, err := bpf.Assemble(instructions)
		if err != nil {
			return nil, fmt.Errorf("assemble a filter: %w", err)
		}
		var program []byte
		for _, i := range raw {
			program = binary.LittleEndian.AppendUint16(program, i.Op)
			program = append(program, i.Jt, i.Jf)
			program = binary.LittleEndian.AppendUint32(program, i.K)
		}
		programs = append(programs, program)
	}
	return programs, nil
}

// engineCalls returns the calls of an engine that computes on one thread and talks over open descriptors.
func engineCalls() []string {
	return []string{
		// memory
		"brk", "madvise", "mmap", "mprotect", "mremap", "munmap",
		// its own thread
		"exit", "exit_group", "futex", "getpid", "gettid", "restart_syscall", "rt_sigaction", "rt_sigprocmask",
		"rt_sigreturn", "sched_yield", "sigaltstack",
		// clocks and randomness
		"clock_getres", "clock_gettime", "clock_nanosleep", "getrandom", "getrusage", "gettimeofday", "nanosleep", "time",
		// the socket
		"poll", "ppoll", "read", "readv", "write", "writev",
	}
}
