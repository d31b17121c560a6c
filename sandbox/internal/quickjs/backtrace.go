package quickjs

// The engine makes an error's stack when it makes the error: build_backtrace lists the frames, and a string of that list
// becomes the property. Other engines put the name and the message in front; and the frames name lines of what was compiled,
// which are not those that its author wrote. So the string is made by a function that is added:
//
//	trace(ctx, error, frames, length):
//		pending = JS_GetException(ctx)
//		head = js_error_toString(ctx, error)                // runs the guest's own getters, as elsewhere
//		JS_Throw(ctx, pending)
//		tail = hostCall(ctx, error, length | traced, frames) // a line break before each frame
//		if tail is not a string { tail = JS_NewStringLen(ctx, frames, length) }
//		if head is an exception { return tail }
//		return JS_ConcatString(ctx, head, tail)
const (
	funcBacktrace     = 374 // build_backtrace
	funcThrow         = 370 // JS_Throw(ctx, value)
	funcErrorToString = 841 // js_error_toString(ctx, this, argc, argv), in the table alone
	funcConcat        = 472 // JS_ConcatString(ctx, a, b), which takes both
	funcNewStringLen  = 348 // JS_NewStringLen(ctx, text, length)
	importHostCall    = 0

	// What build_backtrace has in its locals when it makes the string.
	backtraceError  = 1
	backtraceFrames = 7
	backtraceLength = 11
	// backtraceString is which of the strings that it makes has the frames.
	backtraceString = 3

	// traced is set in the argument count of a host call that is made by trace: no other has so many.
	traced = 1 << 31
)

const (
	opI32WrapI64 = 0xa7
	opI64ShrU    = 0x88
)

// callTrace stands for the last call of JS_NewStringLen in build_backtrace, with its arguments on the stack.
func (p positions) callTrace() []byte {
	code := []byte{opDrop, opDrop, opDrop, opLocalGet, 0, opLocalGet, backtraceError, opLocalGet, backtraceFrames, opLocalGet, backtraceLength, opCall}
	return appendUint(code, p.first+addedTrace)
}

// traceBody is the code of addedTrace.
func traceBody() []byte {
	const ctx, thrown, frames, length, pending, head, tail = 0, 1, 2, 3, 4, 5, 6
	code := []byte{1, 3, typeI64}
	add := func(b ...byte) { code = append(code, b...) }
	call := func(function uint64) { code = appendUint(append(code, opCall), function) }
	tagIs := func(value byte, tag int64) {
		add(opLocalGet, value, opI64Const, 32, opI64ShrU, opI32WrapI64)
		code = appendInt(append(code, opI32Const), tag)
		add(opI32Eq)
	}
	add(opLocalGet, ctx)
	call(funcGetException)
	add(opLocalSet, pending, opLocalGet, ctx, opLocalGet, thrown, opI32Const, 0, opI32Const, 0)
	call(funcErrorToString)
	add(opLocalSet, head, opLocalGet, ctx, opLocalGet, pending)
	call(funcThrow)
	add(opDrop, opLocalGet, ctx, opLocalGet, thrown, opLocalGet, length)
	code = appendInt(append(code, opI32Const), -traced)
	add(opI32Or, opLocalGet, frames)
	call(importHostCall)
	add(opLocalSet, tail)
	tagIs(tail, tagString-1<<32)
	add(opI32Eqz, opIf, blockEmpty, opLocalGet, ctx, opLocalGet, frames, opLocalGet, length)
	call(funcNewStringLen)
	add(opLocalSet, tail, opEnd)
	tagIs(head, tagException)
	add(opIf, blockEmpty, opLocalGet, tail, opReturn, opEnd)
	add(opLocalGet, ctx, opLocalGet, head, opLocalGet, tail)
	call(funcConcat)
	add(opEnd)
	return code
}

// trace answers trace: a string of the frames as the host words them. While the guest runs for the host's own sake, the host
// makes nothing of what it lists.
func (in *Instance) trace(at, length uint32) (Value, error) {
	if in.nesting {
		return Undefined, nil
	}
	b, ok := in.mod.Memory().Read(at, length)
	if !ok {
		return Undefined, nil
	}
	text, err := in.host.Trace(in, string(b))
	if err != nil {
		return 0, err
	}
	return in.String(text)
}
