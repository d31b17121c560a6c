package lockdown

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// filters returns the filters of a configuration.
func filters(t *testing.T, cfg Config) (programs [][]bpf.Instruction) {
	t.Helper()
	policies, err := policiesOf(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range policies {
		program, err := p.Assemble()
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, program)
	}
	return programs
}

// engineFilters returns the filters of a process of another engine that may not make code.
func engineFilters(t *testing.T) (programs [][]bpf.Instruction) {
	t.Helper()
	texts, err := EnginePrograms(false)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		var raw []bpf.RawInstruction
		for ; len(text) > 0; text = text[8:] {
			raw = append(raw, bpf.RawInstruction{Op: binary.LittleEndian.Uint16(text), Jt: text[2], Jf: text[3],
				K: binary.LittleEndian.Uint32(text[4:])})
		}
		program, all := bpf.Disassemble(raw)
		if !all {
			t.Fatal("the filter of an engine does not disassemble")
		}
		programs = append(programs, program)
	}
	return programs
}

// machines runs filters without a kernel, which may refuse calls for reasons of its own.
func machines(t *testing.T, programs [][]bpf.Instruction) func(nr, architecture uint32, args ...uint64) (allowed bool) {
	t.Helper()
	var all []*bpf.VM
	for _, program := range programs {
		vm, err := bpf.NewVM(program)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, vm)
	}
	return func(nr, architecture uint32, args ...uint64) bool {
		call := binary.BigEndian.AppendUint32(nil, nr) // the machine reads words of networks
		call = binary.BigEndian.AppendUint32(call, architecture)
		call = binary.BigEndian.AppendUint64(call, 0)
		for i := range 6 {
			arg := uint64(0)
			if i < len(args) {
				arg = args[i]
			}
			call = binary.BigEndian.AppendUint32(call, uint32(arg))
			call = binary.BigEndian.AppendUint32(call, uint32(arg>>32))
		}
		for _, vm := range all {
			verdict, err := vm.Run(call)
			if err != nil {
				t.Fatal(err)
			}
			if uint32(verdict) != uint32(seccomp.ActionAllow) {
				return false
			}
		}
		return true
	}
}

var configurations = map[string]Config{"sealed": {Sealed: true}, "plain": {}, "network": {Network: true}}

// families are what no function process may do, whatever its configuration.
var families = map[string]string{
	"trace and read others": "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp",
	"descriptors of others": "pidfd_open pidfd_getfd pidfd_send_signal",
	"signals to others":     "tkill rt_sigqueueinfo rt_tgsigqueueinfo",
	"programs and processes": "execve execveat fork vfork clone3 wait4 waitid setns unshare setsid setpgid " +
		"acct",
	"queues past the filters": "io_uring_setup io_uring_enter io_uring_register io_setup io_submit",
	"the kernel": "bpf perf_event_open userfaultfd keyctl add_key request_key init_module finit_module " +
		"delete_module kexec_load kexec_file_load reboot syslog lookup_dcookie iopl ioperm modify_ldt sysfs personality " +
		"quotactl swapon swapoff settimeofday clock_settime adjtimex clock_adjtime sethostname setdomainname vhangup",
	"mounts": "mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick move_mount open_tree mount_setattr",
	"walls":  "seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self capset setrlimit",
	"users":  "setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid",
	"memory and messages of others": "shmget shmat shmctl shmdt semget semop semctl semtimedop msgget msgsnd msgrcv " +
		"msgctl mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify memfd_secret remap_file_pages mbind " +
		"migrate_pages move_pages",
	"watching": "inotify_init inotify_init1 inotify_add_watch fanotify_init fanotify_mark signalfd signalfd4 " +
		"timerfd_create",
	"files by handle": "name_to_handle_at open_by_handle_at",
	"modes, owners and nodes": "chmod fchmod fchmodat chown fchown lchown fchownat mknod mknodat setxattr lsetxattr " +
		"fsetxattr utimensat umask",
	"servers":            "listen accept accept4 socketpair",
	"others' scheduling": "sched_setaffinity sched_setscheduler sched_setattr sched_setparam setpriority ioprio_set",
}

// sealedFamilies are what a sealed process may not do besides.
const sealedFamilies = "socket connect bind sendto sendmsg sendmmsg recvfrom recvmmsg setsockopt open openat " +
	"openat2 creat " +
	"stat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat rename renameat renameat2 link linkat " +
	"symlink symlinkat unlink unlinkat mkdir mkdirat rmdir truncate getdents getdents64 chdir fchdir getcwd " +
	"statfs fstatfs " +
	"pipe pipe2 splice tee vmsplice sendfile copy_file_range fallocate flock preadv2 pwritev2 fsync fdatasync"

// The filters refuse every family of calls by which native code could reach beyond its process, and each call whose
// number no list has, whatever its arguments are.
func TestFiltersRefuse(t *testing.T) {
	t.Parallel()
	info, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	sealed := slices.Concat(computing(), inherited())
	open := slices.Concat(sealed, filing(), connecting(), networking())
	for name, c := range map[string]struct {
		programs [][]bpf.Instruction
		lists    []string
		sealed   bool
	}{
		"sealed": {filters(t, Config{Sealed: true}), sealed, true}, "engine": {engineFilters(t), engineCalls(), true},
		"plain": {filters(t, Config{}), open, false}, "network": {filters(t, Config{Network: true}), open, false},
	} {
		allowed := machines(t, c.programs)
		architecture := uint32(info.ID)
		arguments := [][]uint64{nil}
		for _, call := range []string{"read", "write", "mmap", "futex", "close"} { // numbers of calls that are allowed
			n := uint64(info.SyscallNames[call])
			arguments = append(arguments, []uint64{n, n, n, n, n, n})
		}
		refuses := func(call string) {
			nr, known := info.SyscallNames[call]
			if !known {
				if info.ID == arch.X86_64.ID { // other architectures lack some of them
					t.Errorf("there is no call %q", call)
				}
				return
			}
			for _, args := range arguments {
				if allowed(uint32(nr), architecture, args...) {
					t.Errorf("%s: %s is allowed with %v", name, call, args)
				}
			}
		}
		for _, family := range families {
			for call := range strings.FieldsSeq(family) {
				refuses(call)
			}
		}
		if c.sealed {
			for call := range strings.FieldsSeq(sealedFamilies) {
				refuses(call)
			}
		}
		for nr := range uint32(2048) {
			if call := info.SyscallNumbers[int(nr)]; slices.Contains(c.lists, call) {
				continue
			}
			for _, args := range arguments {
				if allowed(nr, architecture, args...) {
					t.Errorf("%s: the call %d is allowed with %v", name, nr, args)
				}
			}
		}
	}
}

// A call by the numbers of another architecture, of x32 or of i386, is refused, whatever its number means there.
func TestFiltersRefuseOtherArchitectures(t *testing.T) {
	t.Parallel()
	info, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][][]bpf.Instruction{"engine": engineFilters(t)}
	for name, cfg := range configurations {
		all[name] = filters(t, cfg)
	}
	for name, programs := range all {
		allowed := machines(t, programs)
		if !allowed(uint32(info.SyscallNames["getpid"]), uint32(info.ID)) {
			t.Errorf("%s: getpid is refused", name)
		}
		for nr := range uint32(1024) {
			for _, other := range []uint32{unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_ARM, unix.AUDIT_ARCH_RISCV64, 0} {
				if other != uint32(info.ID) && allowed(nr, other) {
					t.Errorf("%s: the call %d of architecture %#x is allowed", name, nr, other)
				}
			}
			if info.ID == arch.X86_64.ID && allowed(nr|0x40000000, uint32(info.ID)) {
				t.Errorf("%s: the call %d of x32 is allowed", name, nr)
			}
		}
	}
}

// Of calls that a process needs, only the uses that it needs are allowed.
func TestFiltersRefuseUses(t *testing.T) {
	t.Parallel()
	info, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	self := uint64(os.Getpid())
	const thread = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_SYSVSEM |
		unix.CLONE_THREAD
	for _, c := range []struct {
		call    string
		args    []uint64
		allowed bool
		in      string // the only configuration; "" is all
	}{
		{"clone", []uint64{thread}, true, ""}, {"clone", []uint64{uint64(unix.SIGCHLD)}, false, ""},
		{"clone", []uint64{thread | unix.CLONE_NEWUSER}, false, ""},
		{"clone", []uint64{thread | unix.CLONE_NEWNET}, false, ""},
		{"kill", []uint64{self, 0}, true, ""}, {"kill", []uint64{1, 9}, false, ""},
		{"kill", []uint64{1<<64 - 1, 9}, false, ""}, {"kill", []uint64{-self, 9}, false, ""},
		{"kill", []uint64{0, 9}, false, ""},
		{"kill", []uint64{self | 1<<32, 9}, false, ""},
		{"tgkill", []uint64{self, self, 0}, true, ""}, {"tgkill", []uint64{1, 1, 9}, false, ""},
		{"prlimit64", []uint64{0, unix.RLIMIT_NOFILE, 0, 1}, true, ""}, {"prlimit64", []uint64{1, 7, 0, 1}, false, ""},
		{"prlimit64", []uint64{0, unix.RLIMIT_NOFILE, 1}, false, ""},
		{"prctl", []uint64{unix.PR_SET_VMA}, true, ""}, {"prctl", []uint64{unix.PR_SET_DUMPABLE, 1}, false, ""},
		{"prctl", []uint64{unix.PR_SET_PTRACER, 1}, false, ""}, {"prctl", []uint64{unix.PR_SET_SECCOMP}, false, ""},
		{"prctl", []uint64{unix.PR_SET_PDEATHSIG}, false, ""}, {"prctl", []uint64{unix.PR_SET_MM}, false, ""},
		{"ioctl", []uint64{0, pagemapScan}, true, ""}, {"ioctl", []uint64{0, unix.TIOCSTI}, false, ""},
		{"ioctl", []uint64{0, unix.TIOCLINUX}, false, ""}, {"ioctl", []uint64{0, pagemapScan | 1<<32}, false, ""},
		{"fcntl", []uint64{0, unix.F_GETFL}, true, ""}, {"fcntl", []uint64{0, unix.F_SETOWN, 1}, false, ""},
		{"fcntl", []uint64{0, unix.F_SETOWN_EX, 1}, false, ""}, {"fcntl", []uint64{0, unix.F_SETSIG, 9}, false, ""},
		{"fcntl", []uint64{0, unix.F_SETLEASE}, false, ""}, {"fcntl", []uint64{0, unix.F_NOTIFY}, false, ""},
		{"fcntl", []uint64{0, unix.F_SETPIPE_SZ, 1 << 30}, false, "sealed"},
		{"socket", []uint64{unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK}, true, "plain"},
		{"socket", []uint64{unix.AF_INET, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK}, false, "plain"},
		{"socket", []uint64{unix.AF_UNIX, unix.SOCK_STREAM}, false, ""},
		{"socket", []uint64{unix.AF_NETLINK, unix.SOCK_RAW}, false, ""},
		{"socket", []uint64{unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP}, false, ""},
		{"socket", []uint64{unix.AF_PACKET, unix.SOCK_RAW}, false, ""}, {"socket", []uint64{unix.AF_VSOCK, 1}, false, ""},
	} {
		for name, cfg := range configurations {
			if c.in != "" && c.in != name {
				continue
			}
			allowed := machines(t, filters(t, cfg))
			if got := allowed(uint32(info.SyscallNames[c.call]), uint32(info.ID), c.args...); got != c.allowed {
				t.Errorf("%s: %s is allowed: %v, want %v", name, fmt.Sprint(c.call, c.args), got, c.allowed)
			}
		}
	}
}
