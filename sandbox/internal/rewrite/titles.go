package rewrite

import "github.com/airlock-run/airlock/sandbox/internal/wasm"

// The stack of an error begins with its name and message. In Node they are those that the error has when its stack is
// first read, so that a constructor that sets this.name, or a handler that sets e.message, changes it. The engine makes
// the stack with the error. So a new name or message changes the beginning of the stack, if it is the old one:
//
//	title(ctx, error, …):              // stands before an assignment or a definition of name or message
//		before = js_error_toString(ctx, error)
//		result = the original function
//		stack = JS_GetPropertyStr(ctx, error, "stack")
//		if result == 1 && stack.startsWith(before) {
//			error.stack = js_error_toString(ctx, error) + stack.slice(before.length)
//		}
//		return result
//
// While it works, globalTitling keeps assignments of the guest's own getters out of it.

// titleFacts are the functions behind titles. In a build without names they are unknown.
type titleFacts struct {
	set      uint64 // JS_SetPropertyInternal2(ctx, object, name, value, this, flags) int
	define   uint64 // JS_DefineProperty(ctx, object, name, value, getter, setter, flags) int
	includes uint64 // js_string_includes(ctx, this, argc, argv, kind) value
	slice    uint64 // js_string_slice(ctx, this, argc, argv) value
	get      uint64 // JS_GetPropertyStr(ctx, object, name) value
	stack    int64  // the address of the text "stack"
	name     int64  // the atoms of the names of properties
	message  int64
	class    int64 // the class of errors
	fast     int   // where the interpreter has compared the tag of an object whose property it sets by itself
	object   uint64
	property uint64 // the locals that hold that object and the name of the property
}

const (
	typeSet    = "ililli"
	typeDefine = "ilillli"
	startsWith = 1

	stringLength = 4 // the offset of a string's length, whose highest bit says how wide its characters are
	valueTrue    = 1<<32 | 1

	valueUndefined = 3 << 32
)

func (f *finder) titles(t traceFacts, interpreter uint64) titleFacts {
	none := titleFacts{set: unknown, define: unknown}
	var x titleFacts
	x.set, _ = f.named("JS_SetPropertyInternal2", typeSet, "i")
	x.define, _ = f.named("JS_DefineProperty", typeDefine, "i")
	x.includes, _ = f.named("js_string_includes", "iliii", "l")
	x.slice, _ = f.named("js_string_slice", typeFunction, "l")
	x.get, _ = f.named("JS_GetPropertyStr", "ili", "l")
	read, _ := f.named("JS_GetPropertyInternal", "ilili", "l")
	_, tests := f.named("js_error_isError", typeFunction, "l")
	for _, function := range []uint64{x.set, x.define, x.includes, x.slice, x.get, read} {
		if function == unknown {
			return none
		}
	}
	// js_error_toString reads the name and then the message.
	var atoms []int64
	code := f.of(t.errorToString)
	for i := range code {
		if ops(code, i, wasm.I32Const, wasm.LocalGet, wasm.I32Const, wasm.Call) && uint64(code[i+3].Imm) == read {
			atoms = append(atoms, code[i].Imm)
		}
	}
	class := find(tests, wasm.I32Load16U, wasm.I32Const, wasm.I32Eq)
	at := f.Strings("stack")
	if len(atoms) != 2 || class < 0 || tests[class].Imm != objectClass || len(at) == 0 {
		return none
	}
	x.stack, x.name, x.message, x.class = int64(at[0]), atoms[0], atoms[1], tests[class+1].Imm
	if !x.fastSets(f.of(interpreter)) {
		return none
	}
	return x
}

// fastSets finds where the interpreter decides whether to set an own property without JS_SetPropertyInternal2.
func (x *titleFacts) fastSets(code []wasm.Instruction) bool {
	found := 0
	for i := range code {
		// object, property, value, object, flags
		if !ops(code, i, wasm.LocalGet, wasm.LocalGet, wasm.LocalGet, wasm.I32Const, wasm.I32Add, wasm.I64Load,
			wasm.LocalGet, wasm.I32Const, wasm.Call) || uint64(code[i+8].Imm) != x.set || code[i].Imm != code[i+6].Imm {
			continue
		}
		for k := i; k > 0; k-- {
			if ops(code, k, wasm.LocalTee, wasm.I64Const, wasm.I64LtU, wasm.BrIf) {
				if code[k].Imm == code[i].Imm {
					x.object, x.property, x.fast = uint64(code[i].Imm), uint64(code[i+1].Imm), code[k+2].End
					found++
				}
				break
			}
		}
	}
	return found == 1
}

// slower returns what follows the comparison of a tag by which the interpreter leaves an assignment to
// JS_SetPropertyInternal2: it does that also with the names and messages of errors.
func (w *rewriter) slower() []byte {
	x, a := w.titles, w.assemble()
	a.ifResult(wasm.TypeI32).i32(1).op(wasm.Else)
	a.get(x.property).i32(x.name).op(wasm.I32Eq).get(x.property).i32(x.message).op(wasm.I32Eq, wasm.I32Or)
	a.ifResult(wasm.TypeI32)
	a.get(x.object).op(wasm.I32WrapI64).load16(objectClass).i32(x.class).op(wasm.I32Eq)
	return a.op(wasm.Else).i32(0).op(wasm.End, wasm.End).bytes()
}

// titled adds to the edits of a function that it calls title instead of going on, if it is to.
func (w *rewriter) titled(function uint64, e *edits) {
	const object, name, this = 1, 2, 4
	x, a, added, params := w.titles, w.assemble(), addedTitleSet, uint64(6)
	a.get(name).i32(x.name).op(wasm.I32Eq)
	switch function {
	case x.set:
		a.get(name).i32(x.message).op(wasm.I32Eq, wasm.I32Or)
		a.get(object).get(this).op(wasm.I64Eq, wasm.I32And)
	case x.define:
		added, params = addedTitleDefine, 7
	case w.interpreter:
		if x.set != unknown {
			e.after = map[int][]byte{x.fast: w.slower()}
		}
		return
	default:
		return
	}
	a.getGlobal(globalTitling).op(wasm.I32Eqz, wasm.I32And).ifThen()
	a.hasTag(object, tagObject).ifThen()
	a.get(object).op(wasm.I32WrapI64).load16(objectClass).i32(x.class).op(wasm.I32Eq).ifThen()
	for i := range params {
		a.get(i)
	}
	a.call(w.added(added)).op(wasm.Return, wasm.End, wasm.End, wasm.End)
	e.begin = append(a.bytes(), e.begin...)
}

// titleBody returns the code of title in front of a function with so many parameters.
func (w *rewriter) titleBody(original, params uint64) []byte {
	const ctx, object, stackPointer, room = 0, 1, 0, 16
	x, t := w.titles, w.trace
	before, stack, after, result, argv := params, params+1, params+2, params+3, params+4
	a := w.assemble()
	a.locals = []byte{2, 3, wasm.TypeI64, 2, wasm.TypeI32}
	toString := func(into uint64) { a.get(ctx).get(object).i32(0).i32(0).original(t.errorToString).set(into) }
	release := func(local uint64) { a.get(ctx).get(local).original(w.api.release) }
	// caught forgets the exception if a local holds one.
	caught := func(local uint64) *assembler {
		a.hasTag(local, tagException).ifThen()
		return a.get(ctx).get(ctx).original(t.getException).original(w.api.release)
	}
	isText := func(local uint64) *assembler {
		a.hasTag(local, tagString)
		return a.hasTag(local, tagRope).op(wasm.I32Or)
	}
	move := func(by int64) {
		a.op(wasm.GlobalGet, stackPointer).i32(by).op(wasm.I32Add).set(argv)
		a.get(argv).op(wasm.GlobalSet, stackPointer)
	}

	a.i32(1).setGlobal(globalTitling)
	toString(before)
	caught(before).op(wasm.End)
	a.hasTag(before, tagRope).ifThen() // only a flat string has its length where it is read below
	a.get(ctx).get(before).original(w.api.toString).set(after)
	release(before)
	a.get(after).set(before)
	caught(before).op(wasm.End, wasm.End)
	for i := range params {
		a.get(i)
	}
	a.original(original).set(result)
	a.get(result).i32(1).op(wasm.I32Eq)
	a.hasTag(before, tagString).op(wasm.I32And).ifThen()
	a.get(ctx).get(object).i32(x.stack).original(x.get).set(stack)
	caught(stack).op(wasm.End)
	isText(stack).ifThen()
	move(-room)
	a.get(argv).get(before).store64(0)
	a.get(ctx).get(stack).i32(1).get(argv).i32(startsWith).original(x.includes).set(after)
	caught(after).op(wasm.End)
	a.get(after).i64(valueTrue).op(wasm.I64Eq).ifThen()
	toString(after)
	caught(after).op(wasm.Else)
	a.get(argv).get(before).op(wasm.I32WrapI64).load(stringLength).i32(1<<31-1).op(wasm.I32And, wasm.I64ExtendU)
	a.store64(0).get(argv).i64(valueUndefined).store64(8) // to its end
	a.get(ctx).get(after)                                 // for the concatenation, which releases both
	a.get(ctx).get(stack).i32(1).get(argv).original(x.slice).original(t.concat).set(after)
	caught(after).op(wasm.Else)
	a.get(ctx).get(object).i32(x.stack).get(after).original(t.setProperty).i32(-1).op(wasm.I32Eq).ifThen()
	a.get(ctx).get(ctx).original(t.getException).original(w.api.release)
	a.op(wasm.End, wasm.End, wasm.End, wasm.End)
	move(room)
	a.op(wasm.End)
	release(stack)
	a.op(wasm.End)
	release(before)
	a.i32(0).setGlobal(globalTitling)
	return a.get(result).end()
}
