package rewrite

import "github.com/airlock-run/airlock/sandbox/internal/wasm"

// Enter is the exported function through which the host reaches the engine's functions that every run calls. wazero
// gives each exported function that is called a call stack of its own, which starts small and is doubled by copying:
// one function means one stack.
//
//	enter(op i32, a i32, b i64, c i64, d i32, e i32) i64
const Enter = "airlock_enter"

const enterParams = "iillii"

// The operations of Enter. Values are JSValues; addresses and numbers are in the low half of the result.
const (
	OpEval     = iota // evaluate text at d of e bytes, of the file whose name is at b, with flags c, in context a
	OpCall            // call function b with this = c and the d arguments at e, in context a
	OpPending         // run one microtask of runtime a; d is room for a context
	OpMalloc          // allocate d bytes
	OpFree            // free what is at d
	OpJSON            // parse the JSON text at d of e bytes, of the file whose name is at b, in context a
	OpBytes           // make an ArrayBuffer of the e bytes at d, in context a
	OpThrown          // take the pending exception of context a
	OpBuffer          // the address of the bytes of ArrayBuffer b; their number is written to d, in context a
	OpString          // make a string of the e bytes at d, in context a
	OpRun             // run what OpEval has compiled, b, in context a
	OpToString        // make a flat string of string b, in context a
	OpRelease         // end a reference to value b, in context a
	OpCollect         // collect garbage of runtime a
	OpMark            // Mark
)

// Mark is what Enter answers to OpMark.
const Mark = 0x6b636f6c726961 // "airlock"

// enterBody returns the code of Enter: one comparison per operation. After compiling, the globals are reset, so that
// a run takes the same course whether it compiles or copies what an earlier run compiled.
func (w *rewriter) enterBody() []byte {
	const op, a, b, c, d, e = 0, 1, 2, 3, 4, 5
	api, out := w.api, w.assemble()
	begin := func(operation int64) *assembler { return out.get(op).i32(operation).op(wasm.I32Eq).ifThen() }
	finish := func() { out.op(wasm.Return, wasm.End) }
	low := func(local uint64) *assembler { return out.get(local).op(wasm.I32WrapI64) }
	fresh := func() { out.i32(w.fuel).setGlobal(globalFuel).i32(0).setGlobal(globalNoteFunction) }

	begin(OpEval).get(a).get(d)
	if !api.evalByOptions {
		out.get(e)
		low(b)
		low(c)
	}
	out.original(api.eval)
	fresh()
	finish()
	begin(OpRun).get(a).get(b).original(api.run)
	fresh()
	finish()
	begin(OpCall).get(a).get(b).get(c).get(d).get(e).original(api.call)
	finish()
	begin(OpPending).get(a).get(d).original(api.pending).op(wasm.I64ExtendU)
	finish()
	begin(OpMalloc).get(d).original(api.malloc).op(wasm.I64ExtendU)
	finish()
	begin(OpFree).get(d).original(api.free).i64(0)
	finish()
	begin(OpJSON).get(a).get(d).get(e)
	low(b)
	out.original(api.json)
	finish()
	begin(OpBytes).get(a).get(d).get(e).original(api.bytes)
	finish()
	begin(OpThrown).get(a).original(api.thrown)
	finish()
	begin(OpBuffer).get(a)
	if !api.bufferPacked {
		out.get(d)
	}
	out.get(b).original(api.buffer).op(wasm.I64ExtendU)
	finish()
	begin(OpString).get(a).get(d).get(e).original(api.newString)
	finish()
	begin(OpRelease).get(a).get(b).original(api.release).i64(0)
	finish()
	begin(OpCollect).get(a).original(api.collect).i64(0)
	finish()
	if api.toString != unknown {
		begin(OpToString).get(a).get(b).original(api.toString)
		finish()
	}
	return out.i64(Mark).end()
}
