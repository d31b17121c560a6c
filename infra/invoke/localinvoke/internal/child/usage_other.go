//go:build !linux

package child

import "time"

// Usage reads nothing on this system: no process is ever too large.
type Usage struct{}

// NewUsage returns the Usage of a process.
func NewUsage(int) *Usage { return &Usage{} }

func (*Usage) Resident() int64          { return 0 }
func (*Usage) Private() int64           { return 0 }
func (*Usage) Processor() time.Duration { return 0 }
func (*Usage) Clock() time.Duration     { return Unknown }
func (*Usage) Stopped() bool            { return false }
func (*Usage) Cap(int64) bool           { return false }
func (*Usage) Uncap() bool              { return true }
func (*Usage) Close()                   {}
