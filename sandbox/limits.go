package sandbox

import (
	"fmt"
	"time"

	"github.com/airlock-run/airlock/policy/depth"
	"github.com/airlock-run/airlock/sandbox/internal/hostops"
)

// Limit names a limit. The names are part of the contract with callers.
type Limit string

// The limits that can end a run.
const (
	LimitWall       Limit = "wall"
	LimitCPU        Limit = "cpu"
	LimitMemory     Limit = "memory"
	LimitStack      Limit = "stack"
	LimitOutput     Limit = "output"
	LimitLogs       Limit = "logs"
	LimitAPICalls   Limit = "apiCalls"
	LimitFiles      Limit = "files"
	LimitFetchBytes Limit = "fetchBytes"
	LimitWaits      Limit = "waits"
)

// Limits bounds one run. A zero field means the default given there, never "unlimited".
type Limits struct {
	Wall time.Duration // 15 s
	// Spent is how much of Wall had passed before the run, for a caller who scans the code within the same limit.
	Spent time.Duration
	CPU   time.Duration // as what is left of Wall
	// Ticks is LimitCPU in Usage.Ticks, which are the same on every machine; as many as CPU allows.
	Ticks int64
	// MemoryBytes is 64 MiB, at least MinMemoryBytes and at most Config.MaxMemoryBytes. The guest and what the host holds
	// for it share it.
	MemoryBytes int64
	OutputBytes int   // 1 MiB: of console text, and of the result's JSON
	LogEntries  int   // 100 console calls are kept in Result.Logs; more are counted, and are in Result.Output
	LogChars    int   // 1,000 characters of each are kept in Result.Logs
	APICalls    int   // 50 host calls that leave the sandbox
	FetchBytes  int64 // DefaultFetchBytes of bodies, sent and received
	FileBytes   int64 // DefaultFileBytes in the guest's file system
	FileCount   int   // 1,024 files and folders there
	EndOnLogs   bool  // more than LogEntries console calls end the run
	Depth       int   // 512 nested objects and arrays, in every value that enters or leaves the guest
}

// The defaults of FetchBytes and FileBytes.
const (
	DefaultFetchBytes = 10 << 20
	DefaultFileBytes  = 16 << 20
)

// defaultWall is the default of Limits.Wall.
const defaultWall = 15 * time.Second

// MinMemoryBytes is the least memory that a guest can start with.
const MinMemoryBytes = 4 << 20

func (l Limits) withDefaults(maxMemory int64) Limits {
	if l.Wall <= 0 {
		l.Wall = defaultWall
	}
	l.Spent = min(max(l.Spent, 0), l.Wall-1)
	l.Wall -= l.Spent
	if l.CPU <= 0 || l.CPU > l.Wall {
		l.CPU = l.Wall
	}
	if l.MemoryBytes <= 0 {
		l.MemoryBytes = 64 << 20
	}
	l.MemoryBytes = min(max(l.MemoryBytes, MinMemoryBytes), maxMemory)
	if l.OutputBytes <= 0 {
		l.OutputBytes = 1 << 20
	}
	if l.LogEntries <= 0 {
		l.LogEntries = 100
	}
	if l.LogChars <= 0 {
		l.LogChars = 1000
	}
	if l.APICalls <= 0 {
		l.APICalls = 50
	}
	if l.FetchBytes <= 0 {
		l.FetchBytes = DefaultFetchBytes
	}
	if l.FileBytes <= 0 {
		l.FileBytes = DefaultFileBytes
	}
	if l.FileCount <= 0 {
		l.FileCount = 1024
	}
	if l.Depth <= 0 {
		l.Depth = depth.Default
	}
	return l
}

// outOfTicks returns the error that ends a run once it has done n ticks, nil if it may do more. A LimitError crosses
// the engine as a Go panic, which no guest can catch.
func (l Limits) outOfTicks(n int64) error {
	if l.Ticks <= 0 || n < l.Ticks {
		return nil
	}
	return &hostops.LimitError{Limit: string(LimitCPU), Message: fmt.Sprintf("timed out after %d ticks of work", l.Ticks)}
}

// exceeded returns the error of a run that hit a limit.
func (l Limits) exceeded(limit Limit) *hostops.LimitError {
	var message string
	switch limit {
	case LimitWall:
		message = fmt.Sprintf("timed out after %v of wall time", l.Wall+l.Spent)
	case LimitCPU:
		message = fmt.Sprintf("timed out after %v of processor time", l.CPU)
	case LimitMemory:
		message = fmt.Sprintf("memory limit of %s exceeded", bytesText(l.MemoryBytes))
	case LimitOutput:
		message = fmt.Sprintf("output limit of %s exceeded", bytesText(int64(l.OutputBytes)))
	case LimitLogs:
		message = fmt.Sprintf("log limit of %d entries exceeded", l.LogEntries)
	case LimitAPICalls:
		message = fmt.Sprintf("limit of %d api calls exceeded", l.APICalls)
	case LimitFetchBytes:
		message = fmt.Sprintf("limit of %s fetched exceeded", bytesText(l.FetchBytes))
	case LimitFiles:
		message = fmt.Sprintf("file limit of %s in %d files exceeded", bytesText(l.FileBytes), l.FileCount)
	default:
		message = string(limit) + " limit exceeded"
	}
	return &hostops.LimitError{Limit: string(limit), Message: message}
}

func bytesText(n int64) string {
	switch {
	case n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}
