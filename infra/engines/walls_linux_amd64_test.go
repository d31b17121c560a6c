package engines

import (
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The walls hold against machine code: a process of an engine makes the system calls of an exploit.
func TestOwnedCodeReachesNothing(t *testing.T) {
	for name, c := range map[string]Config{
		"v8": {Command: []string{"node", "--jitless", "--single-threaded", "-e",
			`const fs = require('fs'), b = Buffer.alloc(1); fs.readSync(0, b); fs.writeSync(1, '{"ready":1}\n');
fs.readSync(0, b)`}},
		"jsc": {Env: []string{"Malloc=1", "GIGACAGE_ENABLED=0"}, Command: []string{"jsc", "--useJIT=0",
			"--useConcurrentGC=0", "--numberOfGCMarkers=1", "--usePollingTraps=1", "-e",
			`readline(); print('{"ready":1}'); readline()`}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(c.Command[0]); err != nil {
				t.Skip(err)
			}
			c.Name, c.Program, c.StartTimeout = name, []byte("\n"), time.Minute
			c.Logger = slog.New(slog.DiscardHandler)
			for _, c.JIT = range []bool{false, true} {
				t.Run(fmt.Sprintf("jit %v", c.JIT), func(t *testing.T) { ownedCodeReachesNothing(t, c) })
			}
		})
	}
}

// needed are the system calls that an engine computes with. Every other one is refused.
var needed = []uintptr{
	unix.SYS_BRK, unix.SYS_MADVISE, unix.SYS_MMAP, unix.SYS_MPROTECT, unix.SYS_MREMAP, unix.SYS_MUNMAP,
	unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_FUTEX, unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_RESTART_SYSCALL,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SCHED_YIELD, unix.SYS_SIGALTSTACK,
	unix.SYS_CLOCK_GETRES, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_GETRANDOM, unix.SYS_GETRUSAGE,
	unix.SYS_GETTIMEOFDAY, unix.SYS_NANOSLEEP, unix.SYS_TIME, unix.SYS_POLL, unix.SYS_PPOLL, unix.SYS_READ,
	unix.SYS_READV, unix.SYS_WRITE, unix.SYS_WRITEV,
}

// The kernel itself lets these through each filter. It refuses them to a process that it does not probe.
const uretprobe, uprobe = 335, 336

func ownedCodeReachesNothing(t *testing.T, cfg Config) {
	t.Helper()
	runtime.LockOSThread() // the thread that traces; it ends with the test
	made, err := newTemplate(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer made.close()
	conn, end, err := pair()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	child, err := made.thread.fork()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Kill(child.id, unix.SIGKILL)
	socket := int(end.Fd())
	if _, _, err = made.courier.WriteMsgUnix([]byte{0}, unix.UnixRights(socket, socket, socket), nil); err != nil {
		t.Fatal(err)
	}
	end.Close()
	// Once it is enclosed, only root could write to its memory.
	at := child.scratch() + scratchBytes - 128
	if err := child.write(at, append([]byte("/etc/passwd\x00"), make([]byte, 52)...)); err != nil {
		t.Fatal(err)
	}
	if err := made.enclose(child, false); err != nil {
		t.Fatal(err)
	}
	parent := uint64(unix.Getpid())
	const rwx = unix.PROT_READ | unix.PROT_WRITE | unix.PROT_EXEC
	const anonymous = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS
	for _, c := range []struct {
		name string
		nr   uintptr
		args []uint64
	}{
		{"open", unix.SYS_OPEN, []uint64{at}}, {"openat", unix.SYS_OPENAT, []uint64{^uint64(99), at}},
		{"openat2", unix.SYS_OPENAT2, nil}, {"stat", unix.SYS_STAT, []uint64{at}}, {"statx", unix.SYS_STATX, nil},
		{"readlink", unix.SYS_READLINK, nil}, {"getdents", unix.SYS_GETDENTS64, []uint64{0}},
		{"unlink", unix.SYS_UNLINK, []uint64{at}}, {"chmod", unix.SYS_CHMOD, []uint64{at}},
		{"chroot", unix.SYS_CHROOT, []uint64{at}},
		{"mount", unix.SYS_MOUNT, nil}, {"handle", unix.SYS_OPEN_BY_HANDLE_AT, nil}, {"pipe", unix.SYS_PIPE2, []uint64{at}},
		{"memfd", unix.SYS_MEMFD_CREATE, []uint64{at}}, {"memfd secret", unix.SYS_MEMFD_SECRET, nil},
		{"execve", unix.SYS_EXECVE, []uint64{at}}, {"execveat", unix.SYS_EXECVEAT, nil}, {"fork", unix.SYS_FORK, nil},
		{"vfork", unix.SYS_VFORK, nil}, {"clone", unix.SYS_CLONE, []uint64{uint64(unix.SIGCHLD)}},
		{"thread", unix.SYS_CLONE, []uint64{unix.CLONE_THREAD | unix.CLONE_VM | unix.CLONE_SIGHAND}},
		{"clone3", unix.SYS_CLONE3, nil}, {"unshare", unix.SYS_UNSHARE, []uint64{unix.CLONE_NEWUSER}},
		{"setns", unix.SYS_SETNS, nil}, {"ptrace", unix.SYS_PTRACE, []uint64{unix.PTRACE_SEIZE, parent}},
		{"read parent", unix.SYS_PROCESS_VM_READV, []uint64{parent}},
		{"write parent", unix.SYS_PROCESS_VM_WRITEV, []uint64{parent}}, {"kill parent", unix.SYS_KILL, []uint64{parent}},
		{"kill itself", unix.SYS_KILL, []uint64{uint64(child.id)}}, {"tgkill", unix.SYS_TGKILL, []uint64{parent, parent}},
		{"queue signal", unix.SYS_RT_SIGQUEUEINFO, []uint64{parent}}, {"pidfd", unix.SYS_PIDFD_OPEN, []uint64{parent}},
		{"descriptor of parent", unix.SYS_PIDFD_GETFD, nil}, {"limits", unix.SYS_PRLIMIT64, []uint64{0, unix.RLIMIT_DATA}},
		{"limits of parent", unix.SYS_PRLIMIT64, []uint64{parent, unix.RLIMIT_DATA}},
		{"raise limit", unix.SYS_SETRLIMIT, []uint64{unix.RLIMIT_DATA, at}},
		{"prctl", unix.SYS_PRCTL, []uint64{unix.PR_SET_DUMPABLE, 1}}, {"seccomp", unix.SYS_SECCOMP, nil},
		{"landlock", unix.SYS_LANDLOCK_RESTRICT_SELF, nil}, {"personality", unix.SYS_PERSONALITY, []uint64{0x0040000}},
		{"bpf", unix.SYS_BPF, nil}, {"io_uring", unix.SYS_IO_URING_SETUP, []uint64{1, at}},
		{"io_uring enter", unix.SYS_IO_URING_ENTER, nil}, {"keyctl", unix.SYS_KEYCTL, nil},
		{"userfaultfd", unix.SYS_USERFAULTFD, nil}, {"perf", unix.SYS_PERF_EVENT_OPEN, nil},
		{"module", unix.SYS_INIT_MODULE, nil}, {"kexec", unix.SYS_KEXEC_LOAD, nil}, {"setuid", unix.SYS_SETUID, nil},
		{"socket", unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM}},
		{"unix socket", unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_STREAM}},
		{"vsock", unix.SYS_SOCKET, []uint64{unix.AF_VSOCK, unix.SOCK_STREAM}},
		{"socket pair", unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_STREAM, 0, at}},
		{"connect", unix.SYS_CONNECT, []uint64{0, at, 16}}, {"bind", unix.SYS_BIND, []uint64{0, at, 16}},
		{"sendmsg", unix.SYS_SENDMSG, []uint64{0, at}}, {"sendto", unix.SYS_SENDTO, []uint64{0, at, 1}},
		{"recvmsg", unix.SYS_RECVMSG, []uint64{0, at}}, {"setsockopt", unix.SYS_SETSOCKOPT, nil},
		{"dup", unix.SYS_DUP, []uint64{0}}, {"fcntl", unix.SYS_FCNTL, []uint64{0, unix.F_SETOWN, parent}},
		{"ioctl", unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI, at}}, {"shared memory", unix.SYS_SHMGET, nil},
		{"message queue", unix.SYS_MSGGET, nil}, {"semaphores", unix.SYS_SEMGET, nil}, {"mq", unix.SYS_MQ_OPEN, nil},
		{"scheduler", unix.SYS_SCHED_SETSCHEDULER, []uint64{parent}}, {"timer", unix.SYS_TIMER_CREATE, nil},
		{"splice", unix.SYS_SPLICE, nil}, {"vmsplice", unix.SYS_VMSPLICE, nil}, {"modify_ldt", unix.SYS_MODIFY_LDT, nil},
		{"abstract socket", unix.SYS_SENDTO, []uint64{0, at, 1, 0, at + 11, 5}}, {"watch", unix.SYS_INOTIFY_INIT1, nil},
		{"signal by pidfd", unix.SYS_PIDFD_SEND_SIGNAL, []uint64{0, uint64(unix.SIGKILL)}},
		{"advise parent", unix.SYS_PROCESS_MADVISE, nil}, {"kill a thread", unix.SYS_TKILL, []uint64{parent}},
		{"move parent", unix.SYS_SCHED_SETAFFINITY, []uint64{parent, 8, at}}, {"compare", unix.SYS_KCMP, []uint64{parent}},
		{"key of memory", unix.SYS_PKEY_MPROTECT, []uint64{at &^ 4095, 4096, rwx, 0}},
		{"32-bit call", 0x40000000 + unix.SYS_GETPID, nil},
	} {
		if _, err := child.do(c.nr, c.args...); !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOSYS) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if !cfg.JIT {
		for name, c := range map[string]struct {
			nr   uintptr
			args []uint64
		}{
			"executable memory":      {unix.SYS_MMAP, []uint64{0, 4096, rwx, anonymous, ^uint64(0), 0}},
			"memory made executable": {unix.SYS_MPROTECT, []uint64{at &^ 4095, 4096, rwx}},
		} {
			if _, err := child.do(c.nr, c.args...); !errors.Is(err, unix.EPERM) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for nr := uintptr(0); nr < 512; nr++ {
		if slices.Contains(needed, nr) || nr == uretprobe || nr == uprobe {
			continue
		}
		if _, err := child.do(nr); !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOSYS) {
			t.Errorf("system call %d: %v", nr, err)
		}
	}
	for fd := uint64(3); fd < 256; fd++ {
		if _, err := child.do(unix.SYS_READ, fd, at, 1); !errors.Is(err, unix.EBADF) {
			t.Errorf("descriptor %d is open: %v", fd, err)
		}
	}
	for _, c := range []struct {
		name string
		nr   uintptr
		args []uint64
	}{
		{"getpid", unix.SYS_GETPID, nil}, {"write", unix.SYS_WRITE, []uint64{1, at, 1}},
		{"memory", unix.SYS_MMAP, []uint64{0, 4096, unix.PROT_READ | unix.PROT_WRITE, anonymous, ^uint64(0), 0}},
		{"clock", unix.SYS_CLOCK_GETTIME, []uint64{unix.CLOCK_MONOTONIC, at}},
	} {
		if _, err := child.do(c.nr, c.args...); err != nil {
			t.Errorf("%s, which an engine needs: %v", c.name, err)
		}
	}
}
