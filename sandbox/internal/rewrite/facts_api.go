package rewrite

import "github.com/airlock-run/airlock/sandbox/internal/wasm"

// apiFacts are the engine's functions that the host calls through Enter.
type apiFacts struct {
	eval      uint64 // JS_Eval(ctx, text, length, file, flags) value, or QJS_Eval(ctx, options) value
	run       uint64 // JS_EvalFunction(ctx, compiled) value
	call      uint64 // JS_Call(ctx, function, this, argc, argv) value
	pending   uint64 // JS_ExecutePendingJob(runtime, &ctx) int
	malloc    uint64 // malloc(size)
	free      uint64 // free(address)
	json      uint64 // JS_ParseJSON(ctx, text, length, file) value
	bytes     uint64 // JS_NewArrayBufferCopy(ctx, address, length) value
	buffer    uint64 // JS_GetArrayBuffer(ctx, &length, object), or QJS_GetArrayBuffer(ctx, object) &{length, address}
	thrown    uint64 // JS_GetException(ctx) value
	release   uint64 // JS_FreeValue(ctx, value)
	collect   uint64 // JS_RunGC(runtime)
	newString uint64 // JS_NewStringLen(ctx, text, length) value
	toString  uint64 // JS_ToString(ctx, value) value; builds whose strings are never ropes may lack it

	// evalByOptions reports that eval is QJS_Eval, and bufferPacked that buffer is QJS_GetArrayBuffer.
	evalByOptions, bufferPacked bool
}

// api finds the functions behind enter.
func (f *finder) api(t traceFacts) (a apiFacts) {
	a.malloc, a.free = f.function("malloc", nil), f.function("free", nil)
	a.bytes = f.function("JS_NewArrayBufferCopy", nil)
	a.thrown, a.newString = t.getException, t.newString
	a.json = f.function("JS_ParseJSON", f.calledBy("QJS_ParseJSON", "iiii", "l"))
	awaits := f.calledBy("js_std_await", "ii", "i")
	a.pending = f.function("JS_ExecutePendingJob", func(function uint64, code []wasm.Instruction) bool {
		return awaits(function, code) && f.callsIndirectly(code, signature("iii", "l")) // a JSJobFunc
	})
	a.run = f.function("JS_EvalFunction", f.calledBy("QJS_Eval", "il", "l"))
	a.collect = f.collect()
	a.release = f.function("JS_FreeValue", nil)
	a.eval, a.evalByOptions = f.either("JS_Eval", "QJS_Eval")
	a.buffer, a.bufferPacked = f.either("JS_GetArrayBuffer", "QJS_GetArrayBuffer")
	a.call = f.function("JS_Call", f.calledBy("QJS_Call", "illii", "l"))
	a.toString = unknown
	if i, ok := f.Exports["JS_ToString"]; ok {
		a.toString = i
	}
	return a
}

// collect returns the function that is called before the threshold of the next collection is set.
func (f *finder) collect() uint64 {
	var found []uint64
	run := append([]int{wasm.Call, wasm.LocalGet, wasm.LocalGet}, threshold...)
	f.where(func(_ uint64, code []wasm.Instruction) bool {
		sequence(code, run, func(run []wasm.Instruction) {
			if run[len(run)-len(threshold)+2].Imm == 1 {
				found = append(found, uint64(run[0].Imm))
			}
		})
		return false
	})
	return f.only("JS_RunGC", found)
}

// either returns the export called name, or the one called other.
func (f *finder) either(name, other string) (function uint64, second bool) {
	if i, ok := f.Exports[name]; ok {
		return i, false
	}
	if i, ok := f.Exports[other]; ok {
		return i, true
	}
	return f.missing(name+" or "+other, 0), false
}
