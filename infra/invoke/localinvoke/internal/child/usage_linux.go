package child

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// ticksPerSecond is USER_HZ, which is 100 on every architecture Go runs on.
const ticksPerSecond = 100

// Usage reads the resources that a process uses. Its files stay open, so that it never reads a later process with the
// same id.
type Usage struct {
	pid         int
	statm, stat *os.File
	uncapped    *unix.Rlimit // the limit that Cap replaced; nil if there is no cap
}

// NewUsage returns the Usage of a process.
func NewUsage(pid int) *Usage {
	u := &Usage{pid: pid}
	// A process that has ended has no files and uses nothing.
	u.statm, _ = os.Open(fmt.Sprintf("/proc/%d/statm", pid))
	u.stat, _ = os.Open(fmt.Sprintf("/proc/%d/stat", pid))
	return u
}

// Resident returns the resident memory in bytes; 0 if the process has ended.
func (u *Usage) Resident() int64 {
	pages, _ := field(u.statm, 1)
	return pages * int64(os.Getpagesize())
}

// Private returns the resident memory in bytes that the process shares with no file; 0 if the process has ended.
func (u *Usage) Private() int64 {
	pages, _ := field(u.statm, 1)
	shared, _ := field(u.statm, 2)
	return (pages - shared) * int64(os.Getpagesize())
}

// Processor returns the processor time used so far, in ticks of 10 ms; 0 if the process has ended.
func (u *Usage) Processor() time.Duration {
	// Fields 14 and 15 of proc(5), counted after the command, which may itself hold spaces.
	user, _ := field(u.stat, 11)
	system, _ := field(u.stat, 12)
	return time.Duration(user+system) * time.Second / ticksPerSecond
}

// Clock returns the processor time used so far to the nanosecond, or Unknown. It costs one system call. The process
// must not have been reaped, because its id may belong to another.
func (u *Usage) Clock() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(int32(^u.pid)<<3|cpuClockSched, &ts) != nil {
		return Unknown
	}
	return time.Duration(ts.Nano())
}

// cpuClockSched is CPUCLOCK_SCHED of the kernel: with the inverted id of a process above it, the clock that
// clock_getcpuclockid(3) returns.
const cpuClockSched = 2

// Stopped reports whether the process is stopped by a signal, so that it would not read its work.
func (u *Usage) Stopped() bool {
	var buf [512]byte
	n, _ := u.stat.ReadAt(buf[:], 0) // a short read is checked below
	_, state, ok := bytes.Cut(buf[:n], []byte(") "))
	return ok && bytes.HasPrefix(state, []byte("T"))
}

// Cap makes the kernel refuse the process more than so many further bytes of address space, until Uncap. It reports
// whether the kernel does. A second Cap changes nothing. The process must not have been reaped, because its id may
// belong to another. With the race detector the kernel refuses only far more, and Cap reports false.
func (u *Usage) Cap(further int64) bool {
	if u.uncapped != nil {
		return addresses == 1
	}
	pages, ok := field(u.statm, 0)
	var limit unix.Rlimit
	if !ok || unix.Prlimit(u.pid, unix.RLIMIT_AS, nil, &limit) != nil {
		return false
	}
	before := limit
	limit.Cur = min(limit.Cur, uint64(pages*int64(os.Getpagesize())+addresses*further))
	if unix.Prlimit(u.pid, unix.RLIMIT_AS, &limit, nil) != nil {
		return false
	}
	u.uncapped = &before
	return addresses == 1
}

// Uncap undoes Cap, if it was called, and reports whether the process is without a cap. The process must not have been
// reaped.
func (u *Usage) Uncap() bool {
	if u.uncapped == nil {
		return true
	}
	if unix.Prlimit(u.pid, unix.RLIMIT_AS, u.uncapped, nil) != nil {
		return false
	}
	u.uncapped = nil
	return true
}

// Close closes the files.
func (u *Usage) Close() {
	u.statm.Close()
	u.stat.Close()
}

// field reads the i-th number of a file of fields, counted from 0 after the closing parenthesis if there is one.
func field(f *os.File, i int) (int64, bool) {
	var buf [512]byte
	n, err := f.ReadAt(buf[:], 0)
	if n == 0 && err != nil {
		return 0, false
	}
	line := buf[:n]
	if at := bytes.LastIndexByte(line, ')'); at >= 0 {
		line = line[at+1:]
	}
	fields := bytes.Fields(line)
	if i >= len(fields) {
		return 0, false
	}
	v, err := strconv.ParseInt(string(fields[i]), 10, 64)
	return v, err == nil
}
