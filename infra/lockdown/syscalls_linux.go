package lockdown

// allowed names the system calls that a Go program makes which computes, keeps files in its folders and talks to the
// Runtime API. Names that an architecture does not have are left out there. Not among them, on purpose: everything that
// starts a program, becomes another user, mounts, traces or looks into another process, changes modes, owners or
// attributes (Landlock does not govern those), loads code into the kernel, or queues calls past these filters (io_uring).
func allowed() []string {
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
		// files, as far as Landlock lets them be reached
		"access", "close", "close_range", "copy_file_range", "dup", "dup2", "dup3", "faccessat", "faccessat2",
		"fadvise64", "fallocate", "fcntl", "fdatasync", "flock", "fstat", "fstatfs", "fsync", "ftruncate", "getcwd",
		"getdents64", "linkat", "link", "lseek", "lstat", "mkdir", "mkdirat", "newfstatat", "open", "openat", "openat2",
		"pipe", "pipe2", "pread64", "preadv", "preadv2", "pwrite64", "pwritev", "pwritev2", "read", "readlink",
		"readlinkat", "readv", "rename", "renameat", "renameat2", "rmdir", "sendfile", "splice", "stat", "statfs", "statx",
		"sync_file_range", "unlink", "unlinkat", "write", "writev",
		// connections
		"connect", "getpeername", "getsockname", "getsockopt", "recvfrom", "recvmsg", "sendmsg", "sendto", "setsockopt",
		"shutdown", "socket",
	}
}

// networking names what name resolution needs besides: Go tries out an address to learn which kinds this machine has.
func networking() []string { return []string{"bind", "recvmmsg", "sendmmsg"} }
