package lockdown

// The system calls that a function process makes. Names that an architecture lacks are skipped there. Excluded on
// purpose: everything that starts a program, changes the user, mounts, traces or reads another process, changes
// modes, owners or attributes (which Landlock does not govern), loads code into the kernel, or queues calls past
// these filters (io_uring).

// computing returns the calls of a Go program that only computes.
func computing() []string {
	return []string{
		// memory
		"brk", "ioctl", "madvise", "membarrier", "memfd_create", "mincore", "mmap", "mprotect", "mremap", "msync", "munmap",
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

// inherited returns the calls that work on open descriptors, inherited or received, and cannot create others. A
// socket is read and written like a file; sendto, sendmsg and setsockopt are excluded, because they could redirect a
// connected socket and pass descriptors on.
func inherited() []string {
	return []string{
		"close", "close_range", "dup", "dup2", "dup3", "fcntl", "fstat", "ftruncate", "getpeername", "getsockname",
		"getsockopt", "lseek", "pread64", "preadv", "pwrite64", "pwritev", "read", "readv", "recvmsg", "shutdown", "write",
		"writev",
	}
}

// filing returns the calls that work on files, as far as Landlock allows.
func filing() []string {
	return []string{
		"access", "copy_file_range", "faccessat", "faccessat2", "fadvise64", "fallocate", "fdatasync", "flock", "fstatfs",
		"fsync", "getcwd", "getdents64", "linkat", "link", "lstat", "mkdir", "mkdirat", "newfstatat", "open", "openat",
		"openat2", "pipe", "pipe2", "preadv2", "pwritev2", "readlink", "readlinkat", "rename", "renameat", "renameat2",
		"rmdir", "sendfile", "splice", "stat", "statfs", "statx", "sync_file_range", "unlink", "unlinkat",
	}
}

// connecting returns the calls that a connection to the Lambda Runtime API needs.
func connecting() []string {
	return []string{"connect", "recvfrom", "sendmsg", "sendto", "setsockopt", "socket"}
}

// networking returns the further calls of name resolution: Go tries an address to learn which kinds the machine has.
func networking() []string { return []string{"bind", "recvmmsg", "sendmmsg"} }
