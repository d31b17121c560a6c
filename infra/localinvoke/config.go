package localinvoke

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// Config says what a Pool runs and where it draws the line. The zero value of every field is its default.
type Config struct {
	// Command is the program and its arguments. Default: this program with the argument "function".
	Command []string
	// Env is the environment of the processes, as "NAME=value". Nothing else is inherited; the AWS_LAMBDA_ variables of
	// the Runtime API are added.
	Env []string
	// EnvNow, which may be nil, is asked at each start of a process for more of it.
	EnvNow func() []string
	// Dir is their working directory. Default "/".
	Dir string
	// Processes is how many run. Default: the processors Go uses, at least 2, at most 8.
	Processes int
	// Spare is how many more run besides. Default none.
	Spare int
	// MaxWaiting is how many calls may wait for a process; one more is refused as throttled. Default 1024.
	MaxWaiting int
	// MaxExecution bounds every execution whose context has no earlier deadline. Default 65 s: the
	// longest tier and some more.
	MaxExecution time.Duration
	// Grace is how long after its deadline, or after it was cancelled, an execution may take to end by itself before its
	// process is killed. Default 500 ms.
	Grace time.Duration
	// StartTimeout is how long a process may take until it asks for its first invocation, and after an answer for the next.
	// Default 10 s.
	StartTimeout time.Duration
	// MaxMemory is the resident memory, in bytes, past which a process is killed (Linux only). Default 512 MiB.
	MaxMemory int64
	// MaxAnswer is the size of an answer, in bytes, past which it is refused. Default 20 MiB, as on Lambda.
	MaxAnswer int64
	// Heartbeat is how often memory and processor time of each process are sampled. Default 5 s.
	Heartbeat time.Duration
	// Listen is the loopback address of the server. Default "127.0.0.1:0".
	Listen string
	// FunctionName is the name the function goes by. Default "airlock".
	FunctionName string
	// Logger receives what happens to processes and what they print. Default: nothing is logged.
	Logger *slog.Logger
	// Random is where ids come from. Default crypto/rand.
	Random io.Reader
	// Now is the clock that deadlines are told by. Default time.Now.
	Now func() time.Time
}

// checked gives c with its defaults filled in, or says what is wrong with it.
func (c Config) checked() (Config, error) {
	if len(c.Command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return c, fmt.Errorf("find this program: %w", err)
		}
		c.Command = []string{self, "function"}
	}
	program, err := exec.LookPath(c.Command[0])
	if err != nil {
		return c, fmt.Errorf("function program %q: %w", c.Command[0], err)
	}
	c.Command = append([]string{program}, c.Command[1:]...)
	c.Dir = or(c.Dir, "/")
	if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
		return c, fmt.Errorf("function pool: Dir %q is not a folder", c.Dir)
	}
	c.Processes = or(c.Processes, min(max(runtime.GOMAXPROCS(0), 2), 8)) + max(c.Spare, 0)
	c.MaxWaiting = or(c.MaxWaiting, 1024)
	c.MaxExecution = or(c.MaxExecution, 65*time.Second)
	c.Grace = or(c.Grace, 500*time.Millisecond)
	c.StartTimeout = or(c.StartTimeout, 10*time.Second)
	c.MaxMemory = or(c.MaxMemory, 512<<20)
	c.MaxAnswer = or(c.MaxAnswer, 20<<20)
	c.Heartbeat = or(c.Heartbeat, 5*time.Second)
	c.Listen = or(c.Listen, "127.0.0.1:0")
	c.FunctionName = or(c.FunctionName, "airlock")
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if min(c.Processes, c.MaxWaiting) < 1 || min(c.MaxExecution, c.Grace, c.StartTimeout, c.Heartbeat) < 0 || min(c.MaxMemory, c.MaxAnswer) < 0 {
		return c, errors.New("function pool: a count, duration or size is negative")
	}
	at, err := netip.ParseAddrPort(c.Listen)
	if err != nil || !at.Addr().IsLoopback() {
		return c, fmt.Errorf("function pool: Listen must be a loopback address and a port such as 127.0.0.1:9001, not %q", c.Listen)
	}
	return c, nil
}

func or[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}
