package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/sealed"
)

// attemptsMark begins the code of an execution that stands for native code in a function process. The rest of the
// comment is the plan of what it tries.
const attemptsMark = "/*attempts "

// attemptsPlan holds the targets of the attempts.
type attemptsPlan struct {
	Records, Record, State, Cache, Working string // files and folders
	Gateway                                string // host:port
	Abstract                               string // an abstract socket of another process
	Secret                                 string // the name of a secret that the execution was not granted
}

// attemptsReport holds their outcomes.
type attemptsReport struct {
	Attempts    map[string]string // "" is success
	Environment []string
	Syscalls    []string // those that were neither refused nor on the list
	Descriptors []string // what is open and could be written, and every folder
	Parent      int
}

// tryAttempts runs marked executions as native code, which is what a guest is that has broken out of WebAssembly.
func tryAttempts(run events.Run, outside *sealed.Outside) events.Run {
	return func(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Result, error) {
		res, err := run(ctx, inv, onLog)
		plan, marked := strings.CutPrefix(inv.Request.Code, attemptsMark)
		if err != nil || !marked {
			return res, err
		}
		plan, _, _ = strings.Cut(plan, "*/")
		var p attemptsPlan
		if err := json.Unmarshal([]byte(plan), &p); err != nil {
			return res, err
		}
		report := attemptsReport{Attempts: map[string]string{}, Environment: os.Environ(), Parent: os.Getppid(),
			Syscalls: sweep(), Descriptors: descriptors()}
		for name, attempt := range attempts(p, outside) {
			report.Attempts[name] = ""
			if err := attempt(); err != nil {
				report.Attempts[name] = err.Error()
			}
		}
		res.Result, err = json.Marshal(report)
		return res, err
	}
}

// attempts returns what native code tries. All of it must fail, except those that begin with "may".
func attempts(p attemptsPlan, outside *sealed.Outside) map[string]func() error {
	parent := os.Getppid()
	of := func(name string) string { return fmt.Sprintf("/proc/%d/%s", parent, name) }
	out := map[string]func() error{
		"may use memory": func() error { _ = make([]byte, 8<<20); return nil },

		"write a record":           func() error { return os.WriteFile(filepath.Join(p.Records, "forged"), nil, 0o600) },
		"remove a record":          func() error { return os.Remove(p.Record) },
		"move a record":            func() error { return os.Rename(p.Record, p.Record+".gone") },
		"empty a record":           func() error { return os.Truncate(p.Record, 0) },
		"make a folder":            func() error { return os.Mkdir(filepath.Join(p.Records, "new"), 0o700) },
		"replace the engine":       func() error { return os.WriteFile(filepath.Join(p.Cache, "image-forged"), nil, 0o600) },
		"write to the working dir": func() error { return os.WriteFile(filepath.Join(p.Working, "x"), nil, 0o600) },
		"write to /tmp": func() error {
			return os.WriteFile(filepath.Join(os.TempDir(), "airlock-attempt"), nil,
				0o600)
		},
		"change folder": func() error { return os.Chdir(p.Records) },

		"signal the parent":           func() error { return syscall.Kill(parent, 0) },
		"signal everything":           func() error { return syscall.Kill(-1, 0) },
		"signal a thread of it":       errnoOf(unix.SYS_TGKILL, uintptr(parent), uintptr(parent), 0),
		"signals by a descriptor":     errnoOf(unix.SYS_FCNTL, 0, unix.F_SETOWN, uintptr(parent)),
		"limits of the parent":        errnoOf(unix.SYS_PRLIMIT64, uintptr(parent), unix.RLIMIT_NOFILE, 0, 0),
		"be dumped again":             func() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) },
		"memory as a program":         memoryAsProgram,
		"fork":                        errnoOf(unix.SYS_CLONE, uintptr(syscall.SIGCHLD)),
		"start a program":             func() error { return exec.Command("/bin/true").Run() },
		"start a program in place":    func() error { return syscall.Exec("/bin/true", []string{"true"}, nil) },
		"listen":                      func() error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err },
		"the gateway over UDP":        dialed("udp", p.Gateway),
		"an abstract socket":          dialed("unix", p.Abstract),
		"a path socket":               dialed("unix", "/var/run/docker.sock"),
		"names over UDP":              dialed("udp", "127.0.0.53:53"),
		"a secret through the broker": func() error { return known(outside.Secret(p.Secret)) },
		"a key through the broker":    func() error { return known(outside.Secret("AUDIT_CHAIN_KEY")) },
		"a file through the broker":   func() error { return known(outside.Secret("../../etc/passwd")) },
		"a path, through the broker":  connected(outside, "/var/run/docker.sock", 1),
		"a socket of a raw message":   func() error { return errnoOf(unix.SYS_SENDMSG, 3, 0, 0)() },
	}
	for _, path := range []string{
		p.Records, p.Record, p.State, p.Cache, p.Working, "/etc/passwd", "/etc/hosts", "/etc/ssl/certs", "/", "/tmp", "/proc",
		"/sys",
		"/dev/null", "/proc/self/environ", "/proc/self/mem", "/proc/self/maps", "/proc/self/fd", "/proc/self/exe",
		of("environ"), of("mem"),
		of("maps"), of("fd"), of("fd/3"), of("cmdline"), of("root/etc/passwd"), of("cwd"), of("task"), "/proc/1/environ",
		"/proc/net/tcp",
	} {
		out["open "+path] = func() error {
			f, err := os.Open(path)
			if err == nil {
				_ = f.Close()
			}
			return err
		}
		out["look at "+path] = func() error { _, err := os.Lstat(path); return err }
		out["follow "+path] = errnoPath(path)
	}
	for name, host := range map[string]string{
		"the gateway": p.Gateway, "the metadata service": "169.254.169.254:80", "this machine": "127.0.0.1:22",
		"over IPv6":         "[::1]:22",
		"a private network": "10.0.0.1:443", "anybody": "93.184.216.34:443",
	} {
		out[name+" over TCP"] = dialed("tcp", host)
		at, text, _ := net.SplitHostPort(host)
		port, _ := net.LookupPort("tcp", text)
		out[name+" through the broker"] = connected(outside, at, uint16(port))
	}
	out["may start threads"] = func() error {
		done := make(chan struct{})
		for range 16 {
			go func() { runtime.LockOSThread(); done <- struct{}{} }()
		}
		for range 16 {
			<-done
		}
		return nil
	}
	return out
}

// descriptors returns the open descriptors that lead to a file that can be written, a folder or a device.
func descriptors() (out []string) {
	for fd := range 4096 {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) != nil {
			continue
		}
		switch kind := st.Mode & unix.S_IFMT; {
		case kind == unix.S_IFSOCK, kind == unix.S_IFIFO, kind == 0: // an object of the kernel, such as epoll
		case kind == unix.S_IFCHR && st.Rdev == unix.Mkdev(1, 3): // /dev/null
		case kind == unix.S_IFREG && st.Nlink == 0: // memory, or a file without a name
		case kind == unix.S_IFREG && readOnly(fd): // Go's runtime reads limits of the system, and certificates are public
		default:
			out = append(out, fmt.Sprintf("%d: mode %o, device %d, inode %d", fd, st.Mode, st.Dev, st.Ino))
		}
	}
	return out
}

func readOnly(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_ACCMODE == unix.O_RDONLY
}

func known(secret string) error {
	if secret == "" {
		return errors.New("it is not to be had")
	}
	return nil
}

func connected(outside *sealed.Outside, host string, port uint16) func() error {
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		c, err := outside.Connect(ctx, host, port)
		if err == nil {
			_ = c.Close()
		}
		var refused sealed.RefusedError
		if err != nil && !errors.As(err, &refused) {
			return nil // the attempt was made
		}
		return err
	}
}

func dialed(network, address string) func() error {
	return func() error {
		c, err := net.DialTimeout(network, address, time.Second)
		if err == nil {
			_ = c.Close()
			return nil
		}
		if !errors.Is(err, unix.EPERM) {
			return nil // the attempt reached the network
		}
		return err
	}
}

// errnoOf makes a system call. Only the refusal of a filter counts as a failure.
func errnoOf(nr uintptr, args ...uintptr) func() error {
	return func() error {
		var a [6]uintptr
		copy(a[:], args)
		pid, _, errno := syscall.RawSyscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
		if nr == unix.SYS_CLONE && errno == 0 && pid == 0 {
			syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
		if errno == unix.EPERM || errno == unix.ENOSYS {
			return errno
		}
		return nil
	}
}

// memoryAsProgram writes a program to memory and starts that.
func memoryAsProgram() error {
	fd, err := unix.MemfdCreate("program", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if _, err := unix.Write(fd, []byte("#!/bin/true\n")); err != nil {
		return err
	}
	return errnoOf(unix.SYS_EXECVEAT, uintptr(fd), 0, 0, 0, unix.AT_EMPTY_PATH)()
}

func errnoPath(path string) func() error {
	return func() error {
		name, buf := append([]byte(path), 0), make([]byte, 256)
		at := unix.AT_FDCWD
		_, _, errno := syscall.RawSyscall6(unix.SYS_READLINKAT, uintptr(at), uintptr(unsafe.Pointer(&name[0])),
			uintptr(unsafe.Pointer(&buf[0])), 256, 0, 0)
		if errno == unix.EPERM {
			return errno
		}
		return nil
	}
}

// sweep makes every system call that a sealed process does not need, and returns those that no filter refused. It
// leaves out the calls that such a process may make, which it lists itself.
func sweep() []string {
	may := map[string]bool{}
	for name := range strings.FieldsSeq(`
		brk madvise membarrier memfd_create mincore mmap mprotect mremap msync munmap
		arch_prctl clone exit exit_group futex getcpu getpid getppid gettid kill prctl restart_syscall rseq rt_sigaction
		rt_sigprocmask rt_sigreturn sched_getaffinity sched_yield set_robust_list set_tid_address sigaltstack tgkill
		clock_getres clock_gettime clock_nanosleep getegid geteuid getgid getrandom getrlimit getrusage gettimeofday getuid
		nanosleep prlimit64 setitimer sysinfo time timer_create timer_delete timer_settime times uname
		epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd2 poll ppoll pselect6 select
		close close_range dup dup2 dup3 fcntl fstat ftruncate getpeername getsockname getsockopt lseek pread64 preadv
		pwrite64 pwritev read readv recvmsg shutdown write writev`) {
		may[name] = true
	}
	info, err := arch.GetInfo("")
	if err != nil {
		return []string{err.Error()}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var reached []string
	for nr := range 1024 {
		name := info.SyscallNumbers[nr]
		if may[name] || runtime.GOARCH == "amd64" && (nr == 335 || nr == 336) {
			continue // uretprobe and uprobe: the kernel itself ends who calls them from anywhere but its own trampoline
		}
		_, _, errno := syscall.RawSyscall6(uintptr(nr), 0, 0, 0, 0, 0, 0)
		if errno != unix.EPERM && errno != unix.ENOSYS {
			reached = append(reached, fmt.Sprintf("%d %s: %v", nr, name, errno))
		}
	}
	return reached
}
