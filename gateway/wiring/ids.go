package wiring

import (
	"crypto/rand"
	"runtime/debug"

	"github.com/oklog/ulid/v2"
)

// NewID returns "exec_" and a ULID: sortable by time, with 80 random bits.
func NewID() string {
	return "exec_" + ulid.MustNew(ulid.Now(), rand.Reader).String()
}

// Version returns the version that the build recorded.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "devel"
	}
	return info.Main.Version
}
