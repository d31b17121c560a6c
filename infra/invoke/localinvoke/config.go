package localinvoke

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy/audit"
)

// Config configures a Pool. The zero value of every field means its default.
type Config struct {
	// Command is the program and its arguments. Default: this program with the argument "function".
	Command []string
	// Env is the environment of the processes, as "NAME=value". They inherit nothing else; the pool adds the
	// AWS_LAMBDA_ variables of the Runtime API.
	Env []string
	// EnvNow, which may be nil, returns further variables at each start of a process.
	EnvNow func() []string
	// Dir is their working directory. Default "/".
	Dir string
	// Processes is the number of processes. Default: the processors that Go uses, at least 2 and at most 8.
	Processes int
	// Spare is the number of additional processes. Default 0.
	Spare int
	// MaxWaiting is the number of calls that may wait for a process; further calls are throttled. Default 1024.
	MaxWaiting int
	// MaxExecution is when a process is killed if its execution has no earlier deadline. Default 65 s: the longest tier
	// and a margin.
	MaxExecution time.Duration
	// Grace is the time that a cancelled execution has to end before its process is killed. Default 500 ms.
	Grace time.Duration
	// StartTimeout bounds the time until a process asks for its first invocation, and after an answer for the next.
	// Default 10 s.
	StartTimeout time.Duration
	// MaxMemory is the resident memory in bytes above which a process is killed (Linux only). Default 512 MiB.
	MaxMemory int64
	// MaxAnswer is the size in bytes above which an answer is refused. Default 20 MiB, as on Lambda.
	MaxAnswer int64
	// Heartbeat is the interval between samples of memory and processor time. Default 5 s.
	Heartbeat time.Duration
	// Sealed configures processes of this program (functions/process), which have no sockets of their own and whose
	// records the pool stores. Nil is for any other client of the Lambda Runtime API, over TCP.
	Sealed *Sealed
	// Listen is the loopback address of the Runtime API, which a pool of sealed processes does not have. Default
	// "127.0.0.1:0".
	Listen string
	// Concurrency is the number of synchronous calls of the service API that run or wait for a process at once; further
	// calls are throttled, as Lambda does at the concurrency limit of a function. Default 1000, that of an AWS account.
	Concurrency int
	// FunctionName is the name of the function. Default "airlock".
	FunctionName string
	// Logger receives the events of processes and what they print. Default: nothing is logged.
	Logger *slog.Logger
	// Random is the source of IDs. Default crypto/rand.
	Random io.Reader
	// Now is the clock of deadlines. Default time.Now.
	Now func() time.Time
}

// Sealed configures what a pool does for sealed processes.
type Sealed struct {
	// Records stores the records of executions. A result whose record cannot be stored is withheld. Required.
	Records audit.Appender
	// Redact removes secrets from a record before it is stored; nil changes nothing.
	Redact func(*audit.Record)
	// KeepCode records the code and the whole request, and not only the code's hash.
	KeepCode bool
	// WriteTimeout bounds the storing of one record. Default 10 s.
	WriteTimeout time.Duration
	// Outside decides what executions may reach; nil allows nothing.
	Outside Outside
	// Engines lends processes of other engines; nil has none.
	Engines Engines
	// MaxRequests bounds the requests of one execution for connections and secrets. Default 1024.
	MaxRequests int
	// PerTenant binds each process to the tenant of its first execution. If no process is free for a tenant and Warm
	// allows no further one, one of another tenant is replaced.
	PerTenant bool
	// Reserve is the number of additional processes that keeps an unbound one ready for a tenant without a process. It
	// requires PerTenant. Default 0.
	Reserve int
	// Warm is the number of further processes. They do not add to the executions at a time: they keep processes of
	// tenants that pause. One starts if no process is free for a tenant, and ends after ten minutes without work. Warm
	// requires PerTenant. Default 0.
	Warm int
	// WarmBytes is the memory of their own that all processes may have while there are further ones: beyond it, those that
	// were idle longest end. 0 is no bound. Linux only.
	WarmBytes int64
	// Fetch reads an invocation that was too large to send; nil refuses it.
	Fetch func(context.Context, execution.Handover) ([]byte, error)
}

func (s *Sealed) checked() (*Sealed, error) {
	if s.Records == nil {
		return nil, errors.New("function pool: Sealed.Records is not set")
	}
	if err := notNegative(map[string]bool{
		"Sealed.MaxRequests": s.MaxRequests < 0, "Sealed.Reserve": s.Reserve < 0, "Sealed.Warm": s.Warm < 0,
		"Sealed.WarmBytes": s.WarmBytes < 0, "Sealed.WriteTimeout": s.WriteTimeout < 0,
	}); err != nil {
		return nil, err
	}
	if max(s.Reserve, s.Warm) > 0 && !s.PerTenant {
		return nil, errors.New("function pool: Sealed.Reserve and Sealed.Warm need PerTenant")
	}
	c := *s
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 10*time.Second)
	c.MaxRequests = cmp.Or(c.MaxRequests, 1024)
	return &c, nil
}

// checked returns c with its defaults, or an error.
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
	c.Dir = cmp.Or(c.Dir, "/")
	if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
		return c, fmt.Errorf("function pool: Dir %q is not a folder", c.Dir)
	}
	c.Processes = cmp.Or(c.Processes, min(max(runtime.GOMAXPROCS(0), 2), 8)) + max(c.Spare, 0)
	c.MaxWaiting = cmp.Or(c.MaxWaiting, 1024)
	c.Concurrency = cmp.Or(c.Concurrency, 1000)
	c.MaxExecution = cmp.Or(c.MaxExecution, 65*time.Second)
	c.Grace = cmp.Or(c.Grace, 500*time.Millisecond)
	c.StartTimeout = cmp.Or(c.StartTimeout, 10*time.Second)
	c.MaxMemory = cmp.Or(c.MaxMemory, 512<<20)
	c.MaxAnswer = cmp.Or(c.MaxAnswer, 20<<20)
	c.Heartbeat = cmp.Or(c.Heartbeat, 5*time.Second)
	c.Listen = cmp.Or(c.Listen, "127.0.0.1:0")
	c.FunctionName = cmp.Or(c.FunctionName, "airlock")
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if err := notNegative(map[string]bool{
		"Processes": c.Processes < 1, "MaxWaiting": c.MaxWaiting < 0, "Concurrency": c.Concurrency < 0,
		"MaxExecution": c.MaxExecution < 0, "Grace": c.Grace < 0, "StartTimeout": c.StartTimeout < 0,
		"Heartbeat": c.Heartbeat < 0, "MaxMemory": c.MaxMemory < 0, "MaxAnswer": c.MaxAnswer < 0,
	}); err != nil {
		return c, err
	}
	if c.Sealed != nil {
		if c.Sealed, err = c.Sealed.checked(); err != nil {
			return c, err
		}
		c.Processes += c.Sealed.Reserve
	}
	at, err := netip.ParseAddrPort(c.Listen)
	if err != nil || !at.Addr().IsLoopback() {
		return c, fmt.Errorf("function pool: Listen must be a loopback address and a port such as 127.0.0.1:9001, not %q",
			c.Listen)
	}
	return c, nil
}

// notNegative returns an error that names the fields whose value is negative.
func notNegative(negative map[string]bool) error {
	var wrong []string
	for name, is := range negative {
		if is {
			wrong = append(wrong, name)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	slices.Sort(wrong)
	return fmt.Errorf("function pool: these must not be negative: %s", strings.Join(wrong, ", "))
}
