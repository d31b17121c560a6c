package engines

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/infra/lockdown"
)

// A template is a stopped engine, which waits for a job that it never gets. Only the thread that made it may use it.
type template struct {
	cmd    *exec.Cmd
	thread *thread
	// courier takes the socket of each fork to it.
	courier *net.UnixConn
	walls   []string
	// pages are those that forks get ahead of their job; nil for none.
	pages *pages
	log   *slog.Logger

	// Offsets in the scratch memory of the thread, and so in that of every fork.
	program uint64 // sock_fprog
	message uint64 // msghdr
	rights  uint64 // its control message
}

// standard is how many descriptors an engine has: its input, its output and that for errors.
const standard = 3

// courierDescriptor is the other end of the courier in the engine.
const courierDescriptor = standard

// newTemplate starts the engine, waits until it is ready, and stops it.
func newTemplate(ctx context.Context, cfg Config) (_ *template, err error) {
	link, linkEnd, err := pair()
	if err != nil {
		return nil, err
	}
	defer closeAll(link, linkEnd)
	courier, courierEnd, err := pair()
	if err != nil {
		return nil, err
	}
	defer closeAll(courierEnd)
	t := &template{courier: courier, log: cfg.Logger.With("engine", cfg.Name)}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	t.cmd = exec.Command(cfg.Command[0], cfg.Command[1:]...)
	t.cmd.Dir, t.cmd.Env = "/", append([]string{}, cfg.Env...)
	t.cmd.Stdin, t.cmd.Stdout, t.cmd.Stderr = linkEnd, linkEnd, linkEnd
	t.cmd.ExtraFiles = []*os.File{courierEnd}
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := t.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the engine: %w", err)
	}
	lockdown.EndFirst(t.cmd.Process.Pid) // its forks inherit that
	closeAll(linkEnd, courierEnd)        // if only the engine holds them, a read of the link shows when it ends
	if err := converse(ctx, link, cfg.Program, cfg.StartTimeout); err != nil {
		return nil, err
	}
	if len(cfg.Warm) > 0 {
		if err := converse(ctx, link, cfg.Warm, cfg.StartTimeout); err != nil {
			return nil, fmt.Errorf("warm the engine: %w", err)
		}
	}
	if t.thread, err = t.hold(ctx, cfg.StartTimeout); err != nil {
		return nil, err
	}
	if err := t.wallIn(cfg); err != nil {
		return nil, err
	}
	if err := t.rehearse(ctx, cfg); err != nil && ctx.Err() == nil {
		t.log.Warn("processes of the engine get no memory ahead of their job", "error", err)
	}
	return t, ctx.Err()
}

// hold stops the engine when it waits for its job.
func (t *template) hold(ctx context.Context, within time.Duration) (*thread, error) {
	id := t.cmd.Process.Pid
	for deadline := time.Now().Add(within); ; {
		what, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", id))
		if err != nil {
			return nil, fmt.Errorf("look at the engine: %w", err)
		}
		if string(what[:min(len(what), 6)]) == fmt.Sprintf("%d 0x0 ", unix.SYS_READ) {
			return seize(id)
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return nil, errors.New("the engine does not wait for a job")
		}
		time.Sleep(time.Millisecond)
	}
}

// wallIn builds the walls that the template can have itself, and prepares those of its forks.
func (t *template) wallIn(cfg Config) error {
	if err := t.thread.inheritAll(); err != nil {
		return err
	}
	if _, err := t.thread.do(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	t.walls = append(t.walls, string(lockdown.NoNewPrivs))
	none := unix.Rlimit{}
	if err := unix.Prlimit(t.thread.id, unix.RLIMIT_CORE, &none, nil); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	to := writer{thread: t.thread, at: t.thread.scratch()}
	if err := t.landlock(&to); err != nil {
		return err
	}
	programs, err := lockdown.EnginePrograms(cfg.JIT)
	if err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	// The last forbids what a fork still does to build its walls. Forks inherit the others.
	for i, program := range programs {
		at := to.put(program)
		head := binary.LittleEndian.AppendUint64(nil, uint64(len(program)/8))
		t.program = to.put(binary.LittleEndian.AppendUint64(head, at))
		if i == len(programs)-1 || to.err != nil {
			break
		}
		if _, err := t.thread.do(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, t.program); err != nil {
			return fmt.Errorf("seccomp: %w", err)
		}
	}
	t.walls = append(t.walls, string(lockdown.Syscalls), string(lockdown.NoFiles), string(lockdown.NoSockets))
	if !cfg.JIT {
		t.walls = append(t.walls, string(lockdown.NoCode))
	}
	t.rights = to.put(make([]byte, unix.CmsgSpace(4*standard)))
	iov := binary.LittleEndian.AppendUint64(nil, to.put(make([]byte, 8)))
	iov = binary.LittleEndian.AppendUint64(iov, 1)
	head := make([]byte, unix.SizeofMsghdr)
	binary.LittleEndian.PutUint64(head[16:], to.put(iov))
	binary.LittleEndian.PutUint64(head[24:], 1)
	binary.LittleEndian.PutUint64(head[32:], t.rights)
	binary.LittleEndian.PutUint64(head[40:], uint64(unix.CmsgSpace(4*standard)))
	t.message = to.put(head)
	// A fork gets its socket in place of these.
	if _, err := t.thread.do(unix.SYS_CLOSE_RANGE, 0, standard-1, 0); err != nil {
		return fmt.Errorf("close the link of the engine: %w", err)
	}
	return to.err
}

// landlock denies the thread, and so its forks, all files, ports and processes outside.
func (t *template) landlock(to *writer) error {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil || abi < 1 {
		return nil // the kernel has no Landlock
	}
	files, size := uint64(1<<13-1), 8
	if abi >= 2 {
		files |= ll.AccessFSRefer
	}
	if abi >= 3 {
		files |= ll.AccessFSTruncate
	}
	if abi >= 5 {
		files |= ll.AccessFSIoctlDev
	}
	attributes := binary.LittleEndian.AppendUint64(nil, files)
	t.walls = append(t.walls, string(lockdown.Files))
	if abi >= 4 {
		attributes = binary.LittleEndian.AppendUint64(attributes, 3) // bind and connect
		size = 16
		t.walls = append(t.walls, string(lockdown.Ports))
	}
	if abi >= 6 {
		attributes = binary.LittleEndian.AppendUint64(attributes, 3) // abstract sockets and signals
		size = 24
		t.walls = append(t.walls, string(lockdown.Signals))
	}
	at := to.put(attributes)
	if to.err != nil {
		return to.err
	}
	rules, err := t.thread.do(unix.SYS_LANDLOCK_CREATE_RULESET, at, uint64(size), 0)
	if err == nil {
		_, err = t.thread.do(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0)
	}
	if err == nil {
		_, err = t.thread.do(unix.SYS_CLOSE, rules)
	}
	if err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return nil
}

// fork returns a process that starts where the template stands, inside its walls.
func (t *template) fork() (*Process, error) {
	p, child, err := t.stand(false)
	if err != nil {
		return nil, err
	}
	if err := child.release(); err != nil {
		p.end()
		return nil, fmt.Errorf("make a process of the engine: %w", err)
	}
	return p, nil
}

// stand returns a process that stands where the template does, inside its walls. Its pages can be seen if visible.
func (t *template) stand(visible bool) (*Process, *thread, error) {
	conn, end, err := pair()
	if err != nil {
		return nil, nil, err
	}
	child, err := t.thread.fork()
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close(), end.Close())
	}
	p := &Process{Conn: conn, PID: child.id}
	if p.handle, err = os.FindProcess(child.id); err != nil {
		return nil, nil, errors.Join(err, conn.Close(), end.Close())
	}
	if err := t.pages.give(child.id); err != nil {
		t.log.Warn("processes of the engine get no more memory ahead of their job", "error", err)
		t.pages = nil
	}
	socket := int(end.Fd())
	_, _, err = t.courier.WriteMsgUnix([]byte{0}, unix.UnixRights(socket, socket, socket), nil)
	if err = errors.Join(err, end.Close()); err == nil {
		err = t.enclose(child, visible)
	}
	if err != nil {
		p.end()
		return nil, nil, fmt.Errorf("make a process of the engine: %w", err)
	}
	return p, child, nil
}

// end ends a process that nobody has got.
func (p *Process) end() {
	_ = p.handle.Kill() // it may have ended
	_, _ = p.handle.Wait()
	_ = p.Conn.Close()
}

// enclose leaves a fork its socket alone and builds its walls. A fork that runs a guest is never visible: nobody can
// trace it.
func (t *template) enclose(child *thread, visible bool) error {
	if _, err := child.do(unix.SYS_RECVMSG, courierDescriptor, t.message, 0); err != nil {
		return fmt.Errorf("receive a socket: %w", err)
	}
	var got [4 * standard]byte
	if err := child.read(t.rights+uint64(unix.SizeofCmsghdr), got[:]); err != nil {
		return err
	}
	if want := [4 * standard]byte{0, 0, 0, 0, 1, 0, 0, 0, 2}; got != want {
		return fmt.Errorf("the socket has the descriptors %v", got)
	}
	calls := [][4]uint64{
		{unix.SYS_CLOSE_RANGE, standard, 1<<32 - 1, 0},
		{unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uint64(unix.SIGKILL), 0},
	}
	if !visible {
		calls = append(calls, [4]uint64{unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0, 0})
	}
	calls = append(calls, [4]uint64{unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, t.program})
	for _, c := range calls {
		if _, err := child.do(uintptr(c[0]), c[1:]...); err != nil {
			return fmt.Errorf("system call %d: %w", c[0], err)
		}
	}
	return nil
}

// close ends the template.
func (t *template) close() {
	_ = t.courier.Close()
	if t.cmd.Process != nil {
		_ = t.cmd.Process.Kill()
		_ = t.cmd.Wait() // its exit status does not matter
	}
}

// A writer stores data in the scratch memory of a thread.
type writer struct {
	thread *thread
	at     uint64
	err    error
}

// put returns the address of b.
func (w *writer) put(b []byte) uint64 {
	at := w.at
	if err := w.thread.write(at, b); err != nil && w.err == nil {
		w.err = fmt.Errorf("write to the memory of the engine: %w", err)
	}
	w.at += uint64(len(b)+7) &^ 7
	if w.at > w.thread.scratch()+scratchBytes-1024 && w.err == nil {
		w.err = errors.New("the scratch memory is full")
	}
	return at
}

// pair returns a connected pair of sockets: one for this program and one for the engine, which waits in its calls.
func pair() (*net.UnixConn, *os.File, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("connect a pair of sockets: %w", err)
	}
	own, other := os.NewFile(uintptr(ends[0]), "pool"), os.NewFile(uintptr(ends[1]), "engine")
	conn, err := net.FileConn(own)
	if err = errors.Join(err, own.Close()); err != nil {
		return nil, nil, errors.Join(err, other.Close())
	}
	return conn.(*net.UnixConn), other, nil
}

// limit bounds the memory of a process to what it has and so many bytes more.
func limit(pid int, more int64) error {
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return err
	}
	var size, resident, shared, text, lib, data int64
	if _, err := fmt.Sscan(string(statm), &size, &resident, &shared, &text, &lib, &data); err != nil {
		return err
	}
	most := uint64(data*int64(os.Getpagesize()) + more)
	return unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most}, nil)
}

// closeAll closes ends of pairs that this process needs no longer.
func closeAll(ends ...io.Closer) {
	for _, end := range ends {
		_ = end.Close()
	}
}
