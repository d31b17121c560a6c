package engines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Config configures a Pool. Name, Command and Program are required.
type Config struct {
	// Name is the engine's name in requests, such as "v8".
	Name string
	// Command is the program of the engine and its arguments. It reads Program from its standard input, prints a line
	// when it is ready, and then reads a job.
	Command []string
	// Program is one line, which the template reads.
	Program []byte
	// Warm is a line that the template reads once it is ready. It then prints that it is ready again.
	Warm []byte
	// Rehearsal is a job. One process of each template does it and prints that it is ready. The memory that it used for
	// that is mapped in the other processes ahead of their job. If the rehearsal fails, none is.
	Rehearsal []byte
	// Env is its whole environment.
	Env []string
	// JIT allows memory to become executable.
	JIT bool
	// Ready is the number of processes that wait for a guest. Default 2.
	Ready int
	// RenewAfter is the age at which the template is replaced. Default 10 minutes.
	RenewAfter time.Duration
	// StartTimeout bounds the start of a template. Default 10 s.
	StartTimeout time.Duration
	// Logger receives failures; nil discards them.
	Logger *slog.Logger
}

// A Process is a process of an engine that waits for its one job.
type Process struct {
	// Conn is the only connection of the process.
	Conn *net.UnixConn
	// PID is its number.
	PID int

	handle *os.Process
	once   sync.Once
	pool   *Pool
}

// Kill ends the process and closes its connection. It may be called more than once. The process runs no further
// instruction; the kernel takes a millisecond to free its memory, which Kill does not wait for.
func (p *Process) Kill() {
	p.once.Do(func() {
		_ = p.handle.Kill() // it may have ended
		_ = p.Conn.Close()
		p.pool.ending.Go(func() {
			_, _ = p.handle.Wait()
			p.pool.live.Add(-1)
		})
	})
}

// A Pool makes processes of one engine. It is safe for concurrent use.
type Pool struct {
	cfg   Config
	walls []string
	ready chan *Process
	// broken holds why no process can be made at present; nil while all is well.
	broken atomic.Pointer[error]
	made   atomic.Int64
	live   atomic.Int64
	whole  atomic.Int64   // bytes of the template
	each   atomic.Int64   // bytes of a process that waits
	ending sync.WaitGroup // killed processes that still exist
	stop   context.CancelFunc
	done   chan struct{}
}

// Open starts the engine and returns when the first process is ready.
func Open(ctx context.Context, cfg Config) (*Pool, error) {
	if !supported {
		return nil, fmt.Errorf("engine %s: needs Linux on amd64", cfg.Name)
	}
	program, err := exec.LookPath(cfg.Command[0])
	if err != nil {
		return nil, fmt.Errorf("engine %s: %w", cfg.Name, err)
	}
	cfg.Command = append([]string{program}, cfg.Command[1:]...)
	if cfg.Ready <= 0 {
		cfg.Ready = 2
	}
	if cfg.RenewAfter <= 0 {
		cfg.RenewAfter = 10 * time.Minute
	}
	if cfg.StartTimeout <= 0 {
		cfg.StartTimeout = 10 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Pool{cfg: cfg, ready: make(chan *Process, cfg.Ready-1), done: make(chan struct{})}
	ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	first := make(chan error, 1)
	go p.work(ctx, first)
	if err := <-first; err != nil {
		p.Close()
		return nil, fmt.Errorf("engine %s: %w", cfg.Name, err)
	}
	return p, nil
}

// Name returns the engine's name.
func (p *Pool) Name() string { return p.cfg.Name }

// JIT reports whether the engine compiles to machine code.
func (p *Pool) JIT() bool { return p.cfg.JIT }

// Walls returns the walls around each process.
func (p *Pool) Walls() []string { return p.walls }

// Ready returns how many processes wait for a guest in the pool's queue. One more may wait to enter it.
func (p *Pool) Ready() int { return len(p.ready) }

// Made returns how many processes were made.
func (p *Pool) Made() int64 { return p.made.Load() }

// Live returns how many processes exist, besides the template.
func (p *Pool) Live() int64 { return p.live.Load() }

// Memory returns how many bytes the template has, and how many of its own each process has that waits for a guest;
// 0 if they are unknown.
func (p *Pool) Memory() (template, process int64) { return p.whole.Load(), p.each.Load() }

// Take returns a process that may have so many bytes of memory beyond those of its start. The caller kills it.
func (p *Pool) Take(ctx context.Context, memory int64) (*Process, error) {
	if why := p.broken.Load(); why != nil && len(p.ready) == 0 {
		return nil, fmt.Errorf("engine %s: %w", p.cfg.Name, *why)
	}
	select {
	case proc := <-p.ready:
		if err := limit(proc.PID, memory); err != nil {
			proc.Kill()
			return nil, fmt.Errorf("limit the memory of engine %s: %w", p.cfg.Name, err)
		}
		return proc, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.done:
		return nil, fmt.Errorf("engine %s: %w", p.cfg.Name, net.ErrClosed)
	}
}

// Close ends the template and the processes that nobody took. It returns when no killed process exists any more.
func (p *Pool) Close() {
	p.stop()
	<-p.done
	defer p.ending.Wait()
	for {
		select {
		case proc := <-p.ready:
			proc.Kill()
		default:
			return
		}
	}
}

const (
	firstPause   = 100 * time.Millisecond
	longestPause = 10 * time.Second
)

// work makes processes until ctx ends, on a thread of its own: only the thread that traces a template can fork it, and
// the kernel kills the processes when the thread ends.
func (p *Pool) work(ctx context.Context, first chan<- error) {
	runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
	defer close(p.done)
	pause := firstPause
	for ctx.Err() == nil {
		err := p.fromOne(ctx, func() {
			pause = firstPause
			p.broken.Store(nil)
			if first != nil {
				first <- nil
				first = nil
			}
		})
		if err == nil {
			continue
		}
		if first != nil {
			first <- err
			return
		}
		p.broken.Store(&err)
		p.cfg.Logger.Error("engine cannot start", "engine", p.cfg.Name, "error", err, "pause", pause)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		pause = min(2*pause, longestPause)
	}
}

// fromOne makes processes from one template until it is to be replaced, and then returns nil.
func (p *Pool) fromOne(ctx context.Context, onReady func()) error {
	t, err := newTemplate(ctx, p.cfg)
	if err != nil {
		return err
	}
	defer t.close()
	if p.walls == nil {
		p.walls = t.walls
	}
	whole, each, err := t.weigh()
	if err != nil {
		p.cfg.Logger.Warn("the memory of the engine is unknown", "engine", p.cfg.Name, "error", err)
	}
	p.whole.Store(whole)
	p.each.Store(each)
	stale := time.NewTimer(p.cfg.RenewAfter)
	defer stale.Stop()
	for {
		proc, err := t.fork()
		if err != nil {
			return err
		}
		proc.pool = p
		p.made.Add(1)
		p.live.Add(1)
		onReady()
		select {
		case p.ready <- proc:
		case <-stale.C:
			proc.Kill()
			return nil
		case <-ctx.Done():
			proc.Kill()
			return nil
		}
	}
}

// Output runs a program with an environment and returns what it prints. The program has ten seconds.
func Output(ctx context.Context, env []string, program string, arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, arguments...)
	cmd.Env = append([]string{}, env...)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("run %s: %w", cmd, err)
	}
	return string(out), nil
}

// converse sends an engine a line and waits until the engine prints that it is ready. What it prints instead says why
// it is not.
func converse(ctx context.Context, conn net.Conn, line []byte, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	written := make(chan error, 1)
	go func() {
		_, err := conn.Write(line)
		written <- err
	}()
	var text []byte
	buffer := make([]byte, 4<<10)
	for !strings.HasSuffix(string(text), "{\"ready\":1}\n") {
		n, err := conn.Read(buffer)
		if text = append(text, buffer[:n]...); len(text) > 64<<10 {
			text = text[:64<<10]
			err = io.ErrShortBuffer
		}
		if err != nil {
			return errors.Join(fmt.Errorf("the engine did not become ready: %.2000q", text), err)
		}
	}
	if err := <-written; err != nil {
		return fmt.Errorf("send the engine a line: %w", err)
	}
	return nil
}
