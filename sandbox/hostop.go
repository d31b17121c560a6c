package sandbox

import (
	"runtime"
	"time"
	"unicode/utf8"

	"github.com/airlock-run/airlock/policy/depth"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/internal/source"
)

// The host call's operations; stdlib/primordials.js has the other side.
const (
	opLog     = 1  // level, text
	opTimer   = 2  // id, milliseconds, repeat
	opClear   = 3  // id
	opSettled = 4  // has a value
	opDone    = 5  // json
	opFail    = 6  // name, message, stack, thrown value
	opLimit   = 7  // the result is larger than any output
	opRequest = 8  // id, name, payload
	opSync    = 9  // name, arguments…
	opLoaded  = 10 // 1, or 0 when the code threw (load.go)
	opEarly   = 11 // the name of a global that is not there yet (load.go)
	opDeep    = 12 // the path to where the result nests too deeply to be written
)

var levels = [...]string{"log", "info", "warn", "error", "debug"}

// maxErrorText bounds the strings of a thrown error, in UTF-16 units; the library cuts them shorter than that.
const maxErrorText = 32 << 10

// Call implements quickjs.Host. Its arguments come from hostile memory: whatever they are, the answer is a harmless
// value or the end of the run.
func (r *run) Call(in *quickjs.Instance, a quickjs.Args) (quickjs.Value, error) {
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
			r.outside.reach()
			r.timers.add(id, r.clock()+time.Duration(ms)*time.Millisecond, time.Duration(ms)*time.Millisecond, repeat != 0)
		}
	case opClear:
		if id, ok := a[1].Int(); ok {
			r.timers.remove(id)
		}
	case opSettled:
		r.settled = true
		n, _ := a[1].Int()
		r.hasValue = n != 0
	case opDone:
		return quickjs.Undefined, r.done(in, a[1])
	case opFail:
		r.fail(in, a)
	case opDeep:
		path, _ := in.Str(a[1], maxErrorText)
		return quickjs.Undefined, r.deep("the result", cutChars(path, maxPath))
	case opLimit:
		return quickjs.Undefined, r.limits.exceeded(LimitOutput)
	case opRequest:
		return quickjs.Undefined, r.request(in, a)
	case opSync:
		return r.sync(in, a)
	}
	return quickjs.Undefined, nil
}

// logRoom is what a log takes besides its text.
const logRoom = 128

func (r *run) log(in *quickjs.Instance, a quickjs.Args) error {
	level, _ := a[1].Int()
	if level < 0 || int(level) >= len(levels) {
		level = 0
	}
	if len(r.result.Logs) >= r.limits.LogEntries {
		return r.limits.exceeded(LimitLogs)
	}
	room := r.limits.OutputBytes - len(r.output)
	if in.Len(a[2]) < 0 {
		return nil // not a string: nothing of ours makes such a call
	}
	// Output and logs have it, in up to three bytes a unit.
	if err := r.charge(logRoom + 6*int64(min(in.Len(a[2]), room))); err != nil {
		return err
	}
	text, ok := in.Str(a[2], room)
	whole := ok && len(text)+1 <= room
	if !whole { // keep what fits, then end the run
		text = cutBytes(in.Prefix(a[2], room), max(room-1, 0))
	}
	r.output = append(append(r.output, text...), '\n')
	if len(r.output) > r.limits.OutputBytes {
		r.output = r.output[:r.limits.OutputBytes]
	}
	entry := Log{Level: levels[level], Message: cutChars(text, r.limits.LogChars), AtMs: milliseconds(r.elapsed()), Line: text}
	r.result.Logs = append(r.result.Logs, entry)
	if r.grants.Debug.StackTraces {
		r.debug.StackTraces = append(r.debug.StackTraces, LogTrace{len(r.result.Logs) - 1, r.stackText(in)})
	}
	if r.grants.OnLog != nil {
		r.grants.OnLog(entry)
		runtime.Gosched() // whoever passes the log on may share this processor
	}
	if !whole {
		return r.limits.exceeded(LimitOutput)
	}
	return nil
}

func (r *run) done(in *quickjs.Instance, v quickjs.Value) error {
	if in.Len(v) > r.limits.OutputBytes {
		return r.limits.exceeded(LimitOutput)
	}
	if err := r.charge(3 * int64(max(in.Len(v), 0))); err != nil {
		return err
	}
	text, ok := in.Str(v, r.limits.OutputBytes)
	if !ok || len(text) > r.limits.OutputBytes {
		return r.limits.exceeded(LimitOutput)
	}
	value := []byte(text)
	if path := depth.Over(value, "result", r.limits.Depth); path != "" {
		return r.deep("the result", path)
	}
	r.result.Value = value
	return nil
}

// maxPath bounds a path that the guest names, in characters.
const maxPath = 100

// deep ends the run with an error of the guest: what nests too deeply to cross.
func (r *run) deep(what, path string) error {
	if r.failed {
		return errThrown
	}
	r.failed = true
	r.result.Exception = &Exception{Name: "RangeError", Message: depth.Message(what, path, r.limits.Depth)}
	r.result.Error = source.OneLine((*source.Exception)(r.result.Exception))
	return errThrown
}

// fail keeps the first failure of the run.
func (r *run) fail(in *quickjs.Instance, a quickjs.Args) {
	if r.failed {
		return
	}
	r.failed = true
	name, _ := in.Str(a[1], maxErrorText)
	message, _ := in.Str(a[2], maxErrorText)
	stack, _ := in.Str(a[3], maxErrorText)
	r.result.Exception = (*Exception)(r.source.Exception(name, message, stack))
	r.result.Error = source.OneLine((*source.Exception)(r.result.Exception))
	if in.IsStackOverflow(a[4]) {
		r.result.Limit = LimitStack
	}
}

// cutChars cuts s after n characters and says so with an ellipsis.
func cutChars(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i] + "..."
		}
		n--
	}
	return s
}

// cutBytes cuts s to at most n bytes without splitting a character.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
