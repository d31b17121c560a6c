package quickjs

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/airlock-run/airlock/sandbox/internal/rewrite"
)

// NewInstance returns a fresh guest whose memory is charged to budget (at least the image's own size, at most what
// the image reserves). Its address range and its module were made ahead if there was time. Close it.
func (im *Image) NewInstance(ctx context.Context, budget *Budget, host Host) (*Instance, error) {
	var in *Instance
	select {
	case in = <-im.ready:
	default:
		var err error
		if in, err = im.prepare(ctx); err != nil {
			return nil, err
		}
	}
	in.ctx.Context, in.host = ctx, host
	in.memory.cap = min(max(uint64(budget.limit), uint64(im.size)), im.regions.reserve)
	in.memory.budget = budget
	budget.begin(int64(in.memory.size))
	in.memory.refused = func() { panic(host.MemoryRefused()) }
	in.collectFrom(im.rt)
	return in, nil
}

// collectAfter is how many bytes a guest has in use, beyond those of the image, before it looks for garbage in cycles
// the first time. Looking visits all of the library too, and costs some milliseconds.
const collectAfter = 4 << 20

// collectFrom sets when the guest looks for garbage in cycles.
func (in *Instance) collectFrom(rt uint32) {
	memory, m := in.mod.Memory(), in.memory
	facts := in.image.runtime.facts
	allocated, _ := memory.ReadUint32Le(rt + facts.RtAllocated)
	memory.WriteUint32Le(rt+facts.RtCollectAt, allocated+uint32(min(collectAfter, (m.cap-m.size)/2)))
	m.collect = rt + facts.RtCollectAt
	m.setCollectAt()
}

// prepare makes a guest that has no owner yet.
func (im *Image) prepare(ctx context.Context) (*Instance, error) {
	m, err := im.regions.get()
	if err != nil {
		return nil, err
	}
	in, err := im.runtime.instantiate(ctx, m)
	if err != nil {
		return nil, err
	}
	in.image = im
	if have := in.mod.Memory().Size(); have < im.size {
		in.mod.Memory().Grow((im.size - have) / rewrite.PageSize)
	}
	memory := in.mod.Memory()
	im.control(memory) // guest code may have had the memory of a frozen instance
	return in, nil
}

// replace drops a used instance and makes another one ahead, while its owner continues. Owners that come faster than
// that drop their instance themselves, so that dropped instances cannot pile up.
func (im *Image) replace(used *Instance) {
	select {
	case im.busy <- struct{}{}:
	default:
		used.drop()
		return
	}
	im.background.Add(1)
	im.runtime.crew.Run(func() {
		defer im.background.Done()
		defer func() { <-im.busy }()
		used.drop()
		if len(im.ready) == cap(im.ready) {
			return
		}
		next, err := im.prepare(context.Background())
		if err != nil {
			return // the next NewInstance reports the error
		}
		select {
		case im.ready <- next:
		default:
			next.drop()
		}
	})
}

// SetRandom seeds Math.random. Zero is no state of its generator and is replaced.
func (in *Instance) SetRandom(seed uint64) {
	if seed == 0 {
		seed = 1
	}
	in.mod.Memory().WriteUint64Le(in.image.qctx+in.image.runtime.facts.CtxRandomState, seed)
}

// Random returns the state of Math.random's generator. It differs from what SetRandom set once the guest has drawn.
func (in *Instance) Random() uint64 {
	v, _ := in.mod.Memory().ReadUint64Le(in.image.qctx + in.image.runtime.facts.CtxRandomState)
	return v
}

// SetTimeOrigin sets the time that performance.now counts from.
func (in *Instance) SetTimeOrigin(t time.Duration) {
	ms := float64(t) / float64(time.Millisecond)
	in.mod.Memory().WriteUint64Le(in.image.qctx+in.image.runtime.facts.CtxTimeOrigin, math.Float64bits(ms))
}

// DisableEval makes eval, Function and their kin throw from now on.
func (in *Instance) DisableEval() {
	in.mod.Memory().WriteUint32Le(in.image.qctx+in.image.runtime.facts.CtxEvalInternal, 0)
}

// LimitStack leaves the guest n bytes of stack.
func (in *Instance) LimitStack(n uint32) {
	in.mod.Memory().WriteUint32Le(in.image.rt+in.image.runtime.facts.RtStackLimit, in.image.runtime.facts.StackTop-n)
}

// ErrException reports that JavaScript threw. Exception returns what.
var ErrException = errors.New("JavaScript exception")

// ErrNotFunction reports that a source is not just one function.
var ErrNotFunction = errors.New("the source is not a function and nothing else")

// Compile returns the function that source holds, an expression in parentheses. Nothing of source runs, even if it is
// more than that: the compiled code is checked before it runs.
func (in *Instance) Compile(source string) (Value, error) {
	return in.compileAt(in.image.scratch.filename, source)
}

// CompileAs compiles source whose frames in stacks have another file name.
func (in *Instance) CompileAs(name, source string) (Value, error) {
	p, err := in.alloc([]byte(name + "\x00"))
	if err != nil {
		return 0, err
	}
	return in.compileAt(p, source)
}

func (in *Instance) compileAt(filename uint32, source string) (Value, error) {
	v, err := in.evalAt(filename, source, evalCompileOnly)
	if err != nil {
		return 0, err
	}
	if !in.makesFunction(v) {
		return 0, ErrNotFunction
	}
	if v, err = in.enter(rewrite.OpRun, uint64(in.image.qctx), v, 0, 0, 0); err == nil && v.tag() == tagException {
		err = ErrException
	}
	return v, err
}

// Assemble evaluates source that a printer made from a syntax tree, so only the host's own code in it can run.
func (in *Instance) Assemble(source string) (Value, error) { return in.evaluate(source) }

// AssembleAs assembles source whose frames in stacks have another file name.
func (in *Instance) AssembleAs(name, source string) (Value, error) {
	return in.evaluateAs(name, source)
}

// makesFunction reports whether the code of a compiled source makes one function and returns it.
func (in *Instance) makesFunction(v Value) bool {
	code, ok := in.bytecode(v)
	return ok && slices.ContainsFunc(in.image.learned.FunctionCode, func(f []byte) bool { return bytes.Equal(f, code) })
}

// bytecode returns the code of a compiled source.
func (in *Instance) bytecode(v Value) (code []byte, ok bool) {
	memory, p := in.mod.Memory(), uint32(v)
	n, _ := memory.ReadUint32Le(p + codeLength)
	at, _ := memory.ReadUint32Le(p + codeBytes)
	code, ok = memory.Read(at, n)
	return code, ok && v.tag() == tagBytecode
}

// Evaluate runs source as a global script, or as a module that imports nothing, and the microtasks that it left. It
// is for conformance suites. A guest would wait for a script's value that is a promise, so scripts have no value.
func (in *Instance) Evaluate(name, source string, module bool) error {
	p, err := in.alloc([]byte(name + "\x00"))
	if err != nil {
		return err
	}
	flags := uint32(0)
	if module {
		flags = evalModule
	} else {
		source += "\n;void 0;"
	}
	v, err := in.evalAt(p, source, flags)
	if err != nil {
		return err
	}
	if err := in.drain(); err != nil || !module {
		return err
	}
	if state, reason := in.PromiseResult(v); state == promiseRejected {
		return &RejectionError{reason}
	}
	return nil
}

const promiseRejected = 2

// A RejectionError is the reason for which the promise of a module was rejected.
type RejectionError struct{ Reason Value }

func (*RejectionError) Error() string { return "the promise of a module was rejected" }

func (in *Instance) evaluate(source string) (Value, error) {
	return in.evalAt(in.image.scratch.filename, source, 0)
}

// evaluateAs evaluates source under another file name, which must outlive the instance. It is used for building images.
func (in *Instance) evaluateAs(name, source string) (Value, error) {
	p, err := in.alloc([]byte(name + "\x00"))
	if err != nil {
		return 0, err
	}
	return in.evalAt(p, source, 0)
}

const (
	evalModule      = 1      // JS_EVAL_TYPE_MODULE
	evalCompileOnly = 1 << 5 // JS_EVAL_FLAG_COMPILE_ONLY
)

func (in *Instance) evalAt(filename uint32, source string, flags uint32) (Value, error) {
	s, memory := &in.image.scratch, in.mod.Memory()
	p := s.source
	if len(source) < sourceRoom {
		memory.WriteString(p, source)
		memory.WriteByte(p+uint32(len(source)), 0)
	} else {
		var err error
		if p, err = in.alloc(append([]byte(source), 0)); err != nil {
			return 0, err
		}
	}
	at, length := uint64(p), uint64(len(source))
	if in.image.runtime.facts.EvalByOptions {
		var options [optionsSize]byte
		binary.LittleEndian.PutUint32(options[0:], p)
		binary.LittleEndian.PutUint32(options[12:], filename)
		binary.LittleEndian.PutUint32(options[16:], flags)
		memory.Write(s.options, options[:])
		at = uint64(s.options)
	}
	v, err := in.enter(rewrite.OpEval, uint64(in.image.qctx), Value(filename), Value(flags), at, length)
	if err != nil {
		return 0, err
	}
	if p != s.source {
		if _, err := in.enter(rewrite.OpFree, 0, 0, 0, uint64(p), 0); err != nil {
			return 0, err
		}
	}
	if v.tag() == tagException {
		return 0, ErrException
	}
	return v, nil
}

// Call calls a function with undefined as this and runs the microtasks that this left.
func (in *Instance) Call(f Value, args ...Value) error {
	if _, err := in.apply(f, args...); err != nil {
		return err
	}
	return in.drain()
}

// Apply calls f, a function of the library that runs no guest code, and returns its value. It may be called during a
// poll or a host call.
func (in *Instance) Apply(f Value) (Value, error) {
	v, err := in.apply(f)
	if errors.Is(err, ErrException) {
		_, _ = in.Exception() // drop it
	}
	return v, err
}

// apply calls f and returns its value.
func (in *Instance) apply(f Value, args ...Value) (Value, error) {
	var raw [8 * maxArgs]byte
	if len(args) > maxArgs {
		return 0, fmt.Errorf("%d arguments, at most %d", len(args), maxArgs)
	}
	for i, a := range args {
		binary.LittleEndian.PutUint64(raw[8*i:], uint64(a))
	}
	in.mod.Memory().Write(in.image.scratch.arguments, raw[:8*len(args)])
	v, err := in.enter(rewrite.OpCall, uint64(in.image.qctx), f, Undefined, uint64(len(args)),
		uint64(in.image.scratch.arguments))
	if err != nil {
		return 0, err
	}
	if v.tag() == tagException {
		return 0, ErrException
	}
	return v, nil
}

// drain runs microtasks until none is left. One that throws (only the engine's own can) does not stop the others.
func (in *Instance) drain() error {
	for {
		n, err := in.enter(rewrite.OpPending, uint64(in.image.rt), 0, 0, uint64(in.image.scratch.job), 0)
		if err != nil {
			return err
		}
		if int32(n) == 0 {
			return nil
		}
		if in.between == nil {
			continue
		}
		if err := in.between(); err != nil {
			return err
		}
	}
}

// Between sets a func that is called after each microtask. If it fails, so does the call that led to the microtask, and
// Drain runs those that are left.
func (in *Instance) Between(f func() error) { in.between = f }

// Drain runs the microtasks that are left.
func (in *Instance) Drain() error { return in.drain() }

// Collect frees the garbage in cycles.
func (in *Instance) Collect() error {
	_, err := in.enter(rewrite.OpCollect, uint64(in.image.rt), 0, 0, 0, 0)
	return err
}

// Exception takes the pending exception, which is cleared.
func (in *heap) Exception() (Value, error) {
	return in.enter(rewrite.OpThrown, uint64(in.image.qctx), 0, 0, 0, 0)
}

// ParseJSON makes a value from JSON text without running any guest code.
func (in *heap) ParseJSON(text []byte) (Value, error) {
	p, err := in.room(len(text) + 1)
	if err != nil {
		return 0, err
	}
	memory := in.mod.Memory()
	memory.Write(p, text)
	memory.WriteByte(p+uint32(len(text)), 0)
	return in.made(p, rewrite.OpJSON, uint64(p), uint64(len(text)))
}

// Bytes makes an ArrayBuffer that holds a copy of b.
func (in *heap) Bytes(b []byte) (Value, error) {
	p, err := in.alloc(b)
	if err != nil {
		return 0, err
	}
	return in.made(p, rewrite.OpBytes, uint64(p), uint64(len(b)))
}

// String makes a string of text.
func (in *heap) String(text string) (Value, error) {
	p, err := in.room(len(text))
	if err != nil {
		return 0, err
	}
	in.mod.Memory().WriteString(p, text)
	return in.made(p, rewrite.OpString, uint64(p), uint64(len(text)))
}

// made calls the engine's function that makes a value from the allocation p, and frees p.
func (in *heap) made(p uint32, op, d, e uint64) (Value, error) {
	v, err := in.enter(op, uint64(in.image.qctx), Value(in.image.scratch.filename), 0, d, e)
	if err != nil {
		return 0, err
	}
	if _, err := in.enter(rewrite.OpFree, 0, 0, 0, uint64(p), 0); err != nil {
		return 0, err
	}
	if v.tag() == tagException {
		return 0, ErrException
	}
	return v, nil
}

// View returns the bytes of the ArrayBuffer v (not of a view of one) where they lie in guest memory. They are valid
// until the guest runs again, and change with its memory. ok is false if v is anything else.
func (in *heap) View(v Value) (b []byte, ok bool, err error) {
	if v.tag() != tagObject {
		return nil, false, nil
	}
	memory, room := in.mod.Memory(), in.image.scratch.arguments
	p, err := in.enter(rewrite.OpBuffer, uint64(in.image.qctx), v, 0, uint64(room), 0)
	if err != nil {
		return nil, false, err
	}
	if p == 0 {
		_, err := in.Exception() // drop the TypeError that the engine threw
		return nil, false, err
	}
	n, _ := memory.ReadUint32Le(room)
	at := uint32(p)
	if in.image.runtime.facts.BufferPacked {
		packed, _ := memory.ReadUint64Le(at)
		if _, err := in.enter(rewrite.OpFree, 0, 0, 0, uint64(p), 0); err != nil {
			return nil, false, err
		}
		n, at = uint32(packed), uint32(packed>>32)
	}
	b, ok = memory.Read(at, n)
	return b, ok, nil
}

// alloc copies b into memory of the guest's heap.
func (in *machine) alloc(b []byte) (uint32, error) {
	p, err := in.room(len(b))
	if err == nil {
		in.mod.Memory().Write(p, b)
	}
	return p, err
}

// room allocates n bytes of the guest's heap, which lie in its memory.
func (in *machine) room(n int) (uint32, error) {
	p, err := in.enter(rewrite.OpMalloc, 0, 0, 0, uint64(max(n, 1)), 0)
	if err != nil {
		return 0, err
	}
	if _, ok := in.mod.Memory().Read(uint32(p), uint32(n)); p == 0 || !ok {
		return 0, errors.New("the guest's allocator gave no memory")
	}
	return uint32(p), nil
}

// Describe returns the name, message and stack of an exception without running guest code. It reads properties only
// where the engine's own error objects have them as plain strings, and returns "" for anything else.
func (in *heap) Describe(v Value, limit int) (name, message, stack string, err error) {
	if v.IsString() {
		s, _ := in.Str(v, limit)
		return "Error", s, "", nil
	}
	out := [3]string{}
	for i, property := range []string{"name", "message", "stack"} {
		p, err := in.alloc([]byte(property + "\x00"))
		if err != nil {
			return "", "", "", err
		}
		got, err := in.invokeName("JS_GetPropertyStr", uint64(in.image.qctx), uint64(v), uint64(p))
		if err != nil {
			return "", "", "", err
		}
		out[i], _ = in.Str(got, limit)
	}
	return out[0], out[1], out[2], nil
}

// Prefix copies at most n UTF-16 units from the start of the string v, as Str does.
func (in *heap) Prefix(v Value, n int) string {
	t, ok := in.Text(v)
	if !ok {
		return ""
	}
	first, _ := t.Cut(max(n, 0))
	return first.String()
}

// IsTrap reports that the engine itself stopped with a WebAssembly trap: guest code has broken it.
func IsTrap(err error) bool {
	return errors.Is(err, errExit) || err != nil && strings.Contains(err.Error(), "wasm error:")
}

// IsCallStackExhausted reports that recursion inside the engine exhausted the host's call stack.
func IsCallStackExhausted(err error) bool {
	return err != nil && strings.Contains(err.Error(), "stack overflow")
}
