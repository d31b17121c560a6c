package rewrite

import (
	"slices"

	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

// Faults of quickjs-ng 0.15.1 that upstream mended later are mended here in functions that the name section names. In a
// build without names, or with other code, a function stays as it is.
//
//   - js_array_push takes the memory of an array that is longer than its elements, such as new Array(3), for elements:
//     the array then has values that nobody wrote. Upstream's condition is added (issue 1562).
//   - The collector of cycles does not see that a closure keeps the frame of a suspended function whose variable it
//     uses, and frees the frame while the closure can still resume it (7955cfd). Where the collector subtracts the
//     references that objects have to each other, and where it adds them again, it leaves out those to async functions,
//     and to generators that have not ended and whose variables closures use. It so takes these for roots: a cycle with
//     one that never ends stays until the run ends.
//   - js_array_cmp_generic does not call the comparison of sort for identical values, on whose call jQuery's
//     uniqueSort relies (issue 1645).
//   - js_regexp_escape takes a concatenated text that is not yet joined for a joined one (issue 1571). It is joined
//     first.
//   - map_hash_key leaves the low bits of the hashes of small numbers zero, so that keys 0 to 999 share one bucket of
//     1,024. The high bits are mixed into them.
//   - js_async_dispose_step and js_async_dispose_rethrow read an argument that they may not have (issue 1661). They get
//     the values that they were created with for arguments then.
//   - js_disposable_stack_dispose leaves in the stack what it has disposed of and freed, where the collector finds it
//     when it runs during a later disposal (issue 1564). js_disposable_stack_mark marks nothing then: what the stack
//     still holds is so taken for a root.

// mendFacts are the functions with these faults, and where they have them.
type mendFacts struct {
	push     pushFacts
	counting countingFacts
	sort     sortFacts
	escape   escapeFacts
	hash     hashFacts
	dispose  []uint64 // (ctx, this, argc, argv, magic, data) value
	stack    stackFacts
}

// stackFacts say where js_disposable_stack_mark(runtime, stack, mark) finds whether a stack was disposed of.
type stackFacts struct {
	function uint64
	data     int64 // the offset of the data in the object
	disposed int64 // the offset of the byte in the data
}

// pushFacts say where js_array_push decides to append to the elements of an array.
type pushFacts struct {
	function uint64 // js_array_push(ctx, this, argc, argv, unshift) value
	compared int    // where the comparison ends that leaves true on the stack if the elements cannot be appended to
	array    uint64 // the local that holds the array
	length   uint64 // the local that holds its length
	count    int64  // the offset of the number of its elements
}

// countingFacts say where the collector changes the number of references to an object, and which objects are generators
// that can go on.
type countingFacts struct {
	changes    map[uint64]map[int]change // by function, and by where the constant starts that is added; or none
	generators [2]generatorFacts
	references int64 // the offset of the number of references to a frame's variables, in the state of a function
}

// change is one change of the number of references to the object in a local.
type change struct {
	object uint64
	by     int64
}

// generatorFacts say how to tell a generator, or an async generator, that can go on.
type generatorFacts struct {
	class     int64 // its class
	data      int64 // the offset of its data in the object
	state     int64 // the offset of what it is doing, in the data
	mask      int64 // the bits of that which tell whether it has ended
	ended     int64 // their value then
	suspended int64 // the offset of the state of its function, in the data
}

// sortFacts say where js_array_cmp_generic(a, b, options) int compares two values bit by bit.
type sortFacts struct {
	function uint64
	compared int // where the comparison ends
}

// escapeFacts are js_regexp_escape(ctx, this, argc, argv) value and JS_ToString(ctx, value) value.
type escapeFacts struct{ function, join uint64 }

// hashFacts say where map_hash_key(value) int multiplies the bits of pointers and numbers.
type hashFacts struct {
	function uint64
	factors  []int // where the constants start
}

const (
	typePush    = "iliii"
	typeDispose = "iliiii"

	// The byte of an object's header of whose bits the lowest are its kind (JSGCObjectTypeEnum), and the class of a
	// JSObject.
	gcKind          = 4
	gcKindMask      = 15
	gcObject        = 0
	gcAsyncFunction = 4
	objectClass     = 6
)

func (f *finder) mends() mendFacts {
	return mendFacts{push: f.push(), counting: f.counting(), sort: f.sort(), escape: f.escape(), hash: f.hash(),
		dispose: f.dispose(), stack: f.stack()}
}

// named returns the function that the name section calls name, if it has a type, and its code; otherwise unknown.
func (f *finder) named(name, params, results string) (uint64, []wasm.Instruction) {
	function, ok := f.Names[name]
	if !ok || !f.hasType(function, params, results) {
		return unknown, nil
	}
	return function, f.of(function)
}

// ops reports whether the instructions from at on have these opcodes.
func ops(code []wasm.Instruction, at int, want ...int) bool {
	for i, op := range want {
		if at+i >= len(code) || code[at+i].Op != op {
			return false
		}
	}
	return true
}

// find returns where instructions with these opcodes stand first, or -1.
func find(code []wasm.Instruction, want ...int) int {
	for i := range code {
		if ops(code, i, want...) {
			return i
		}
	}
	return -1
}

// push finds the decision of js_array_push. In a build without names, or with other code, the function is unknown.
func (f *finder) push() pushFacts {
	none := pushFacts{function: unknown}
	function, code := f.named("js_array_push", typePush, "l")
	var found []pushFacts
	for i := range code {
		// argc + length < length: br_if
		if !ops(code, i, wasm.I32Add, wasm.LocalTee, wasm.LocalGet, wasm.I32LtU, wasm.BrIf) {
			continue
		}
		p := pushFacts{function: function, compared: code[i+3].End, length: uint64(code[i+2].Imm), count: -1}
		longer, arrays := code[i+1].Imm, 0
		for k := i; k < len(code); k++ {
			switch {
			case ops(code, k, wasm.LocalGet, wasm.LocalGet, wasm.I32Load, wasm.I32LeU) && code[k].Imm == longer: // its room
				p.array, arrays = uint64(code[k+1].Imm), arrays+1
			case arrays == 1 && ops(code, k, wasm.LocalGet, wasm.LocalGet, wasm.I32Store) && uint64(code[k].Imm) == p.array &&
				code[k+1].Imm == longer: // count = longer
				if p.count >= 0 {
					return none
				}
				p.count = code[k+2].Imm
			}
		}
		if arrays == 1 && p.count >= 0 {
			found = append(found, p)
		}
	}
	if len(found) != 1 {
		return none
	}
	return found[0]
}

// longer returns what follows the comparison of js_array_push: || the number of elements != length.
func (p pushFacts) longer(w *rewriter) []byte {
	return w.assemble().get(p.array).load(p.count).get(p.length).op(wasm.I32Ne, wasm.I32Or).bytes()
}

// counting finds how the collector counts references. In JS_RunGC the compiler has inlined most of it, for each of the
// three passes over all objects: one subtracts and two add.
func (f *finder) counting() (c countingFacts) {
	c.changes = make(map[uint64]map[int]change)
	var subtract, add int
	for name, params := range map[string]string{"JS_RunGC": "i", "gc_decref_child": "ii", "gc_scan_incref_child": "ii",
		"gc_scan_incref_child2": "ii"} {
		function, code := f.named(name, params, "")
		if function == unknown {
			return countingFacts{}
		}
		changes, tested := changesIn(code)
		c.changes[function], add = changes, add+tested
		for _, ch := range changes {
			if ch.by < 0 {
				subtract++
			}
		}
	}
	free, code := f.named("async_func_free", "ii", "")
	references := find(code, wasm.I32Load16U)
	generator, ok := f.generator(free)
	async, also := f.asyncGenerator()
	if subtract == 0 || subtract != add || references < 0 || !ok || !also {
		return countingFacts{}
	}
	c.generators, c.references = [2]generatorFacts{generator, async}, code[references].Imm
	return c
}

// changesIn returns where code adds one to the number of references to an object, which is the first field of its
// header, or subtracts one; and how often it keeps the number from before it adds.
func changesIn(code []wasm.Instruction) (changes map[int]change, kept int) {
	changes = make(map[int]change)
	for i := range code {
		tee := 0
		if ops(code, i, wasm.LocalGet, wasm.I32Load, wasm.LocalTee) {
			tee = 1
		}
		if !ops(code, i, wasm.LocalGet, wasm.I32Load) || !ops(code, i+2+tee, wasm.I32Const, wasm.I32Add) ||
			code[i+1].Imm != 0 {
			continue
		}
		one := code[i+2+tee]
		switch one.Imm {
		case 1:
			kept += tee
		case -1:
		default:
			continue
		}
		changes[one.Start] = change{object: uint64(code[i].Imm), by: one.Imm}
	}
	return changes, kept
}

// generator reads how js_generator_finalizer frees the state of a generator's function, with the function free.
func (f *finder) generator(free uint64) (g generatorFacts, ok bool) {
	_, code := f.named("js_generator_finalizer", "il", "")
	class, ok := classOf(code)
	data := find(code, wasm.I32Load, wasm.LocalTee, wasm.I32Eqz)
	ended := find(code, wasm.LocalGet, wasm.I32Load, wasm.I32Const, wasm.I32Eq, wasm.BrIf)
	frees := find(code, wasm.I32Const, wasm.I32Add, wasm.Call)
	if !ok || data < 0 || ended < data || frees < ended || uint64(code[frees+2].Imm) != free {
		return g, false
	}
	return generatorFacts{
		class: class, data: code[data].Imm, state: code[ended+1].Imm, mask: -1, ended: code[ended+2].Imm,
		suspended: code[frees].Imm,
	}, true
}

// asyncGenerator reads how js_async_generator_mark reaches what the function of an async generator holds.
func (f *finder) asyncGenerator() (g generatorFacts, ok bool) {
	_, code := f.named("js_async_generator_mark", "ili", "")
	class, ok := classOf(code)
	data := find(code, wasm.I32Load, wasm.LocalTee, wasm.I32Eqz)
	ended := find(code, wasm.LocalGet, wasm.I32Load, wasm.I32Const, wasm.I32And, wasm.I32Const, wasm.I32Eq, wasm.BrIf)
	if !ok || data < 0 || ended < data {
		return g, false
	}
	g = generatorFacts{
		class: class, data: code[data].Imm, state: code[ended+1].Imm, mask: code[ended+2].Imm, ended: code[ended+4].Imm,
	}
	// It marks the function, and then this, which is the first field of the function's state.
	rest := code[ended:]
	function := find(rest, wasm.LocalGet, wasm.I64Load)
	if function < 0 {
		return g, false
	}
	this := find(rest[function+1:], wasm.LocalGet, wasm.I64Load)
	if this < 0 {
		return g, false
	}
	g.suspended = rest[function+1+this+1].Imm
	return g, rest[function+1].Imm > g.suspended
}

// classOf returns the class that a function demands of an object first.
func classOf(code []wasm.Instruction) (class int64, ok bool) {
	at := find(code, wasm.I32Load16U, wasm.I32Const, wasm.I32Ne)
	if at < 0 || code[at].Imm != objectClass {
		return 0, false
	}
	return code[at+1].Imm, true
}

// counted returns what replaces the constant of a change: zero for roots. Most objects are recognized without a call.
func (w *rewriter) counted(c change) []byte {
	a := w.assemble().get(c.object).load8(gcKind).i32(gcKindMask).op(wasm.I32And).i32(gcAsyncFunction).op(wasm.I32Eq)
	for _, g := range w.mend.counting.generators {
		a.get(c.object).load16(objectClass).i32(g.class).op(wasm.I32Eq, wasm.I32Or)
	}
	a.ifResult(wasm.TypeI32).i32(c.by).i32(0).get(c.object).call(w.added(addedRoot)).op(wasm.I32Eqz, wasm.Select)
	return a.op(wasm.Else).i32(c.by).op(wasm.End).bytes()
}

// rootBody returns root(object) int, which reports whether the collector takes an object for a root.
func (w *rewriter) rootBody() []byte {
	const object, kind, data = 0, 1, 2
	a := w.assemble().declare(2, wasm.TypeI32)
	answer := func(v int64) { a.ifThen().i32(v).op(wasm.Return, wasm.End) }
	a.get(object).load8(gcKind).i32(gcKindMask).op(wasm.I32And).set(kind)
	a.get(kind).i32(gcAsyncFunction).op(wasm.I32Eq)
	answer(1)
	a.get(kind).i32(gcObject).op(wasm.I32Ne)
	answer(0)
	for _, g := range w.mend.counting.generators {
		a.get(object).load16(objectClass).i32(g.class).op(wasm.I32Eq).ifThen()
		a.get(object).load(g.data).set(data)
		a.get(data).op(wasm.I32Eqz)
		answer(0)
		a.get(data).load(g.state).i32(g.mask).op(wasm.I32And).i32(g.ended).op(wasm.I32Eq)
		answer(0)
		a.get(data).load16(g.suspended+w.mend.counting.references).i32(0).op(wasm.I32Ne, wasm.Return, wasm.End)
	}
	return a.i32(0).end()
}

// sort finds the comparison of two values in js_array_cmp_generic.
func (f *finder) sort() sortFacts {
	function, code := f.named("js_array_cmp_generic", "iii", "i")
	at := find(code, wasm.LocalGet, wasm.I64Load, wasm.LocalGet, wasm.I64Load, wasm.I64Eq, wasm.BrIf)
	if at < 0 || code[at].Imm != 0 || code[at+1].Imm != 0 || code[at+2].Imm != 1 || code[at+3].Imm != 0 {
		return sortFacts{function: unknown}
	}
	return sortFacts{function, code[at+4].End}
}

// never returns what follows a comparison to make it false.
func (w *rewriter) never() []byte { return w.assemble().op(wasm.Drop).i32(0).bytes() }

func (f *finder) escape() escapeFacts {
	function, code := f.named("js_regexp_escape", typeFunction, "l")
	join, _ := f.named("JS_ToString", "il", "l")
	// It reads its first argument, and looks for both kinds of texts at once.
	at := find(code, wasm.LocalGet, wasm.I64Load, wasm.LocalTee, wasm.I64Const, wasm.I64ShrU)
	if join == unknown || at < 0 || code[at].Imm != 3 || code[at+1].Imm != 0 {
		return escapeFacts{unknown, unknown}
	}
	return escapeFacts{function, join}
}

// escapeBody returns the code that stands before js_regexp_escape: it puts a joined text in the place of its argument
// for the time of the call.
func (w *rewriter) escapeBody() []byte {
	const ctx, this, argc, argv, text, joined, result = 0, 1, 2, 3, 4, 5, 6
	a := w.assemble().declare(3, wasm.TypeI64)
	original := func() { a.get(ctx).get(this).get(argc).get(argv).call(w.added(addedEscape)) }
	a.get(argv).load64(0).set(text)
	a.hasTag(text, tagRope)
	a.op(wasm.I32Eqz).ifThen()
	original()
	a.op(wasm.Return, wasm.End)
	a.get(ctx).get(text).original(w.mend.escape.join).set(joined)
	a.hasTag(joined, tagException)
	a.ifThen().get(joined).op(wasm.Return, wasm.End)
	a.get(argv).get(joined).store64(0)
	original()
	a.set(result)
	a.get(argv).get(text).store64(0)
	a.get(ctx).get(joined).original(w.api.release)
	return a.get(result).end()
}

// hash finds the two products in map_hash_key.
func (f *finder) hash() hashFacts {
	const factor = 3163
	function, code := f.named("map_hash_key", "l", "i")
	h := hashFacts{function: function}
	for at, i := range code {
		if i.Op == wasm.I32Const && i.Imm == factor && ops(code, at+1, wasm.I32Mul) && ops(code, at+3, wasm.I32Xor) {
			h.factors = append(h.factors, i.Start)
		}
	}
	if len(h.factors) != 2 {
		return hashFacts{function: unknown}
	}
	return h
}

// mixed returns what stands in place of a factor. It multiplies by 2^32 divided by the golden ratio (Knuth, The Art of
// Computer Programming, volume 3, section 6.4), which spreads the bits upwards, and folds the upper half onto the
// lower. The product that follows is by one.
func (w *rewriter) mixed() []byte {
	const golden, half = -0x61c88647, 16
	a := w.assemble().i32(golden).op(wasm.I32Mul).setGlobal(globalScratch).getGlobal(globalScratch)
	return a.getGlobal(globalScratch).i32(half).op(wasm.I32ShrU, wasm.I32Xor).i32(1).bytes()
}

func (f *finder) dispose() (found []uint64) {
	for _, name := range []string{"js_async_dispose_step", "js_async_dispose_rethrow"} {
		if function, _ := f.named(name, typeDispose, "l"); function != unknown {
			found = append(found, function)
		}
	}
	return found
}

// withArguments returns what stands at the beginning of a function that reads an argument which it may not have.
func (w *rewriter) withArguments() []byte {
	const argc, argv, data = 2, 3, 5
	return w.assemble().get(argc).op(wasm.I32Eqz).ifThen().get(data).set(argv).op(wasm.End).bytes()
}

func (f *finder) stack() stackFacts {
	function, code := f.named("js_disposable_stack_mark", "ili", "")
	_, reads := f.named("js_disposable_stack_get_disposed", "ili", "l")
	data := find(code, wasm.I32WrapI64, wasm.I32Load, wasm.LocalTee, wasm.I32Eqz)
	disposed := find(reads, wasm.LocalGet, wasm.I64Load8U)
	if data < 0 || disposed < 0 {
		return stackFacts{function: unknown}
	}
	return stackFacts{function, code[data+1].Imm, reads[disposed+1].Imm}
}

// ifOpen returns what stands at the beginning of js_disposable_stack_mark. A stack without data has its byte at the
// beginning of the memory, and nothing to mark either way.
func (s stackFacts) ifOpen(w *rewriter) []byte {
	const stack = 1
	a := w.assemble().get(stack).op(wasm.I32WrapI64).load(s.data).load8(s.disposed)
	return a.ifThen().op(wasm.Return, wasm.End).bytes()
}

// mended adds to the edits of a function what mends it.
func (w *rewriter) mended(function uint64, e *edits) {
	switch m := w.mend; {
	case function == m.push.function:
		e.after = map[int][]byte{m.push.compared: m.push.longer(w)}
	case function == m.sort.function:
		e.after = map[int][]byte{m.sort.compared: w.never()}
	case function == m.hash.function:
		e.constantAt = make(map[int][]byte)
		for _, at := range m.hash.factors {
			e.constantAt[at] = w.mixed()
		}
	case m.counting.changes[function] != nil:
		e.constantAt = make(map[int][]byte)
		for at, c := range m.counting.changes[function] {
			e.constantAt[at] = w.counted(c)
		}
	case slices.Contains(m.dispose, function):
		e.begin = append(w.withArguments(), e.begin...)
	case function == m.stack.function:
		e.begin = append(m.stack.ifOpen(w), e.begin...)
	}
}
