package rewrite

import (
	"slices"

	"github.com/airlock-run/airlock/sandbox/internal/libm"
	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

// Small differences between the engine and others are removed in the engine itself:
//
//   - A call takes 65,535 arguments at most, where programs of other engines pass 100,000 (Math.max(...numbers)).
//   - JS_ToObject throws one message for undefined and for null. That for null lacks its first letter here, so that the
//     host can tell which it was.
//   - JS_CopyDataProperties ignores strings, so that {...'ab'} is {}.
//   - Functions of mathematics round other results up than V8's (package libm).

// quirkFacts are the functions with these differences. A build may lack one, which then stays as it is.
type quirkFacts struct {
	arguments uint64 // build_arg_list(ctx, &length, array)
	toObject  uint64 // JS_ToObject(ctx, value) value
	nullish   int64  // the address of its message; -1 if there is not exactly one
	copyData  uint64 // JS_CopyDataProperties(ctx, target, source, excluded, setprop) int
}

const (
	typeCopyData = "illli"

	// Both are all ones, because the compiler also masks the count with them: Node's stack has room for some 120,000.
	oldArguments = 1<<16 - 1
	maxArguments = 1<<17 - 1

	tagNull = 2
	tagRope = -6
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
	return q
}

// libm finds the functions that package libm replaces and calls. A build without one of these names has none.
func (f *finder) libm() map[string]uint64 {
	found := make(map[string]uint64)
	for name, kind := range libm.Functions {
		if found[name], _ = f.named(name, kind[0], kind[1]); found[name] == unknown {
			return nil
		}
	}
	return found
}

// libmBodies returns the new bodies of functions of mathematics.
func (w *rewriter) libmBodies() map[uint64][]byte {
	if w.libm == nil {
		return nil
	}
	bodies := make(map[uint64][]byte)
	for name, body := range libm.Bodies(func(name string) uint64 { return w.moved(w.libm[name]) }) {
		bodies[w.libm[name]] = body
	}
	return bodies
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
		a.hasTag(1, tagNull)
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
	a.hasTag(source, tagString)
	a.hasTag(source, tagRope)
	a.op(wasm.I32Or, wasm.I32Eqz).ifThen()
	a.get(ctx).get(target).get(source).get(excluded).get(setprop).call(w.added(addedCopyData)).op(wasm.Return, wasm.End)
	a.get(ctx).get(source).original(w.quirks.toObject).set(object)
	a.hasTag(object, tagException)
	a.ifThen().i32(-1).op(wasm.Return, wasm.End)
	a.get(ctx).get(target).get(object).get(excluded).get(setprop).call(w.added(addedCopyData)).set(result)
	a.get(ctx).get(object).original(w.api.release)
	return a.get(result).end()
}
