package sandbox

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/airlock-run/airlock/sandbox/internal/cputime"
	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/otherengine"
)

// Processes starts processes of other engines. Each is used for one run.
type Processes interface {
	// Take returns a process of an engine that may have so many bytes of memory beyond those of its start.
	Take(ctx context.Context, engine string, memory int64) (Process, error)
}

// Process is a process of another engine that waits for its job.
type Process struct {
	// Conn is the connection to it, and PID its number.
	Conn net.Conn
	PID  int
	// Build names its build, which results carry.
	Build string
	// Kill ends it.
	Kill func()
}

// visitor is a guest in a process of another engine.
type visitor struct {
	*run
	process Process
	in      *otherengine.Guest
	// finished says that the first step was the end, too.
	finished bool
	spent    time.Duration // processor time of the process before the run, and the part that the run has counted
}

// runOtherEngine runs a script on another engine.
func runOtherEngine(r *run, script Script) (Result, error) {
	if err := portable(r, script); err != nil {
		return Result{}, err
	}
	if err := r.takeSource(script, nil); err != nil {
		return r.failEarly(err)
	}
	if err := r.begin(nil); err != nil {
		return Result{}, err
	}
	r.grants.Waits = Waits{Hint: "only QuickJS can wait"}
	defer r.requests.begin(r.ctx)()
	closePowers, err := r.grant(script)
	if err != nil {
		return r.failEarly(err)
	}
	defer closePowers()
	if err := r.checkDepth(script); err != nil {
		return r.failEarly(err)
	}
	ctx, cancel := context.WithTimeout(r.ctx, r.limits.Wall-r.outside.elapsed())
	defer cancel()
	process, err := r.engine.processes.Take(ctx, script.Engine, r.limits.MemoryBytes)
	if err != nil {
		if ctx.Err() != nil && r.ctx.Err() == nil {
			err = r.limits.exceeded(LimitWall)
		}
		return r.failEarly(err)
	}
	defer process.Kill()
	v := &visitor{run: r, process: process, spent: cputime.Of(process.PID)}
	v.in = otherengine.NewGuest(process.Conn, v)
	stop := context.AfterFunc(r.ctx, func() { _ = process.Conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	err = v.execute(script)
	v.count()
	if err := r.classify(v.explained(err)); err != nil {
		return Result{}, err
	}
	out := r.finish(nil)
	out.Usage.MemoryBytes = max(v.in.Memory(), r.memory.Peak())
	out.EngineBuild, out.Pure, out.Journal = process.Build, false, nil
	return out, nil
}

// portable returns an error for a run that needs QuickJS. Callers refuse such runs before, in words for users.
func portable(r *run, script Script) error {
	switch {
	case r.engine.processes == nil:
		return fmt.Errorf("engine %q: this sandbox has only QuickJS", script.Engine)
	case script.Seed != nil, r.grants.Replay != nil, r.grants.Debug != Debug{}, r.grants.Limits.Ticks > 0:
		return fmt.Errorf("engine %q does not support a seed, replay, reports or ticks", script.Engine)
	}
	return nil
}

// A startStep is the first step: what the guest is.
type startStep struct {
	Do      string    `json:"do"`
	Text    string    `json:"text"`
	Other   string    `json:"other,omitempty"`
	Name    string    `json:"name"`
	Context string    `json:"context"`
	Input   string    `json:"input"`
	Flags   int32     `json:"flags"`
	Limit   int32     `json:"limit"`
	Eval    bool      `json:"eval"`
	Random  [4]uint32 `json:"random"`
}

// execute runs the code to its end.
func (v *visitor) execute(script Script) error {
	start := startStep{
		Do: "start", Text: v.source.Text, Other: v.source.Doubt(), Name: quickjs.ScriptName,
		Context: string(contextJSON(script.Context)), Input: "null", Limit: int32(min(v.limits.OutputBytes, 1<<30)),
		Eval: v.grants.Eval,
	}
	if len(script.Input) > 0 {
		start.Input = string(script.Input)
	}
	if v.source.Called {
		start.Flags |= startCalled
	}
	if v.powers.setup != nil {
		start.Flags |= startSetup
	}
	if v.source.LeavesScript(false) {
		start.Flags |= startScript
	}
	if v.source.IsModule() {
		start.Flags |= startModule
	}
	if v.source.MentionsPath() {
		start.Flags |= startPath
	}
	var seed [16]byte
	_, _ = rand.Read(seed[:]) // it never fails
	for i := range start.Random {
		start.Random[i] = binary.LittleEndian.Uint32(seed[4*i:])
	}
	if _, err := v.step(start); err != nil {
		return err
	}
	v.finished = v.stage.settled && v.stage.hasValue && v.in.Finished()
	v.stage.compiled = true
	return (eventLoop{v.run, v}).toEnd()
}

// end implements turns.
func (v *visitor) end(happened bool) error {
	if v.finished {
		v.finished = false
		return nil
	}
	_, err := v.step(map[string]any{"do": "finish", "happened": happened})
	return err
}

func (v *visitor) step(step any) (bool, error) {
	more, err := v.in.Step(step)
	if err == nil && v.stage.failed {
		err = errThrown
	}
	return more, err
}

// Answer implements otherengine.Host.
func (v *visitor) Answer(in *otherengine.Guest, args quickjs.Args) (quickjs.Value, error) {
	op, _ := args[0].Int()
	if err := v.inTime(); err != nil && op != opLog {
		return 0, err
	}
	switch op {
	case opSync:
		if name, _ := in.Str(args[1], maxOpName); name == "engine.trace" {
			stack, _ := in.Str(args[2], maxErrorText)
			return in.String(v.source.TraceOtherEngine(stack))
		}
	case opFail:
		// Code that throws such an error itself has only its own limit to gain.
		message, _ := in.Str(args[2], maxErrorText)
		name, _ := in.Str(args[1], maxErrorText)
		switch {
		case name != "RangeError" || v.stage.failed:
		case otherengine.IsStackOverflow(message):
			v.result.Limit = LimitStack
		case otherengine.IsOutOfMemory(message):
			return 0, v.limits.exceeded(LimitMemory)
		}
	}
	return v.answer(in, args)
}

// longestPause is how long the guest may go on between two checks of the limit of processor time.
const longestPause = 50 * time.Millisecond

// InTime implements otherengine.Host.
func (v *visitor) InTime() (time.Duration, error) {
	left := v.limits.Wall - v.outside.elapsed()
	if v.limits.CPU < v.limits.Wall {
		v.count()
		left = min(left, max(v.limits.CPU-v.cpu.Used(), time.Millisecond), longestPause)
	}
	return left, v.inTime()
}

// count adds the processor time of the process to the run's.
func (v *visitor) count() {
	now := cputime.Of(v.process.PID)
	v.cpu.Add(max(now-v.spent, 0))
	v.spent = max(now, v.spent)
}

// fire implements turns.
func (v *visitor) fire(id int32) error {
	_, err := v.step(map[string]any{"do": "fire", "id": id})
	return err
}

// reject implements turns.
func (v *visitor) reject() (bool, error) { return v.step(map[string]any{"do": "reject"}) }

// settle implements turns.
func (v *visitor) settle(c completion) error {
	v.requests.finished(c.id)
	v.memory.ReleaseAside(c.held)
	return v.deliver(c)
}

// deliver implements turns.
func (v *visitor) deliver(c completion) error {
	c, err := c.within(v.limits.Depth)
	if err != nil {
		return err
	}
	step := map[string]any{"do": "settle", "id": c.id}
	switch {
	case c.err != nil:
		e := hostops.AsException(c.err)
		step["failed"], step["error"] = 1, [2]string{e.Name, e.Message}
	case c.answer.Bytes != nil:
		step["b"] = c.answer.Bytes
	case len(c.answer.JSON) > 0:
		step["j"] = string(c.answer.JSON)
	}
	_, err = v.step(step)
	return err
}

// explained returns the error of a run as classify knows it.
func (v *visitor) explained(err error) error {
	var syntax *otherengine.CompileError
	switch {
	case errors.As(err, &syntax):
		return v.malformed(syntax.Name, syntax.Message)
	case errors.Is(err, otherengine.ErrEscapes):
		return v.escaping()
	case errors.Is(err, otherengine.ErrMemory):
		return v.limits.exceeded(LimitMemory)
	case errors.Is(err, otherengine.ErrEnded):
		return errEngineEnded
	}
	return err
}
