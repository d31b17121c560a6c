package sandbox

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/airlock-run/airlock/policy/depth"
	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// The kinds of host calls and their arguments; stdlib/primordials.js has the other side.
const (
	opLog     = 1  // level, text
	opTimer   = 2  // id, milliseconds, 0 for once, 1 for repeatedly, or immediately
	opClear   = 3  // id; 0 to clear it, 1 to unreference it, timerHolds to reference it again
	opSettled = 4  // has a value
	opDone    = 5  // json
	opFail    = 6  // name, message, stack, thrown value
	opLimit   = 7  // the result is larger than any output may be
	opRequest = 8  // id, name, payload
	opSync    = 9  // name, arguments…
	opLoaded  = 10 // 1, or 0 if the code threw (load.go)
	opEarly   = 11 // the name of a global that is not there yet (load.go)
	opDeep    = 12 // the path to where the result nests too deeply to be written
	opTick    = 13 // callbacks of process.nextTick wait for the microtasks; 1: the code listens for rejections
)

// timerHolds is the argument of opClear that makes the run wait for a timer again.
const timerHolds = 2

// immediately is the argument of opTimer for what runs before all timers.
const immediately = 2

var levels = [...]string{"log", "info", "warn", "error", "debug"}

// maxErrorText bounds the strings of a thrown error, in UTF-16 units. The library cuts them shorter than that.
const maxErrorText = 32 << 10

// Call implements quickjs.Host. Its arguments come from hostile memory: whatever they are, the answer is a harmless
// value or the end of the run.
func (r *run) Call(in *quickjs.Instance, a quickjs.Args) (quickjs.Value, error) {
	return r.answer(in, a)
}

// answer answers a host call of a guest of any engine.
func (r *run) answer(in hostops.Guest, a quickjs.Args) (quickjs.Value, error) {
	op, ok := a[0].Int()
	if !ok {
		return quickjs.Undefined, nil
	}
	switch op {
	case opLog:
		return quickjs.Undefined, r.log(in, a)
	case opTimer:
		id, ok1 := a[1].Int()
		ms, ok2 := a[2].Int()
		repeat, _ := a[3].Int()
		if ok1 && ok2 && ms >= 0 {
			r.outside.taint()
			period, now := time.Duration(ms)*time.Millisecond, r.outside.timerClock()
			if repeat == immediately {
				r.timers.AddImmediate(id, now)
			} else {
				r.timers.Add(id, now+period, period, repeat != 0)
			}
		}
	case opClear:
		id, ok := a[1].Int()
		switch what, _ := a[2].Int(); {
		case ok && what == 0:
			r.timers.Remove(id)
		case ok:
			r.timers.Hold(id, what == timerHolds)
		}
	case opTick:
		if n, _ := a[1].Int(); n == 1 {
			r.stage.listens = true
		} else {
			r.stage.ticks = true
		}
	case opSettled:
		n, _ := a[1].Int()
		r.stage.settled, r.stage.hasValue = true, n != 0
	case opDone:
		return quickjs.Undefined, r.done(in, a[1])
	case opFail:
		r.fail(in, a)
	case opDeep:
		path, _ := in.Str(a[1], maxErrorText)
		return quickjs.Undefined, r.failDeep("the result", hostops.CutChars(path, maxPath))
	case opLimit:
		return quickjs.Undefined, r.limits.exceeded(LimitOutput)
	case opRequest:
		return quickjs.Undefined, r.request(in, a)
	case opSync:
		return r.sync(in, a)
	}
	return quickjs.Undefined, nil
}

// logRoom is the size of a log entry without its text.
const logRoom = 128

// yieldEvery is how often console calls let the goroutine run that passes logs on, which may share this processor. The
// guest is bound to its thread, so a yield costs as much as ten calls.
const yieldEvery = 5 * time.Millisecond

func (r *run) log(in hostops.Guest, a quickjs.Args) error {
	level, _ := a[1].Int()
	if level < 0 || int(level) >= len(levels) {
		level = 0
	}
	surplus := len(r.result.Logs) >= r.limits.LogEntries
	if surplus && r.limits.EndOnLogs {
		return r.limits.exceeded(LimitLogs)
	}
	room := r.limits.OutputBytes - len(r.output)
	if in.Len(a[2]) < 0 {
		return nil // not a string: the library makes no such call
	}
	// The text is in the output and, unless it is surplus, in the logs, in up to three bytes a unit.
	charge := 3 * int64(min(in.Len(a[2]), room))
	if !surplus {
		charge += logRoom + charge
	}
	if err := r.memory.Charge(charge); err != nil {
		return err
	}
	r.stage.charged += charge
	text, ok := in.Str(a[2], room)
	whole := ok && len(text)+1 <= room
	if !whole { // keep what fits, then end the run
		text = hostops.CutBytes(in.Prefix(a[2], room), max(room-1, 0))
	}
	r.output = append(append(r.output, text...), '\n')
	if len(r.output) > r.limits.OutputBytes {
		r.output = r.output[:r.limits.OutputBytes]
	}
	if r.grants.OnLine != nil {
		r.grants.OnLine(levels[level], text)
	}
	if surplus {
		r.stage.logsDropped++
		if !whole {
			return r.limits.exceeded(LimitOutput)
		}
		return nil
	}
	now := r.outside.elapsed()
	entry := Log{
		Level: levels[level], Message: hostops.CutChars(text, r.limits.LogChars), AtMs: milliseconds(now),
		Line: text,
	}
	r.result.Logs = append(r.result.Logs, entry)
	if own, ok := in.(*quickjs.Instance); ok {
		if err := r.inspector.logged(r, own); err != nil {
			return err
		}
	}
	if r.grants.OnLog != nil {
		r.grants.OnLog(entry)
		if now-r.stage.yielded >= yieldEvery {
			r.stage.yielded = now
			runtime.Gosched()
		}
	}
	if !whole {
		return r.limits.exceeded(LimitOutput)
	}
	return nil
}

// done takes the value of the code.
func (r *run) done(in hostops.Guest, v quickjs.Value) error {
	if in.Len(v) > r.limits.OutputBytes {
		return r.limits.exceeded(LimitOutput)
	}
	if err := r.memory.Charge(3 * int64(max(in.Len(v), 0))); err != nil {
		return err
	}
	text, ok := in.Str(v, r.limits.OutputBytes)
	if !ok || len(text) > r.limits.OutputBytes {
		return r.limits.exceeded(LimitOutput)
	}
	value := []byte(text)
	if path := depth.Over(value, "result", r.limits.Depth); path != "" {
		return r.failDeep("the result", path)
	}
	r.result.Value, r.stage.done = value, true
	return nil
}

// sync answers a synchronous operation.
func (r *run) sync(in hostops.Guest, a quickjs.Args) (quickjs.Value, error) {
	name, ok := in.Str(a[1], maxOpName)
	op := r.operation(name)
	if !ok || op == nil {
		return hostops.ErrorValue(in, errNotGranted(name))
	}
	return r.ops.Do(in, op, a[2:])
}

// maxOpName bounds the name of an operation, in UTF-16 units.
const maxOpName = 256

func errNotGranted(name string) *hostops.Exception {
	return hostops.Throwf("TypeError", "%s is not available to this execution", name)
}

// Poll implements quickjs.Host: the only place where a computing guest is stopped.
func (r *run) Poll(in *quickjs.Instance) error {
	r.ops.Checked()
	r.inspector.sample(r, in)
	ticks := r.loaded.ticks + in.Ticks()
	if err := r.limits.outOfTicks(ticks); err != nil {
		return err
	}
	if r.outside.tape.Playing() {
		return r.pollPlayed(ticks)
	}
	return r.inTime()
}

// inTime returns an error if the run has exceeded a time limit or is cancelled.
func (r *run) inTime() error {
	if r.outside.elapsed() >= r.limits.Wall {
		return r.limits.exceeded(LimitWall)
	}
	if r.limits.CPU < r.limits.Wall && r.cpu.Used() >= r.limits.CPU {
		return r.limits.exceeded(LimitCPU)
	}
	return r.ctx.Err()
}

// pollPlayed stops a repeated run where it was stopped before, or when it takes far longer than it may.
func (r *run) pollPlayed(ticks int64) error {
	j := r.grants.Replay
	switch {
	case r.outside.tape.Err() != nil:
		return r.outside.tape.Err()
	case (j.Limit == LimitWall || j.Limit == LimitCPU) && ticks >= j.Ticks:
		return r.limits.exceeded(j.Limit)
	case r.outside.elapsed() >= r.grants.MaxWall():
		return r.limits.exceeded(LimitWall)
	}
	return r.ctx.Err()
}

// MemoryRefused implements quickjs.Host.
func (r *run) MemoryRefused() error { return r.limits.exceeded(LimitMemory) }

// Trace implements quickjs.Host.
func (r *run) Trace(in *quickjs.Instance, frames string) (string, error) {
	text, work := r.source.Trace(r.frames(frames))
	in.Spend(work / traceCost)
	return text, nil
}

// Word implements quickjs.Host.
func (r *run) Word(in *quickjs.Instance, head, frames string) (string, bool) {
	message, ok := word(r, in, head, frames)
	return withTools(r.grants.Tools, message), ok
}

// word returns the message of an error without the names of tools.
func word(r *run, in *quickjs.Instance, head, frames string) (string, bool) {
	message, work, ok := r.source.Word(head, r.frames(frames))
	in.Spend(work / traceCost)
	return message, ok
}

// maxToolsNamed is how many tools a message names.
const maxToolsNamed = 20

// withTools appends the names of the available tools to a message about a tool that does not exist.
func withTools(tools []Tool, message string) string {
	callee, ok := strings.CutSuffix(message, " is not a function")
	namespace, method, dotted := strings.Cut(callee, ".")
	if !ok || !dotted || strings.Contains(method, ".") {
		return message
	}
	var has []string
	for _, t := range tools {
		if of, name := ToolGlobal(t.Name); of == namespace {
			has = append(has, name)
		}
	}
	if len(has) == 0 {
		return message
	}
	slices.Sort(has)
	if n := len(has); n > maxToolsNamed {
		has = append(has[:maxToolsNamed], fmt.Sprintf("and %d more", n-maxToolsNamed))
	}
	return message + "; " + namespace + " has: " + strings.Join(has, ", ")
}

// traceCost is the number of bytes of frames that the host handles in the time of one call or back-edge of the guest.
const traceCost = 16

// Now implements quickjs.Host.
func (r *run) Now() time.Duration { return r.outside.clock() }

// maxRejected bounds the rejected promises that are kept.
const maxRejected = 100

// Rejected implements quickjs.Host.
func (r *run) Rejected(in *quickjs.Instance, promise quickjs.Value, handled bool) {
	if !handled {
		if len(r.rejected) < maxRejected {
			in.Retain(promise)
			r.rejected = append(r.rejected, promise)
		}
		return
	}
	if i := slices.Index(r.rejected, promise); i >= 0 {
		in.Release(promise)
		r.rejected = slices.Delete(r.rejected, i, i+1)
	}
}
