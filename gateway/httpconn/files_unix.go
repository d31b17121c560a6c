//go:build unix

package httpconn

import (
	"math"

	"golang.org/x/sys/unix"
)

// OpenFiles returns how many files and sockets this process may have open, or 0 if the system does not tell. The Go
// runtime has raised the soft limit to the hard one.
func OpenFiles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), math.MaxInt32))
}
