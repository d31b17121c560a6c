package localinvoke

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/airlock-run/airlock/infra/invoke/localinvoke/internal/child"
	"github.com/airlock-run/airlock/infra/invoke/replystream"
	"github.com/airlock-run/airlock/infra/invoke/sealed"
	"github.com/airlock-run/airlock/infra/lockdown"
)

// state is the current activity of a process.
type state string

const (
	starting state = "starting" // it has not asked for an invocation yet
	idle     state = "idle"     // it waits for an invocation
	busy     state = "busy"     // it has one
	exited   state = "exited"
)

// A process is one function process from its start to its end. It belongs to one slot and is never restarted.
type process struct {
	// env is the secret part of the address that only this process knows.
	env     string
	cmd     *exec.Cmd
	control *os.File // its standard input: the IDs of cancelled executions, one a line; it ends with this program
	printed *printed
	usage   *child.Usage
	started time.Time

	assign chan *call // hands an invocation to the pending "next" request
	link   *link      // nil for a process that speaks the Runtime API
	broker *broker    // likewise
	milestones
	binding
	loan loan

	mu         sync.Mutex
	state      state
	current    *call
	asked      *conn // the connection of the last "next" request
	executions int64
	answered   time.Time // when its last answer was complete
	initError  string
	fate
}

// milestones are closed as a process reaches them.
type milestones struct {
	launched chan struct{} // the fields that the start sets are final
	ready    chan struct{} // the first "next" request has come
	gone     chan struct{} // the process has ended and was reaped
}

// binding is the tenant of a process, and its place in the pool. It belongs to the roster.
type binding struct {
	tenant    string // if bound is set
	bound     bool
	left      bool // it ends, and its successor is not ready
	unneeded  bool // it ends without a successor
	idleSince time.Time
}

// fate holds whether a process is to end, and why.
type fate struct {
	cause cause // why the pool killed it, if it did
	worn  cause // why it is to be replaced when it owes no answer, if it is
	ended bool  // it may be reaped: its ID must not be signalled any more
}

// cause is why the pool killed a process.
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
	spent     cause = "spent"
	tenancy   cause = "tenancy"
	unused    cause = "unused"
	ceiling   cause = "ceiling"
	shutdown  cause = "shutdown"
)

// newProcess returns a function process that will find the Runtime API at addr.
func newProcess(cfg Config, addr string) (*process, error) {
	var secret [16]byte
	if _, err := io.ReadFull(cfg.Random, secret[:]); err != nil {
		return nil, fmt.Errorf("draw an environment id: %w", err)
	}
	p := &process{
		env:     hex.EncodeToString(secret[:]),
		started: cfg.Now(),
		assign:  make(chan *call),
		milestones: milestones{
			launched: make(chan struct{}), ready: make(chan struct{}), gone: make(chan struct{}),
		},
		state:   starting,
		printed: &printed{log: cfg.Logger},
	}
	p.cmd = exec.Command(cfg.Command[0], cfg.Command[1:]...)
	p.cmd.Dir = cfg.Dir
	p.cmd.Env = append([]string{}, cfg.Env...)
	if cfg.EnvNow != nil {
		p.cmd.Env = append(p.cmd.Env, cfg.EnvNow()...)
	}
	if cfg.Sealed != nil {
		p.cmd.Env = append(p.cmd.Env, sealed.Variable+"=1")
	} else {
		p.cmd.Env = append(p.cmd.Env,
			"AWS_LAMBDA_RUNTIME_API="+addr+"/e/"+p.env,
			"AWS_LAMBDA_FUNCTION_NAME="+cfg.FunctionName,
			"AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
			fmt.Sprintf("AWS_LAMBDA_FUNCTION_MEMORY_SIZE=%d", cfg.MaxMemory>>20),
		)
	}
	p.cmd.SysProcAttr = child.Attributes()
	p.cmd.Stdout, p.cmd.Stderr = p.printed, p.printed
	p.cmd.WaitDelay = time.Second
	return p, nil
}

// launch starts the process.
func (p *process) launch(pool *Pool) error {
	stdin, control, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("open a pipe to a function process: %w", err)
	}
	defer stdin.Close()
	p.cmd.Stdin, p.control = stdin, control
	disconnect, err := p.connect(pool)
	if err == nil {
		err = pool.spawner.Do(p.cmd.Start)
		for _, inherited := range p.cmd.ExtraFiles {
			_ = inherited.Close() // the process has its own
		}
	}
	if err != nil {
		control.Close()
		disconnect()
		return fmt.Errorf("start a function process: %w", err)
	}
	lockdown.EndFirst(p.cmd.Process.Pid)
	p.usage = child.NewUsage(p.cmd.Process.Pid)
	p.printed.by(p.cmd.Process.Pid)
	close(p.launched)
	go p.reap()
	if p.link != nil {
		go p.link.follow()
		go p.broker.serve()
	}
	return nil
}

// connect opens the link and the broker's socket of a process that is about to start. disconnect undoes that.
func (p *process) connect(pool *Pool) (disconnect func(), err error) {
	if pool.cfg.Sealed == nil {
		return func() {}, nil
	}
	link, err := sealed.NewPair()
	if err != nil {
		return func() {}, err
	}
	broker, err := sealed.NewPair()
	if err != nil {
		return func() {}, errors.Join(err, link.Owner.Close(), link.Function.Close())
	}
	p.link, p.broker = newLink(pool, p, link.Owner), newBroker(pool, p, broker.Owner)
	p.cmd.ExtraFiles = []*os.File{link.Function, broker.Function} // descriptors 3 and 4, as package sealed says
	return func() { _, _ = link.Owner.Close(), broker.Owner.Close() }, nil
}

// hand passes the process its invocation. It reports false if the process has ended and cannot have seen it.
func (p *process) hand(c *call) bool {
	if p.link != nil {
		if p.link.hand(c) == nil {
			return true
		}
		<-p.gone
		return false
	}
	select {
	case p.assign <- c:
		return true
	case <-p.gone:
		return false
	}
}

// owed returns the unfinished call of the process; nil if there is none.
func (p *process) owed() *call {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != busy || p.current.finished {
		return nil
	}
	return p.current
}

// while runs attempt if c is the current, unfinished call, and reports whether it is. A nil c stands for no call.
func (p *process) while(c *call, attempt func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	current := p.current
	if current != nil && current.finished {
		current = nil
	}
	if current != c {
		return false
	}
	attempt()
	return true
}

// starts reports whether the process has not been ready yet.
func (p *process) starts() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state == starting
}

// reap waits for the end of the process and of whatever it may have started.
func (p *process) reap() {
	child.AwaitExit(p.cmd.Process.Pid)
	p.mu.Lock()
	p.ended = true
	child.KillGroup(p.cmd.Process)
	p.mu.Unlock()
	_ = p.cmd.Wait() // how it ended is in ProcessState
	p.control.Close()
	p.usage.Close()
	p.mu.Lock()
	p.state = exited
	p.mu.Unlock()
	close(p.gone)
}

// kill ends the process at once. The first cause is kept.
func (p *process) kill(why cause) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(why)
}

// end ends the process like kill; the caller holds mu.
func (p *process) end(why cause) {
	if p.cause == notKilled {
		p.cause = why
	}
	if !p.ended {
		child.KillGroup(p.cmd.Process)
	}
}

// killDuring ends the process at once if c is its current, unfinished call.
func (p *process) killDuring(c *call, why cause) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == c && !c.finished {
		p.end(why)
	}
}

// underCeiling makes the kernel refuse the process more than so many further bytes of address space until it has
// answered c. It reports whether the kernel does. Between two samples the process then takes at most that many bytes of
// memory, and those that it had reserved before. A Go program ends when it is refused memory. Only a sealed process has
// a ceiling: another program may reserve addresses without end and use few.
func (p *process) underCeiling(c *call, further int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link == nil || p.ended || p.current != c || c.finished {
		return false
	}
	return p.usage.Cap(further)
}

// cancel asks the process to end an execution.
func (p *process) cancel(id string) error {
	_, err := p.control.WriteString(id + "\n")
	return err
}

// used returns the processor time that the process, which has ended, spent since it received c.
func (p *process) used(c *call) time.Duration {
	s := p.cmd.ProcessState
	if s == nil {
		return 0
	}
	return max(s.UserTime()+s.SystemTime()-c.usedBefore, 0)
}

// why returns the cause of the end, and a line about it that names nothing of this machine.
func (p *process) why() (cause, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := "still running"
	if s := p.cmd.ProcessState; s != nil {
		text = s.String()
	}
	return p.cause, text
}

// begin records that the process received c. It reports false if the process was killed before: c must not be blamed
// for that.
func (p *process) begin(c *call) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause != notKilled {
		return false
	}
	p.state, p.current = busy, c
	p.executions++
	c.usedBefore = p.usage.Clock()
	p.printed.fresh()
	return true
}

// claim returns the call of an ID, for its one answer; nil if there is none or it was answered.
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

// finish records that the answer to c is complete: the process may ask for more. A process that keeps its ceiling is
// replaced, because the next execution could die of memory that it may have.
func (p *process) finish(c *call, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.finished, p.answered = true, at
	if !p.ended && !p.usage.Uncap() && p.worn == notKilled {
		p.worn = ceiling
	}
}

// endSilent ends a process that has answered and not asked for work since: it is stuck.
func (p *process) endSilent(since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == busy && p.current.finished && p.answered.Before(since) {
		p.end(silence)
	}
}

// rest makes the process idle. It reports false if the process owes an answer or is idle already: it must not ask. It
// also reports false if the process was killed: its answer came before its end, and it must not get another call.
func (p *process) rest(over *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.cause != notKilled:
		return false
	case p.state == starting:
		close(p.ready)
	case p.state != busy || !p.current.finished:
		return false
	}
	p.state, p.current, p.asked = idle, nil, over
	return true
}

// unread reports whether the process, which has ended, never read its last invocation.
func (p *process) unread() bool {
	p.mu.Lock()
	over, c := p.asked, p.current
	unanswered := c != nil && !c.claimed && (p.cause == notKilled || p.cause == protocol)
	p.mu.Unlock()
	if unanswered && p.link != nil {
		return p.link.unread()
	}
	if !unanswered || over == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), settling)
	defer cancel()
	return over.wasReset(ctx)
}

// failInit records why the process cannot start. It reports false if the process had started.
func (p *process) failInit(why string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != starting {
		return false
	}
	p.initError = replystream.OneLine(why)
	return true
}

// served returns the number of executions, and why the process said it could not start.
func (p *process) served() (executions int64, initError string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.executions, p.initError
}

// wear marks the process for replacement and reports whether it was not marked before.
func (p *process) wear(why cause) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	news := p.worn == notKilled
	if news {
		p.worn = why
	}
	return news
}

// wornBy returns why the process is to be replaced, if it is.
func (p *process) wornBy() cause {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.worn
}
