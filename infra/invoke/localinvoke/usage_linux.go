package localinvoke

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

// usage reads what a process uses, from outside. The files stay open, so that a later process with the same id is never
// taken for this one.
type usage struct {
	pid         int
	statm, stat *os.File
}

func newUsage(pid int) *usage {
	u := &usage{pid: pid}
	// A process that ended already has no files: it uses nothing.
	u.statm, _ = os.Open(fmt.Sprintf("/proc/%d/statm", pid))
	u.stat, _ = os.Open(fmt.Sprintf("/proc/%d/stat", pid))
	return u
}

// resident gives the resident memory in bytes; 0 when the process has ended.
func (u *usage) resident() int64 {
	pages, _ := field(u.statm, 1)
	return pages * int64(os.Getpagesize())
}

// processor gives the processor time used so far; 0 when the process has ended.
func (u *usage) processor() time.Duration {
	// Fields 14 and 15 of proc(5), counted after the command, which may itself hold spaces.
	user, _ := field(u.stat, 11)
	system, _ := field(u.stat, 12)
	return time.Duration(user+system) * time.Second / ticksPerSecond
}

// clock returns the processor time used so far, to the nanosecond; unknown when it cannot be read. It takes one system
// call. The process must not have been reaped: its id may be another's.
func (u *usage) clock() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(int32(^u.pid)<<3|cpuClockSched, &ts) != nil {
		return unknown
	}
	return time.Duration(ts.Nano())
}

// cpuClockSched is CPUCLOCK_SCHED of the kernel: with the inverted id of a process above it, the clock that
// clock_getcpuclockid(3) returns.
const cpuClockSched = 2

// stopped reports whether somebody has stopped the process, so that it would not see what it is handed.
func (u *usage) stopped() bool {
	var buf [512]byte
	n, _ := u.stat.ReadAt(buf[:], 0) // what it read is looked at
	_, state, ok := bytes.Cut(buf[:n], []byte(") "))
	return ok && bytes.HasPrefix(state, []byte("T"))
}

func (u *usage) close() {
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
