package lategc

import (
	"math"
	"os"
	"runtime/debug"
)

// most bounds in bytes what a program allocates until it calls Start, so that one that does not is slow and not large.
const most = 256 << 20

// ours is false if the user or the parent process has set GOGC.
var ours = os.Getenv("GOGC") == ""

// noLimit is false if the user has set GOMEMLIMIT.
var noLimit = os.Getenv("GOMEMLIMIT") == ""

func init() {
	if ours {
		debug.SetGCPercent(-1)
	}
	if ours && noLimit {
		debug.SetMemoryLimit(most)
	}
}

// Start lets the collector run by GOGC, and by percent if the environment has no GOGC.
func Start(percent int) {
	if ours && noLimit {
		debug.SetMemoryLimit(math.MaxInt64)
	}
	if ours {
		debug.SetGCPercent(percent)
	}
}
