package lockdown_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attempts lists the attempts of the child. Names that begin with "may" must succeed, those with "network" where the
// network was granted, and all others must fail.
func attempts(p plan) map[string]func() error {
	read := func(path string) func() error {
		return func() error { _, err := os.ReadFile(path); return err }
	}
	parent, _ := strconv.Atoi(os.Getenv("PARENT"))
	return map[string]func() error{
		"may read its folder":         read(filepath.Join(p.Read, "known")),
		"may write its folder":        func() error { return fill(p.Write) },
		"may talk to its port":        func() error { return fetch(p.Served) },
		"may start threads":           manyThreads,
		"may collect garbage":         func() error { runtime.GC(); return nil },
		"network tcp to another port": dial("tcp", p.Refused),
		"network udp":                 dial("udp", "127.0.0.1:53"),

		"file /etc/passwd":             read("/etc/passwd"),
		"file of a folder not given":   read(filepath.Join(p.Other, "known")),
		"file listing of /":            func() error { _, err := os.ReadDir("/"); return err },
		"file own memory":              read("/proc/self/mem"),
		"file own environment":         read("/proc/self/environ"),
		"file parent's environment":    read(fmt.Sprintf("/proc/%d/environ", parent)),
		"file written where read only": func() error { return os.WriteFile(filepath.Join(p.Read, "new"), nil, 0o600) },
		"file removed where read only": func() error { return os.Remove(filepath.Join(p.Read, "known")) },
		"file moved out": func() error {
			return os.Rename(filepath.Join(p.Write, "known"),
				filepath.Join(p.Other, "x"))
		},

		"exec":            func() error { return exec.Command("/bin/true").Run() },
		"exec in place":   func() error { return syscall.Exec("/bin/true", []string{"true"}, nil) },
		"exec own folder": func() error { return syscall.Exec(filepath.Join(p.Write, "known"), []string{"known"}, nil) },
		"exec by handle":  execByHandle,
		"fork":            raw(unix.SYS_CLONE, uintptr(syscall.SIGCHLD)),
		"clone3":          raw(unix.SYS_CLONE3, 0),
		"namespace":       raw(unix.SYS_UNSHARE, unix.CLONE_NEWUSER),
		"set namespace":   raw(unix.SYS_SETNS, 0),
		"ptrace parent":   raw(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(parent)),
		"read parent":     raw(unix.SYS_PROCESS_VM_READV, uintptr(parent)),
		"signal parent":   func() error { return syscall.Kill(parent, 0) },
		"open parent":     raw(unix.SYS_PIDFD_OPEN, uintptr(parent), 0),
		"limit parent":    raw(unix.SYS_PRLIMIT64, uintptr(parent), unix.RLIMIT_NOFILE, 0, 0),
		"raise own limit": raw(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_CORE, uintptr(unsafe.Pointer(&unix.Rlimit{Cur: 1, Max: 1})),
			0),
		"dump again":     func() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) },
		"mount":          func() error { return unix.Mount("none", p.Write, "tmpfs", 0, "") },
		"chroot":         func() error { return unix.Chroot(p.Write) },
		"bpf":            raw(unix.SYS_BPF),
		"io_uring":       raw(unix.SYS_IO_URING_SETUP, 1),
		"keyctl":         raw(unix.SYS_KEYCTL),
		"userfaultfd":    raw(unix.SYS_USERFAULTFD),
		"perf":           raw(unix.SYS_PERF_EVENT_OPEN),
		"become another": func() error { return syscall.Setuid(65534) },
		"change modes":   func() error { return os.Chmod("/tmp", 0o1777) },
		"raw socket":     socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP),
		"packet socket":  socket(unix.AF_PACKET, unix.SOCK_RAW, 0),
		"unix socket":    socket(unix.AF_UNIX, unix.SOCK_STREAM, 0),
		"netlink socket": socket(unix.AF_NETLINK, unix.SOCK_RAW, 0),
		"vsock socket":   socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0),
		"alg socket":     socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0),
		"multipath tcp":  socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP),
		"listen":         func() error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err },
		// Numbers of allowed calls in place of refused arguments.
		"socket of kind read":  socket(unix.SYS_READ, unix.SYS_WRITE, unix.SYS_CLOSE),
		"socket of kind mmap":  socket(unix.AF_INET, unix.SYS_MMAP, unix.SYS_MMAP),
		"ioctl with a number":  raw(unix.SYS_IOCTL, unix.SYS_READ, unix.SYS_WRITE),
		"type on the terminal": raw(unix.SYS_IOCTL, 0, unix.TIOCSTI, uintptr(unsafe.Pointer(&[]byte{'x'}[0]))),
		"clone with a number":  raw(unix.SYS_CLONE, unix.SYS_GETPID),
		"signal to a number":   func() error { return syscall.Kill(unix.SYS_FUTEX, 0) },
		"signal to everything": func() error { return syscall.Kill(-1, 0) },
	}
}

// raw makes a system call. A call that reads its arguments fails with "bad address" if no filter refuses it.
func raw(nr uintptr, args ...uintptr) func() error {
	return func() error {
		var a [6]uintptr
		copy(a[:], args)
		pid, _, errno := syscall.RawSyscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
		if nr == unix.SYS_CLONE && errno == 0 && pid == 0 {
			syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0) // the fork, which must not exist
		}
		return refused(errno)
	}
}

// refused reports whether a filter refused a call. Any other failure proves nothing.
func refused(errno syscall.Errno) error {
	if errno == unix.EPERM || errno == unix.ENOSYS {
		return errno
	}
	return nil
}

func socket(domain, kind, proto int) func() error {
	return func() error {
		fd, _, errno := syscall.RawSyscall(unix.SYS_SOCKET, uintptr(domain), uintptr(kind), uintptr(proto))
		if errno == 0 {
			unix.Close(int(fd))
		}
		return refused(errno)
	}
}

func dial(network, address string) func() error {
	return func() error {
		c, err := net.Dial(network, address)
		if err == nil {
			c.Close()
		}
		return err
	}
}

func execByHandle() error {
	fd, err := unix.MemfdCreate("program", 0)
	if err != nil {
		return err
	}
	_, _, errno := syscall.RawSyscall6(unix.SYS_EXECVEAT, uintptr(fd), 0, 0, 0, unix.AT_EMPTY_PATH, 0)
	return refused(errno)
}

// fill uses a folder as a record store does.
func fill(dir string) error {
	sub := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(sub, 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(sub, "file"), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString("text")
	err = errors.Join(err, unix.Flock(int(f.Fd()), unix.LOCK_EX), f.Truncate(2), f.Sync(), f.Close())
	moved := filepath.Join(dir, "moved")
	return errors.Join(err, os.Rename(f.Name(), moved), os.Link(moved, filepath.Join(dir, "a", "link")), os.Remove(moved))
}

func fetch(url string) error {
	resp, err := http.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if string(body) != "ok" {
		err = errors.Join(err, fmt.Errorf("got %q", body))
	}
	return err
}

// manyThreads makes the runtime start threads: each goroutine blocks one in a read.
func manyThreads() error {
	release, err := parkThreads(32)
	if err != nil {
		return err
	}
	release()
	return nil
}

// parkThreads starts n goroutines, each on a thread that sits in a system call. The function that it returns lets them
// go on: each tries to read /etc/passwd, and its error is returned.
func parkThreads(n int) (func() []error, error) {
	ctx, cancel := context.WithCancel(context.Background())
	parked, errs := make(chan struct{}), make([]error, n)
	var wg sync.WaitGroup
	r := make([]int, 2)
	if err := unix.Pipe(r); err != nil {
		cancel()
		return nil, err
	}
	for i := range n {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			parked <- struct{}{}
			var b [1]byte
			_, errs[i] = unix.Read(r[0], b[:])
			<-ctx.Done()
			_, errs[i] = os.ReadFile("/etc/passwd")
		})
	}
	for range n {
		<-parked
	}
	return func() []error {
		unix.Write(r[1], make([]byte, n))
		cancel()
		wg.Wait()
		unix.Close(r[0])
		unix.Close(r[1])
		return errs
	}, nil
}
