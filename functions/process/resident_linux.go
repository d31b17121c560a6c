package process

import (
	"bufio"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// startUp is the memory that only the start needs: the pages of the program that were read then, and the garbage.
type startUp struct{ program [][]byte }

// recordStartUp finds the pages of the program. It must run before the walls go up, which hide /proc.
func recordStartUp() startUp {
	var s startUp
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return s // it only saves memory
	}
	defer f.Close()
	path, err := os.Executable()
	if err != nil {
		return s
	}
	var part []byte
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) >= 5 && strings.Contains(fields[0], "-"): // the head of a mapping
			part = nil
			if len(fields) == 6 && fields[5] == path && fields[1][1] != 'w' && fields[1][3] == 'p' {
				part = mapping(fields[0])
			}
		case part != nil && fields[0] == "Anonymous:":
			if fields[1] == "0" { // otherwise a linker has written there, and memory differs from the file
				s.program = append(s.program, part)
			}
			part = nil
		}
	}
	return s
}

// mapping returns the memory at "from-to".
func mapping(addresses string) []byte {
	low, high, _ := strings.Cut(addresses, "-")
	from, err1 := strconv.ParseUint(low, 16, 64)
	to, err2 := strconv.ParseUint(high, 16, 64)
	if err1 != nil || err2 != nil || from >= to {
		return nil
	}
	return unsafe.Slice((*byte)(addressOf(from)), to-from)
}

// addressOf returns a pointer to an address outside Go's heap.
func addressOf(a uint64) unsafe.Pointer {
	p := uintptr(a)
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}

// giveBack releases the memory. Pages that are needed again come from the page cache, which all function processes
// share.
func (s startUp) giveBack() {
	debug.FreeOSMemory()
	for _, part := range s.program {
		_ = unix.Madvise(part, unix.MADV_DONTNEED) // it only saves memory
	}
}
