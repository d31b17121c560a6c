package localinvoke

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/airlock-run/airlock/infra/answer"
)

// state is what a process is doing.
type state string

const (
	starting state = "starting" // it has not asked for an invocation yet
	idle     state = "idle"     // it waits for an invocation
	busy     state = "busy"     // it has one
	exited   state = "exited"
)

// process is one function process, from its start to its end. It belongs to one slot and is never started again.
type process struct {
	// env is the unguessable part of the address that only this process knows.
	env     string
	cmd     *exec.Cmd
	control *os.File // its standard input: the ids of cancelled executions, one a line; its end means that we are gone
	printed *printed
	usage   *usage
	started time.Time

	assign   chan *call    // hands an invocation to the pending "next" request
	launched chan struct{} // closed when the fields above are set for good
	ready    chan struct{} // closed at the first "next" request
	gone     chan struct{} // closed when the process has ended and was reaped

	mu         sync.Mutex
	state      state
	current    *call
	asked      *conn // the connection of the last "next" request
	executions int64
	answered   time.Time // when its last answer was complete
	cause      cause     // why we killed it, if we did
	initError  string
	worn       cause // why it is to be replaced when it owes no answer, if it is
	ended      bool  // it may be reaped: its id must not be signalled any more
}

// cause is why a process was killed by us.
type cause string

const (
	notKilled cause = ""
	deadline  cause = "deadline"
	memory    cause = "memory"
	cancelled cause = "cancelled"
	leak      cause = "leak"
	renewal   cause = "renewal"
	startup   cause = "start-up"
	protocol  cause = "protocol"
	silence   cause = "silence"
	shutdown  cause = "shutdown"
)

// newProcess prepares a function process that will find the Runtime API at addr.
func newProcess(cfg Config, addr string) (*process, error) {
	var secret [16]byte
	if _, err := io.ReadFull(cfg.Random, secret[:]); err != nil {
		return nil, fmt.Errorf("draw an environment id: %w", err)
	}
	p := &process{
		env:      hex.EncodeToString(secret[:]),
		started:  cfg.Now(),
		assign:   make(chan *call),
		launched: make(chan struct{}),
		ready:    make(chan struct{}),
		gone:     make(chan struct{}),
		state:    starting,
		printed:  &printed{log: cfg.Logger},
	}
	p.cmd = exec.Command(cfg.Command[0], cfg.Command[1:]...)
	p.cmd.Dir = cfg.Dir
	p.cmd.Env = append([]string{}, cfg.Env...)
	if cfg.EnvNow != nil {
		p.cmd.Env = append(p.cmd.Env, cfg.EnvNow()...)
	}
	p.cmd.Env = append(p.cmd.Env,
		"AWS_LAMBDA_RUNTIME_API="+addr+"/e/"+p.env,
		"AWS_LAMBDA_FUNCTION_NAME="+cfg.FunctionName,
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		fmt.Sprintf("AWS_LAMBDA_FUNCTION_MEMORY_SIZE=%d", cfg.MaxMemory>>20),
	)
	p.cmd.SysProcAttr = attributes()
	p.cmd.Stdout, p.cmd.Stderr = p.printed, p.printed
	p.cmd.WaitDelay = time.Second
	return p, nil
}

// launch starts the process.
func (p *process) launch(spawn func(func() error) error) error {
	stdin, control, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("open a pipe to a function process: %w", err)
	}
	defer stdin.Close()
	p.cmd.Stdin, p.control = stdin, control
	if err := spawn(p.cmd.Start); err != nil {
		control.Close()
		return fmt.Errorf("start a function process: %w", err)
	}
	p.usage = newUsage(p.cmd.Process.Pid)
	p.printed.by(p.cmd.Process.Pid)
	close(p.launched)
	go p.reap()
	return nil
}

// reap waits for the end of the process and of whatever it may have started.
func (p *process) reap() {
	awaitExit(p.cmd.Process.Pid)
	p.mu.Lock()
	p.ended = true
	killGroup(p.cmd.Process)
	p.mu.Unlock()
	_ = p.cmd.Wait() // how it ended is in ProcessState
	p.control.Close()
	p.usage.close()
	p.mu.Lock()
	p.state = exited
	p.mu.Unlock()
	close(p.gone)
}

// kill ends the process at once. The first cause is the one that counts.
func (p *process) kill(why cause) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(why)
}

// end does so with mu held.
func (p *process) end(why cause) {
	if p.cause == notKilled {
		p.cause = why
	}
	if !p.ended {
		killGroup(p.cmd.Process)
	}
}

// killDuring ends the process at once if c is what it is doing.
func (p *process) killDuring(c *call, why cause) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == c {
		p.end(why)
	}
}

// cancel asks the process to end the execution id.
func (p *process) cancel(id string) error {
	_, err := p.control.WriteString(id + "\n")
	return err
}

// why gives the cause of the end, and a line about it that names nothing of this machine.
func (p *process) why() (cause, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := "still running"
	if s := p.cmd.ProcessState; s != nil {
		text = s.String()
	}
	return p.cause, text
}

// begin records that the process was handed c.
func (p *process) begin(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state, p.current = busy, c
	p.executions++
	p.printed.fresh()
}

// claim gives the call that id stands for, for its one answer; nil when there is none, or it was answered.
func (p *process) claim(id string) (c *call, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == nil || p.current.id != id {
		return nil, false
	}
	if p.current.claimed {
		return nil, true
	}
	p.current.claimed = true
	return p.current, true
}

// finish records that the answer to c is complete: the process may ask for more.
func (p *process) finish(c *call, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.finished, p.answered = true, at
}

// endSilent ends a process that has answered and has asked for no more since: it is stuck, and nobody waits for it.
func (p *process) endSilent(since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == busy && p.current.finished && p.answered.Before(since) {
		p.end(silence)
	}
}

// rest makes the process idle. It reports false when the process owes an answer or is idle already: it must not ask.
func (p *process) rest(over *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.state == starting:
		close(p.ready)
	case p.state != busy || !p.current.finished:
		return false
	}
	p.state, p.current, p.asked = idle, nil, over
	return true
}

// unread reports whether the process, which is gone, never read what it was handed last.
func (p *process) unread() bool {
	p.mu.Lock()
	over, c := p.asked, p.current
	unanswered := c != nil && !c.claimed && (p.cause == notKilled || p.cause == protocol)
	p.mu.Unlock()
	if !unanswered || over == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), settling)
	defer cancel()
	return over.wasReset(ctx)
}

// failInit records why the process cannot start. It reports false when it had started.
func (p *process) failInit(why string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != starting {
		return false
	}
	p.initError = answer.OneLine(why)
	return true
}

// served gives the number of executions, and why the process said it could not start.
func (p *process) served() (executions int64, initError string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.executions, p.initError
}

// wear marks the process for replacement, and reports whether that is news.
func (p *process) wear(why cause) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	news := p.worn == notKilled
	if news {
		p.worn = why
	}
	return news
}

// wornBy gives why, if it is.
func (p *process) wornBy() cause {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.worn
}
