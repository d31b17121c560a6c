package wiring

import (
	"crypto/rand"

	"github.com/oklog/ulid/v2"
)

// NewID returns "exec_" and a ULID: sortable by time, with 80 random bits.
func NewID() string {
	return "exec_" + ulid.MustNew(ulid.Now(), rand.Reader).String()
}
