package engines

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// supported reports whether this package can make a thread of this architecture perform system calls.
const supported = true

// A thread is a traced thread that is stopped in a system call. Only one thread of this program may use it.
type thread struct {
	id   int
	regs unix.PtraceRegs // when the thread was stopped
}

// instruction is the length of the instruction that enters the kernel.
const instruction = 2

// seize stops a thread that waits in a read of its standard input, and takes hold of it.
func seize(id int) (*thread, error) {
	if err := unix.PtraceSeize(id); err != nil {
		return nil, fmt.Errorf("trace the process: %w", err)
	}
	if err := unix.PtraceInterrupt(id); err != nil {
		return nil, fmt.Errorf("stop the process: %w", err)
	}
	t := &thread{id: id}
	if _, err := t.stopped(); err != nil {
		return nil, err
	}
	if err := unix.PtraceSetOptions(id, unix.PTRACE_O_TRACEFORK|unix.PTRACE_O_EXITKILL); err != nil {
		return nil, fmt.Errorf("trace the process: %w", err)
	}
	if err := t.found(); err != nil {
		return nil, err
	}
	if t.regs.Orig_rax != unix.SYS_READ || t.regs.Rdi != 0 {
		return nil, errors.New("the process does not wait for its job")
	}
	var code [instruction]byte
	if err := t.read(t.regs.Rip-instruction, code[:]); err != nil || code != [instruction]byte{0x0f, 0x05} {
		return nil, errors.Join(errors.New("the process entered the kernel in an unknown way"), err)
	}
	return t, nil
}

func (t *thread) found() error {
	if err := unix.PtraceGetRegs(t.id, &t.regs); err != nil {
		return fmt.Errorf("read the registers of the process: %w", err)
	}
	return nil
}

// stopped waits until the thread has stopped.
func (t *thread) stopped() (unix.WaitStatus, error) {
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(t.id, &status, unix.WALL, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, fmt.Errorf("wait for the process: %w", err)
		case !status.Stopped():
			return 0, errors.New("the process has ended")
		}
		return status, nil
	}
}

// do makes the thread do a system call and returns its result.
func (t *thread) do(nr uintptr, args ...uint64) (uint64, error) {
	r := t.regs
	r.Rax, r.Orig_rax, r.Rip = uint64(nr), ^uint64(0), t.regs.Rip-instruction
	for i, to := range []*uint64{&r.Rdi, &r.Rsi, &r.Rdx, &r.R10, &r.R8, &r.R9} {
		*to = 0
		if i < len(args) {
			*to = args[i]
		}
	}
	if err := unix.PtraceSetRegs(t.id, &r); err != nil {
		return 0, fmt.Errorf("set the registers of the process: %w", err)
	}
	for {
		if err := unix.PtraceSingleStep(t.id); err != nil {
			return 0, fmt.Errorf("step the process: %w", err)
		}
		status, err := t.stopped()
		if err != nil {
			return 0, err
		}
		if status.StopSignal() == unix.SIGTRAP && status.TrapCause() <= 0 {
			break
		}
	}
	if err := unix.PtraceGetRegs(t.id, &r); err != nil {
		return 0, fmt.Errorf("read the registers of the process: %w", err)
	}
	if n := int64(r.Rax); n < 0 && n > -4096 {
		return r.Rax, unix.Errno(-n)
	}
	return r.Rax, nil
}

// fork makes the thread fork and returns the only thread of the child, which stands still where this one does. The
// child's parent is this program.
func (t *thread) fork() (*thread, error) {
	id, err := t.do(unix.SYS_CLONE, unix.CLONE_PARENT|uint64(unix.SIGCHLD))
	if err != nil {
		return nil, fmt.Errorf("fork: %w", err)
	}
	child := &thread{id: int(id), regs: t.regs}
	_, err = child.stopped()
	return child, err
}

// release lets the thread continue where it was found, with the same system call, and traces it no more.
func (t *thread) release() error {
	r := t.regs
	r.Rax, r.Orig_rax, r.Rip = r.Orig_rax, ^uint64(0), r.Rip-instruction
	if err := unix.PtraceSetRegs(t.id, &r); err != nil {
		return fmt.Errorf("set the registers of the process: %w", err)
	}
	return unix.PtraceDetach(t.id)
}

// scratch returns an address in the thread's stack, below everything that it uses.
func (t *thread) scratch() uint64 { return (t.regs.Rsp - scratchBytes) &^ 63 }

// scratchBytes is the room there, and the distance from what the thread uses.
const scratchBytes = 32 << 10

func (t *thread) write(at uint64, b []byte) error {
	_, err := unix.PtracePokeData(t.id, uintptr(at), b)
	return err
}

func (t *thread) read(at uint64, b []byte) error {
	_, err := unix.PtracePeekData(t.id, uintptr(at), b)
	return err
}

// inheritAll makes forks copy all memory. V8 excludes its heap, for programs that fork only to start others.
func (t *thread) inheritAll() error {
	maps, err := os.Open(fmt.Sprintf("/proc/%d/smaps", t.id))
	if err != nil {
		return err
	}
	defer maps.Close()
	var from, to uint64
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		line := lines.Text()
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok {
			if slices.Contains(strings.Fields(flags), "dc") {
				if _, err := t.do(unix.SYS_MADVISE, from, to-from, unix.MADV_DOFORK); err != nil {
					return fmt.Errorf("let forks have all memory: %w", err)
				}
			}
			continue
		}
		area, _, _ := strings.Cut(line, " ")
		first, last, ok := strings.Cut(area, "-")
		low, err1 := strconv.ParseUint(first, 16, 64)
		high, err2 := strconv.ParseUint(last, 16, 64)
		if ok && err1 == nil && err2 == nil {
			from, to = low, high
		}
	}
	return lines.Err()
}
