package lategc

import (
	"os"
	"runtime/debug"
)

// ours is false if the user or the parent process has set GOGC.
var ours = os.Getenv("GOGC") == ""

func init() {
	if ours {
		debug.SetGCPercent(-1)
	}
}

// Start lets the collector run by GOGC, and by percent if the environment has no GOGC.
func Start(percent int) {
	if ours {
		debug.SetGCPercent(percent)
	}
}
