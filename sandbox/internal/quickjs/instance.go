package quickjs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/airlock-run/airlock/sandbox/internal/rewrite"
)

// Args are the arguments of a host call. Missing ones are Undefined.
type Args [maxArgs]Value

// Host is what a guest reaches outside its memory. Calls come from the goroutine that runs the guest.
type Host interface {
	// Poll is called while the guest computes. An error ends the run at once; the guest cannot catch it.
	Poll(in *Instance) error
	// Call answers a host call. An error ends the run at once.
	Call(in *Instance, args Args) (Value, error)
	// Now is the time since the Unix epoch that the guest may see.
	Now() time.Duration
	// MemoryRefused returns the error that ends a run whose guest asked for more memory than it may have.
	MemoryRefused() error
	// Trace returns the stack of an error that the guest makes, with a line break before each frame. frames is the
	// engine's: "    at name (file:line:column)\n" for each. An error ends the run at once.
	Trace(in *Instance, frames string) (string, error)
	// Word returns the message that replaces that of an error thrown by the engine, if it is to be replaced. head is
	// the error's name and message, frames as in Trace.
	Word(in *Instance, head, frames string) (message string, ok bool)
	// Rejected notes that a promise was rejected and not handled or, later, that it is handled after all.
	Rejected(in *Instance, promise Value, handled bool)
}

// errNotLive is the error of every method after Close, and after the run was ended from outside the guest by an
// unknown cause.
var errNotLive = errors.New("instance is not live")

// Instance is one guest: a copy-on-write view of an Image. It is used by one goroutine at a time and never reused.
type Instance struct {
	heap
	host  Host
	ticks int64
	// interrupted reports that the last poll came from interpreted code.
	interrupted bool
	overflow    Value // the RangeError of the last stack overflow
	between     func() error
}

// heap is the guest memory of an Instance: the host reads and makes values in it. Everything in it is hostile.
type heap struct {
	machine
	// lent are strings that were made for the host to look at (see joined).
	lent []Value
}

// machine is the WebAssembly module of an Instance, and the way into it.
type machine struct {
	image  *Image
	mod    api.Module
	memory *region
	ctx    instanceContext
	dead   bool
	cause  error // the error that ended it; nil after Close

	entry  api.Function
	stack  [maxEnter]uint64
	stacks *callStacks
	// nested is entry for use while entry is on the stack: inside a host call.
	nested  api.Function
	nesting bool // it is on the stack too
	depth   int
}

// maxEnter is the number of parameters of rewrite.Enter.
const maxEnter = 6

// instanceContext carries the Instance to the host functions.
type instanceContext struct {
	context.Context
	in *Instance
}

type instanceKey struct{}

func (c *instanceContext) Value(key any) any {
	if _, ok := key.(instanceKey); ok {
		return c.in
	}
	return c.Context.Value(key)
}

func instanceOf(ctx context.Context) *Instance {
	in, _ := ctx.Value(instanceKey{}).(*Instance)
	return in
}

// noRandom replaces wazero's own source of randomness, which is costly to seed for every instance. Nothing reads it.
type noRandom struct{}

func (noRandom) Read([]byte) (int, error) { return 0, errors.New("random numbers are not available") }

// instantiate makes an instance over the memory m, still without a host. On failure m is released.
func (r *Runtime) instantiate(ctx context.Context, m *region) (*Instance, error) {
	in := &Instance{}
	in.memory = m
	in.ctx = instanceContext{Context: ctx, in: in}
	alloc := experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory { return m })
	mod, err := r.wazero.InstantiateModule(experimental.WithMemoryAllocator(ctx, alloc), r.module,
		wazero.NewModuleConfig().WithName("").WithStartFunctions().WithRandSource(noRandom{}))
	if err != nil {
		m.Free()
		return nil, fmt.Errorf("instantiate engine: %w", err)
	}
	in.mod = mod
	if in.entry = mod.ExportedFunction(rewrite.Enter); in.entry == nil {
		return nil, errors.Join(errShell, mod.Close(ctx))
	}
	r.first.Do(func() { r.stacks = newCallStacks(in.entry) })
	r.stacks.lend(in.entry)
	in.stacks = r.stacks
	return in, nil
}

// Close ends the use of the instance, which is dropped in the background. It may be called once, while no call is
// running.
func (in *Instance) Close() {
	in.dead = true
	in.image.replace(in)
}

// Spend brings the next poll forward by n calls or back-edges of interpreted code: what the host does for the guest
// takes time too.
func (in *Instance) Spend(n int) {
	memory, at := in.mod.Memory(), in.image.qctx+in.image.runtime.facts.CtxInterruptCounter
	left, _ := memory.ReadUint32Le(at)
	memory.WriteUint32Le(at, uint32(max(int64(int32(left))-int64(n), 1)))
}

// drop releases the module and the memory.
func (in *machine) drop() {
	in.dead = true
	in.stacks.takeBack(in.entry)
	_ = in.mod.Close(context.Background()) // closing a module without a close hook cannot fail
}

// Ticks returns how often the guest has been polled: a measure of its work that is the same on every machine.
func (in *Instance) Ticks() int64 { return in.ticks }

// Interrupted reports whether the last poll came between two instructions of interpreted code and not from inside a
// function of the engine. Only then may functions of the guest be called.
func (in *Instance) Interrupted() bool { return in.interrupted }

// MemoryBytes returns the size of the guest's linear memory. It never shrinks, so this is its peak.
func (in *Instance) MemoryBytes() int64 { return int64(in.memory.size) }

// IsStackOverflow reports whether v is the RangeError that the engine threw when its stack was exhausted, and not one
// that the guest made.
func (in *Instance) IsStackOverflow(v Value) bool {
	return in.overflow != 0 && v == in.overflow && v.tag() == tagObject
}

func (in *machine) pendingException() Value {
	v, _ := in.mod.Memory().ReadUint64Le(in.image.rt + in.image.runtime.facts.RtCurrentException)
	return Value(v)
}

// enter calls one of the engine's functions behind the module's enter function. After an error the instance is dead:
// the run was ended or the engine trapped.
func (in *machine) enter(op, a uint64, b, c Value, d, e uint64) (Value, error) {
	if in.dead {
		return 0, in.ended()
	}
	if in.depth > 0 {
		return in.enterNested(op, a, b, c, d, e)
	}
	in.depth++
	in.stack = [maxEnter]uint64{op, a, uint64(b), uint64(c), d, e}
	err := in.entry.CallWithStack(&in.ctx, in.stack[:])
	in.depth--
	if err != nil {
		return 0, in.end(err)
	}
	return Value(in.stack[0]), nil
}

// enterNested enters the engine from a host call that works on the guest's heap. Nothing it calls runs guest code, so
// there is no deeper level. An error ends the outer call too if the host call returns it.
func (in *machine) enterNested(op, a uint64, b, c Value, d, e uint64) (Value, error) {
	if in.nested == nil {
		in.nested = in.mod.ExportedFunction(rewrite.Enter)
	}
	in.nesting = true
	out, err := in.nested.Call(&in.ctx, op, a, uint64(b), uint64(c), d, e)
	in.nesting = false
	if err != nil {
		return 0, in.end(err)
	}
	return Value(out[0]), nil
}

// end marks the instance dead because of an error, and returns the error.
func (in *machine) end(err error) error {
	in.dead, in.cause = true, err
	return err
}

// ended returns the error that ended the instance. An operation that cannot read a value continues, and the next call
// returns this error.
func (in *machine) ended() error {
	if in.cause != nil {
		return in.cause
	}
	return errNotLive
}

// invokeName calls an export that no ordinary run needs.
func (in *machine) invokeName(name string, params ...uint64) (Value, error) {
	if in.dead {
		return 0, in.ended()
	}
	f := in.mod.ExportedFunction(name)
	if f == nil {
		return 0, fmt.Errorf("engine exports no %s", name)
	}
	out, err := f.Call(&in.ctx, params...)
	if err != nil {
		return 0, in.end(err)
	}
	if len(out) == 0 {
		return Undefined, nil
	}
	return Value(out[0]), nil
}
