package lockdown

// The system calls that a function process makes. Names that an architecture does not have are left out there. Not
// among them, on purpose: everything that starts a program, becomes another user, mounts, traces or looks into
// another process, changes modes, owners or attributes (Landlock does not govern those), loads code into the kernel,
// or queues calls past these filters (io_uring).

// computing names what a Go program needs that computes.
func computing() []string {
	return []string{
		// memory
		"brk", "madvise", "membarrier", "memfd_create", "mincore", "mmap", "mprotect", "mremap", "msync", "munmap",
		// threads and signals to itself
		"arch_prctl", "clone", "exit", "exit_group", "futex", "getcpu", "getpid", "getppid", "gettid", "kill", "prctl",
		"restart_syscall", "rseq", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sched_getaffinity", "sched_yield",
		"set_robust_list", "set_tid_address", "sigaltstack", "tgkill",
		// clocks, randomness, limits, identity; the timers are those of Go's profiler
		"clock_getres", "clock_gettime", "clock_nanosleep", "getegid", "geteuid", "getgid", "getrandom", "getrlimit",
		"getrusage", "gettimeofday", "getuid", "nanosleep", "prlimit64", "setitimer", "sysinfo", "time", "timer_create",
		"timer_delete", "timer_settime", "times", "uname",
		// waiting
		"epoll_create", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_pwait2", "epoll_wait", "eventfd2", "poll",
		"ppoll", "pselect6", "select",
	}
}

// inherited names what works on a descriptor that is open, be it inherited or received, and can give the process no
// other than those. A socket is read and written like a file; sendto, sendmsg and setsockopt are not here, because
// they could lead a connected socket elsewhere, and hand descriptors over.
func inherited() []string {
	return []string{
		"close", "close_range", "dup", "dup2", "dup3", "fcntl", "fstat", "ftruncate", "getpeername", "getsockname",
		"getsockopt", "lseek", "pread64", "preadv", "pwrite64", "pwritev", "read", "readv", "recvmsg", "shutdown", "write",
		"writev",
	}
}

// filing names what works on files, as far as Landlock lets them be reached.
func filing() []string {
	return []string{
		"access", "copy_file_range", "faccessat", "faccessat2", "fadvise64", "fallocate", "fdatasync", "flock", "fstatfs",
		"fsync", "getcwd", "getdents64", "linkat", "link", "lstat", "mkdir", "mkdirat", "newfstatat", "open", "openat",
		"openat2", "pipe", "pipe2", "preadv2", "pwritev2", "readlink", "readlinkat", "rename", "renameat", "renameat2",
		"rmdir", "sendfile", "splice", "stat", "statfs", "statx", "sync_file_range", "unlink", "unlinkat",
	}
}

// connecting names what a connection to the Lambda Runtime API takes.
func connecting() []string {
	return []string{"connect", "recvfrom", "sendmsg", "sendto", "setsockopt", "socket"}
}

// networking names what name resolution needs besides: Go tries out an address to learn which kinds this machine has.
func networking() []string { return []string{"bind", "recvmmsg", "sendmmsg"} }
