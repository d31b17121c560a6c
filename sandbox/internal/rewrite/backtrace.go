package rewrite

import (
	"errors"
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

// The engine makes an error's stack when it makes the error: build_backtrace lists the frames, and a string of that
// list becomes the property. Other engines put the name and the message in front; and the frames name lines of what
// was compiled, which are not those that its author wrote. So an added function makes the string:
//
//	trace(ctx, frames, length, error, flags):
//		pending = JS_GetException(ctx)
//		head = js_error_toString(ctx, error)                // runs the guest's own getters, as in other engines
//		if flags == 0 {                                     // thrown by the engine, not made by a constructor
//			message = hostCall(ctx, head, length | Traced | Worded, frames)
//			if message is a string {
//				JS_SetPropertyStr(ctx, error, "message", message)
//				JS_FreeValue(ctx, head)
//				head = js_error_toString(ctx, error)
//			}
//		}
//		JS_Throw(ctx, pending)
//		tail = hostCall(ctx, error, length | Traced, frames) // a line break before each frame
//		if tail is not a string { tail = JS_NewStringLen(ctx, frames, length) }
//		if head is an exception { return tail }
//		return JS_ConcatString(ctx, head, tail)

// Traced is set in the argument count of a host call that trace makes; no other has so many arguments. Worded is set
// too if the call asks for the message of an error that the engine throws.
const (
	Traced = 1 << 31
	Worded = 1 << 29
)

// Tags of JSValues, in the upper half.
const (
	tagObject    = -1
	tagString    = -7
	tagException = 6
)

var (
	errNoFrames = errors.New("build_backtrace makes no string of the frames")
	errNoFlags  = errors.New("build_backtrace has no flags")
)

// backtrace returns the new body of build_backtrace: it keeps the error and the flags, its second and its last
// parameter, in locals of its own and calls trace where it makes the string of the frames. That is the only string
// whose length is not measured by strlen.
func (w *rewriter) backtrace(body []byte, e edits) ([]byte, error) {
	start, err := wasm.Locals(body)
	if err != nil {
		return nil, err
	}
	code, err := wasm.Instructions(body)
	if err != nil {
		return nil, err
	}
	at := 1
	for at < len(code) && !(w.makesString(code[at]) && code[at-1].Op != wasm.Call) {
		at++
	}
	if at >= len(code) {
		return nil, errNoFrames
	}
	t, _ := w.module.TypeOf(w.trace.backtrace)
	if !strings.HasSuffix(t.Encoded, string([]byte{wasm.TypeI32, 0})) { // the last parameter, and no result
		return nil, errNoFlags
	}
	locals, local, err := moreLocals(body[:start], uint64(t.Params))
	if err != nil {
		return nil, err
	}
	e.begin = append(e.begin, w.assemble().get(1).set(local).get(uint64(t.Params)-1).set(local+1).bytes()...)
	call := w.assemble().get(local).get(local + 1).call(w.added(addedTrace)).bytes()
	e.callAt = map[int][]byte{code[at].Start: call}
	return w.copy(body, e, locals)
}

func (w *rewriter) makesString(i wasm.Instruction) bool {
	return i.Op == wasm.Call && uint64(i.Imm) == w.trace.newString
}

// moreLocals adds a local of type i64 and one of type i32 to the declarations of a function and returns the index of
// the first.
func moreLocals(declarations []byte, params uint64) (out []byte, local uint64, err error) {
	local = params
	r := &wasm.Reader{B: declarations}
	groups := r.Uint()
	rest := r.Pos
	for range groups {
		local += r.Uint()
		r.Byte()
	}
	out = append(wasm.AppendUint(nil, groups+2), declarations[rest:]...)
	return append(out, 1, wasm.TypeI64, 1, wasm.TypeI32), local, r.Err
}

// traceBody returns the code of trace. Its parameters are in the order in which they are on the stack when it is
// called: the arguments of JS_NewStringLen, the error and the flags.
func (w *rewriter) traceBody() []byte {
	const ctx, frames, length, thrown, flags, pending, head, tail = 0, 1, 2, 3, 4, 5, 6, 7
	a, t := w.assemble().declare(3, wasm.TypeI64), w.trace
	toString := func() { a.get(ctx).get(thrown).i32(0).i32(0).original(t.errorToString).set(head) }
	host := func(value uint64, bits int64) {
		a.get(ctx).get(value).get(length).i32(int64(int32(bits))).op(wasm.I32Or).get(frames).call(w.hostCall()).set(tail)
	}
	a.get(ctx).original(t.getException).set(pending)
	toString()
	a.get(flags).op(wasm.I32Eqz).ifThen()
	host(head, Traced|Worded)
	a.hasTag(tail, tagString).ifThen()
	a.get(ctx).get(thrown).i32(t.message).get(tail).original(t.setProperty).op(wasm.Drop)
	a.get(ctx).get(head).original(w.api.release)
	toString()
	a.op(wasm.End, wasm.End)
	a.get(ctx).get(pending).original(t.throw).op(wasm.Drop)
	host(thrown, Traced)
	a.hasTag(tail, tagString).op(wasm.I32Eqz).ifThen()
	a.get(ctx).get(frames).get(length).original(t.newString).set(tail).op(wasm.End)
	a.hasTag(head, tagException).ifThen().get(tail).op(wasm.Return, wasm.End)
	return a.get(ctx).get(head).get(tail).original(t.concat).end()
}
