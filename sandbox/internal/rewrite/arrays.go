package rewrite

import "github.com/airlock-run/airlock/sandbox/internal/wasm"

// Other engines move the elements of an array at once where an element is inserted or removed (splice, unshift, shift,
// copyWithin). quickjs-ng 0.15.1 copies each with its count of references. When the last element is deleted, or one is
// set that leaves a gap, as splice and unshift do where they insert more than one, it also replaces the elements by
// properties, which stay slow. Here JS_CopySubArray moves the elements and fills the gap, and delete_property
// shortens the array.

// arrayFacts say where an array has its elements, and which functions change them. In a build without names, or with
// other code, the functions are unknown and stay as they are.
type arrayFacts struct {
	move      uint64 // JS_CopySubArray(ctx, object, to, from, count, direction) int
	remove    uint64 // delete_property(ctx, object, atom) int
	set       uint64 // JS_SetPropertyInt64(ctx, object, index, value) int, which frees the value
	duplicate uint64 // JS_DupValue(ctx, value) value

	class      int64 // the class of arrays
	flags      int64 // the offset of the byte in an object that says whether it has elements
	fast       int64 // the bit
	count      int64 // the offset of the number of its elements
	values     int64 // the offset of the address of its elements
	properties int64 // the offset of the address of its properties; the first is its length
	plain      int64 // the offset of a word of the context, negative unless a prototype of arrays has elements
}

const (
	typeMove   = "illlli"
	typeRemove = "iii"

	valueShift = 3        // the size of a value, as a power of two
	indexAtom  = -1 << 31 // the bit of an atom that is an index
)

func (f *finder) arrays() arrayFacts {
	none := arrayFacts{move: unknown, remove: unknown}
	move, code := f.named("JS_CopySubArray", typeMove, "i")
	remove, _ := f.named("delete_property", typeRemove, "i")
	set, _ := f.named("JS_SetPropertyInt64", "illl", "i")
	duplicate, _ := f.named("JS_DupValue", "il", "l")
	if move == unknown || remove == unknown || set == unknown || duplicate == unknown {
		return none
	}
	class, ok := classOf(code)
	flags := find(code, wasm.I32Load8U, wasm.I32Const, wasm.I32And, wasm.BrIf)
	count := find(code, wasm.LocalGet, wasm.I64Load32U, wasm.LocalTee)
	values := find(code, wasm.I32Load, wasm.LocalTee, wasm.LocalGet, wasm.I32Add, wasm.LocalSet)
	// ctx->std_array_prototype, and array->prop[0] is an integer: push looks for both.
	_, push := f.named("js_array_push", typePush, "l")
	properties := find(push, wasm.I32Load, wasm.I64Load, wasm.LocalTee, wasm.I64Const)
	plain := find(push, wasm.LocalGet, wasm.I32Load, wasm.I32Const, wasm.I32GtS, wasm.BrIf)
	switch {
	case !ok, flags < 0, count < 0, values < 0, properties < 0, plain < 0:
		return none
	case push[properties+1].Imm != 0, push[plain].Imm != 0, push[plain+2].Imm != -1:
		return none
	}
	return arrayFacts{
		move: move, remove: remove, set: set, duplicate: duplicate,
		class: class, flags: code[flags].Imm, fast: code[flags+1].Imm, count: code[count+1].Imm,
		values: code[values].Imm, properties: push[properties].Imm, plain: push[plain+1].Imm,
	}
}

// isFast pushes whether the array in a local has elements rather than properties.
func (a *assembler) isFast(array uint64) *assembler {
	x := a.w.arrays
	return a.get(array).load8(x.flags).i32(x.fast).op(wasm.I32And)
}

// repeat makes do a loop that goes on while the condition that it leaves on the stack holds.
func (a *assembler) repeat(do func()) {
	a.op(wasm.Loop, wasm.BlockEmpty).op(a.w.tick()...)
	do()
	a.unsigned(wasm.BrIf, 0).op(wasm.End)
}

// moveBody returns the code that stands before JS_CopySubArray. It handles arrays that have all of the elements.
func (w *rewriter) moveBody() []byte {
	const ctx, object, to64, from64, count64, direction = 0, 1, 2, 3, 4, 5
	const array, to, from, count, distance, up, n, at, end, value = 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	x, a := w.arrays, w.assemble()
	a.locals = []byte{2, 9, wasm.TypeI32, 1, wasm.TypeI64}
	orElse := func() { // the engine's own code, if the condition on the stack holds
		a.ifThen().get(ctx).get(object).get(to64).get(from64).get(count64).get(direction)
		a.call(w.added(addedMove)).op(wasm.Return, wasm.End)
	}
	low := func(wide, narrow uint64) { a.get(wide).op(wasm.I32WrapI64).set(narrow) }
	sum := func(one, other uint64) *assembler { return a.get(one).get(other).op(wasm.I32Add) }
	size := func() *assembler { return a.get(array).load(x.count) }
	// addressOf turns the index that push pushes into an address.
	addressOf := func(push func()) *assembler {
		a.get(array).load(x.values)
		push()
		return a.i32(valueShift).op(wasm.I32Shl, wasm.I32Add)
	}
	local := func(i uint64) func() { return func() { a.get(i) } }
	// each runs do for distance values from an index on. Their addresses are in at.
	each := func(first func(), do func()) {
		addressOf(first).set(at)
		a.get(at).get(distance).i32(valueShift).op(wasm.I32Shl, wasm.I32Add).set(end)
		a.repeat(func() {
			do()
			a.get(at).i32(1 << valueShift).op(wasm.I32Add).set(at)
			a.get(at).get(end).op(wasm.I32Ne)
		})
	}

	a.hasTag(object, tagObject)
	a.op(wasm.I32Eqz)
	orElse()
	low(object, array)
	a.get(array).load16(objectClass).i32(x.class).op(wasm.I32Ne)
	a.isFast(array).op(wasm.I32Eqz, wasm.I32Or)
	orElse()
	a.get(to64).get(from64).op(wasm.I64Or).get(count64).op(wasm.I64Or).i64(31).op(wasm.I64ShrU, wasm.I32WrapI64)
	orElse() // 2^31 or more, or negative
	low(to64, to)
	low(from64, from)
	low(count64, count)
	a.get(direction).i32(0).op(wasm.I32LtS).set(up)
	a.get(up).ifResult(wasm.TypeI32).get(to).get(from).op(wasm.I32Sub)
	a.op(wasm.Else).get(from).get(to).op(wasm.I32Sub, wasm.End).set(distance)
	a.get(distance).i32(0).op(wasm.I32LeS).get(count).op(wasm.I32Eqz, wasm.I32Or)
	orElse()

	// An array that has no holes and grows gets its new elements one by one, the first of them first, so that there is
	// never a gap. Those that the caller sets next are undefined until then. An accessor of the prototype of a class may
	// change the array meanwhile.
	size().set(n)
	a.get(up).get(n)
	sum(from, count).op(wasm.I32Eq, wasm.I32And)
	a.get(array).load(x.properties).load64(0).get(n).op(wasm.I64ExtendU, wasm.I64Eq, wasm.I32And)
	a.get(ctx).load(x.plain).i32(0).op(wasm.I32LtS, wasm.I32And).get(n)
	sum(to, count).op(wasm.I32LtU, wasm.I32And).ifThen()
	a.get(n).set(at)
	a.repeat(func() {
		a.get(ctx).get(object).get(at).op(wasm.I64ExtendU)
		a.get(at).get(to).op(wasm.I32LtU).ifResult(wasm.TypeI64).i64(valueUndefined).op(wasm.Else)
		a.get(ctx)
		addressOf(func() { a.get(at).get(distance).op(wasm.I32Sub) }).load64(0).original(x.duplicate).op(wasm.End)
		a.original(x.set).i32(0).op(wasm.I32LtS).ifThen().i32(-1).op(wasm.Return, wasm.End)
		a.get(at).i32(1).op(wasm.I32Add).set(at)
		a.isFast(array).op(wasm.I32Eqz)
		size().get(at).op(wasm.I32Ne, wasm.I32Or)
		orElse()
		a.get(at)
		sum(to, count).op(wasm.I32Ne)
	})
	a.get(n).get(to).op(wasm.I32LeU).ifThen().i32(0).op(wasm.Return, wasm.End)
	a.get(n).get(to).op(wasm.I32Sub).set(count)
	a.get(count).op(wasm.I64ExtendU).set(count64).op(wasm.End)

	a.get(count).get(distance).op(wasm.I32LeU)
	size()
	sum(from, count).op(wasm.I32LtU, wasm.I32Or)
	size()
	sum(to, count).op(wasm.I32LtU, wasm.I32Or)
	orElse()

	// What is overwritten is released, and what stays behind has one more reference.
	each(func() {
		a.get(up).ifResult(wasm.TypeI32)
		sum(from, count).op(wasm.Else).get(to).op(wasm.End)
	}, func() {
		a.get(at).load64(0).set(value)
		a.get(at).i64(valueUndefined).store64(0)
		a.get(ctx).get(value).original(w.api.release)
	})
	addressOf(local(to))
	addressOf(local(from))
	a.get(count).i32(valueShift).op(wasm.I32Shl).op(w.charge()...).op(wasm.MemoryBulkPrefix, wasm.MemoryCopy, 0, 0)
	each(func() {
		a.get(up).ifResult(wasm.TypeI32).get(from).op(wasm.Else)
		sum(to, count).op(wasm.End)
	}, func() {
		a.get(ctx).get(at).load64(0).original(x.duplicate).op(wasm.Drop)
	})
	return a.i32(0).end()
}

// removeBody returns the code that stands before delete_property. It takes the last element from an array.
func (w *rewriter) removeBody() []byte {
	const ctx, array, atom, last, at, value = 0, 1, 2, 3, 4, 5
	x, a := w.arrays, w.assemble()
	a.locals = []byte{2, 2, wasm.TypeI32, 1, wasm.TypeI64}
	a.get(array).load(x.count).i32(1).op(wasm.I32Sub).set(last)
	a.get(array).load16(objectClass).i32(x.class).op(wasm.I32Eq)
	a.isFast(array).i32(0).op(wasm.I32Ne, wasm.I32And)
	a.get(atom).get(last).i32(indexAtom).op(wasm.I32Or, wasm.I32Eq, wasm.I32And)
	a.get(last).i32(0).op(wasm.I32LtS, wasm.I32Eqz, wasm.I32And).ifThen()
	a.get(array).load(x.values).get(last).i32(valueShift).op(wasm.I32Shl, wasm.I32Add).set(at)
	a.get(at).load64(0).set(value)
	a.get(array).get(last).store(x.count)
	a.get(ctx).get(value).original(w.api.release)
	a.i32(1).op(wasm.Return, wasm.End)
	return a.get(ctx).get(array).get(atom).call(w.added(addedRemove)).end()
}
