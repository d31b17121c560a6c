package rewrite

import (
	"slices"

	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

// Small differences between the engine and others are removed in the engine itself:
//
//   - A call takes 65,535 arguments at most, where programs of other engines pass 100,000 (Math.max(...numbers)).
//   - JS_ToObject throws one message for undefined and for null. That for null lacks its first letter here, so that the
//     host can tell which it was.
//   - JS_CopyDataProperties ignores strings, so that {...'ab'} is {}.
//   - js_array_push takes the memory of an array that is longer than its elements, such as new Array(3), for elements:
//     the array then has values that nobody wrote. Upstream mended it after 0.15.1 (quickjs-ng issue 1562) by the
//     condition that is added here.
//   - The collector of cycles does not see that a closure keeps the frame of a suspended async function whose variable
//     it uses, and frees the frame while the closure can still resume it. Upstream mended it after 0.15.1 (quickjs-ng
//     7955cfd). Here the three functions by which the collector counts references leave async functions alone, so that
//     it takes them for roots: a cycle with one that never ends stays until the run ends.

// quirkFacts are the functions with these differences. A build may lack one, which then stays as it is.
type quirkFacts struct {
	arguments uint64 // build_arg_list(ctx, &length, array)
	toObject  uint64 // JS_ToObject(ctx, value) value
	nullish   int64  // the address of its message; -1 if there is not exactly one
	copyData  uint64 // JS_CopyDataProperties(ctx, target, source, excluded, setprop) int
	push      pushFacts
	counting  []uint64 // gc_decref_child, gc_scan_incref_child, gc_scan_incref_child2 (rt, object); or none
}

// pushFacts say where js_array_push decides to append to the elements of an array.
type pushFacts struct {
	function uint64 // js_array_push(ctx, this, argc, argv, unshift) value
	compared int    // where the comparison ends that leaves true on the stack if the elements cannot be appended to
	array    uint64 // the local that holds the array
	length   uint64 // the local that holds its length
	count    int64  // the offset of the number of its elements
}

const (
	typeCopyData = "illli"
	typePush     = "iliii"

	// Both are all ones, because the compiler also masks the count with them: Node's stack has room for some 120,000.
	oldArguments = 1<<16 - 1
	maxArguments = 1<<17 - 1

	tagNull = 2
	tagRope = -6

	// The byte of an object's header that holds its kind (JSGCObjectTypeEnum) and, above it, the collector's mark.
	gcKind          = 4
	gcKindMask      = 15
	gcMark          = 16
	gcAsyncFunction = 4
)

func (f *finder) quirks() (q quirkFacts) {
	const message = "Cannot convert undefined or null to object"
	many := f.says("too many arguments in function call (only %d allowed)")
	q.arguments = f.optional(func(function uint64, code []wasm.Instruction) bool {
		return many(function, code) && !slices.ContainsFunc(code, strangeCount)
	})
	says := f.says(message)
	q.toObject = f.optional(func(function uint64, code []wasm.Instruction) bool {
		return f.hasType(function, "il", "l") && says(function, code)
	})
	q.nullish = -1
	if at := f.Strings(message); len(at) == 1 {
		q.nullish = int64(at[0])
	}
	q.copyData = unknown
	if i, ok := f.Names["JS_CopyDataProperties"]; ok && f.hasType(i, typeCopyData, "i") && q.toObject != unknown {
		q.copyData = i
	}
	q.push = f.push()
	q.counting = f.counting()
	return q
}

// counting returns the functions by which the collector counts references. In a build without names, or with another
// header of objects, there are none.
func (f *finder) counting() (found []uint64) {
	for _, name := range []string{"gc_decref_child", "gc_scan_incref_child", "gc_scan_incref_child2"} {
		function, ok := f.Names[name]
		if !ok || !f.hasType(function, "ii", "") {
			return nil
		}
		found = append(found, function)
	}
	code := f.of(found[0])
	marks := slices.IndexFunc(code, func(i wasm.Instruction) bool { return i.Op == wasm.I32Load8U && i.Imm == gcKind })
	if marks < 0 || marks+1 == len(code) || code[marks+1].Op != wasm.I32Const || code[marks+1].Imm != gcMark {
		return nil
	}
	return found
}

// skipAsync returns what stands at the beginning of a function that counts references: it returns for async functions.
func (w *rewriter) skipAsync() []byte {
	a := w.assemble().get(1).op(wasm.I32Load8U, 0).offset(gcKind).i32(gcKindMask).op(wasm.I32And)
	return a.i32(gcAsyncFunction).op(wasm.I32Eq).ifThen().op(wasm.Return, wasm.End).bytes()
}

// push finds the decision of js_array_push. In a build without names, or with other code, the function is unknown.
func (f *finder) push() pushFacts {
	none := pushFacts{function: unknown}
	function, ok := f.Names["js_array_push"]
	if !ok || !f.hasType(function, typePush, "l") {
		return none
	}
	code := f.of(function)
	is := func(at int, ops ...int) bool {
		for i, op := range ops {
			if at+i >= len(code) || code[at+i].Op != op {
				return false
			}
		}
		return true
	}
	var found []pushFacts
	for i := range code {
		// argc + length < length: br_if
		if !is(i, wasm.I32Add, wasm.LocalTee, wasm.LocalGet, wasm.I32LtU, wasm.BrIf) {
			continue
		}
		p := pushFacts{function: function, compared: code[i+3].End, length: uint64(code[i+2].Imm), count: -1}
		longer, arrays := code[i+1].Imm, 0
		for k := i; k < len(code); k++ {
			switch {
			case is(k, wasm.LocalGet, wasm.LocalGet, wasm.I32Load, wasm.I32LeU) && code[k].Imm == longer: // its room
				p.array, arrays = uint64(code[k+1].Imm), arrays+1
			case arrays == 1 && is(k, wasm.LocalGet, wasm.LocalGet, wasm.I32Store) && uint64(code[k].Imm) == p.array &&
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

// strangeCount reports whether an instruction has a constant that the compiler may have derived from the largest count,
// and that is not replaced.
func strangeCount(i wasm.Instruction) bool {
	if i.Imm <= oldArguments>>1 || i.Imm > 2*maxArguments || i.Op != wasm.I32Const && i.Op != wasm.I64Const {
		return false
	}
	return i.Op == wasm.I64Const || i.Imm < oldArguments-1 || i.Imm > oldArguments+1
}

// optional returns the only function that accepts accepts, or unknown.
func (f *finder) optional(accepts func(uint64, []wasm.Instruction) bool) uint64 {
	if found := f.where(accepts); len(found) == 1 {
		return found[0]
	}
	return unknown
}

// quirkConstants returns what replaces the constants of a function.
func (w *rewriter) quirkConstants(function uint64) map[int64][]byte {
	switch function {
	case w.quirks.arguments:
		return map[int64][]byte{
			oldArguments - 1: w.assemble().i32(maxArguments - 1).bytes(),
			oldArguments:     w.assemble().i32(maxArguments).bytes(),
			oldArguments + 1: w.assemble().i32(maxArguments + 1).bytes(),
		}
	case w.quirks.toObject:
		if w.quirks.nullish < 0 {
			return nil
		}
		// message + (the tag of the value == null)
		a := w.assemble().i32(w.quirks.nullish)
		a.get(1).i64(32).op(wasm.I64ShrU, wasm.I32WrapI64).i32(tagNull).op(wasm.I32Eq)
		return map[int64][]byte{w.quirks.nullish: a.op(wasm.I32Add).bytes()}
	}
	return nil
}

// copyDataBody returns the code that stands before JS_CopyDataProperties. It makes an object of a source that is a
// string.
func (w *rewriter) copyDataBody() []byte {
	const ctx, target, source, excluded, setprop, object, result = 0, 1, 2, 3, 4, 5, 6
	a := w.assemble()
	a.locals = []byte{2, 1, wasm.TypeI64, 1, wasm.TypeI32}
	tag := func(of uint64, is int64) {
		a.get(of).i64(32).op(wasm.I64ShrU, wasm.I32WrapI64).i32(is).op(wasm.I32Eq)
	}
	tag(source, tagString)
	tag(source, tagRope)
	a.op(wasm.I32Or, wasm.I32Eqz).ifThen()
	a.get(ctx).get(target).get(source).get(excluded).get(setprop).call(w.added(addedCopyData)).op(wasm.Return, wasm.End)
	a.get(ctx).get(source).original(w.quirks.toObject).set(object)
	tag(object, tagException)
	a.ifThen().i32(-1).op(wasm.Return, wasm.End)
	a.get(ctx).get(target).get(object).get(excluded).get(setprop).call(w.added(addedCopyData)).set(result)
	a.get(ctx).get(object).original(w.api.release)
	return a.get(result).end()
}
