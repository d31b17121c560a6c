package rewrite

import (
	"fmt"
	"slices"

	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

// Facts are what the host needs to know of an engine build: where its functions are and where its structures keep what
// the host reads and writes. All of it comes from the module itself, by its exports, by its name section where it has
// one, and else by what its functions do. BuildImage and the engine's self-test prove on a running guest that it is
// right.
type Facts struct {
	module *wasm.Module
	engine bool // the module is an engine; tests rewrite others

	interpreter uint64 // JS_CallInternal, which polls by itself
	usableSize  uint64 // js__malloc_usable_size, of which WASI builds have a stub that returns 0
	throwRange  uint64 // JS_ThrowRangeError
	overflow    int64  // the address of the message that JS_ThrowStackOverflow passes to it

	parser parserFacts
	trace  traceFacts
	api    apiFacts
	quirks quirkFacts
	keys   keyFacts
	titles titleFacts
	mend   mendFacts
	arrays arrayFacts
	dates  dateFacts
	groups captureFacts
	libm   map[string]uint64 // the functions of package libm, or none

	Host
}

// Host is the part of Facts that the host needs while guests run.
type Host struct {
	StackTop   uint32 // of the C stack, which grows down
	StackLimit uint32 // where the engine starts to throw: a margin above the bottom, for C functions that do not check

	InterruptEntry uint32 // table indices of the functions that the rewriting adds
	HostCallEntry  uint32

	EvalByOptions bool // OpEval takes the address of the options of QJS_Eval at d
	BufferPacked  bool // OpBuffer returns the address of the length and the address
	Flattens      bool // OpToString exists, which makes flat strings of ropes

	// Fields of JSContext.
	CtxRuntime          uint32
	CtxTimeOrigin       uint32 // f64, milliseconds
	CtxRandomState      uint32 // u64, never 0
	CtxInterruptCounter uint32 // i32, counts down to the poll
	CtxEvalInternal     uint32 // table index; 0 makes eval and Function throw

	// Fields of JSRuntime.
	RtAllocated        uint32 // bytes in use
	RtCollectAt        uint32 // value of RtAllocated past which the next new object starts a garbage collection
	RtStackLimit       uint32
	RtCurrentException uint32 // JSValue
	RtInterruptHandler uint32 // table index
	RtRejectionTracker uint32 // table index; 0 is none

	InterruptInterval uint32 // calls and back-edges of interpreted code between two polls
}

// parserFacts are the functions of the parser that note positions.
type parserFacts struct {
	statement  uint64 // js_parse_statement_or_decl(s, flags) int
	expression uint64 // js_parse_assign_expr2(s, flags) int
	postfix    uint64 // js_parse_postfix_expr(s, flags) int
	binary     uint64 // js_parse_expr_binary(s, level, flags) int
	note       uint64 // emit_source_loc(s), which a compiler may have put into the others, too
	opcode     int64  // OP_source_loc
	lineStart  int64  // the field of the state that has the address before that of a line's first character; -1 is unknown
}

// traceFacts are the functions that make the stack of an error.
type traceFacts struct {
	backtrace     uint64 // build_backtrace(ctx, error, …)
	errorToString uint64 // js_error_toString(ctx, this, argc, argv) value
	concat        uint64 // JS_ConcatString(ctx, a, b) value, which frees both
	throw         uint64 // JS_Throw(ctx, value) value
	getException  uint64 // JS_GetException(ctx) value
	newString     uint64 // JS_NewStringLen(ctx, text, length) value
	setProperty   uint64 // JS_SetPropertyStr(ctx, object, name, value) int, which frees the value
	message       int64  // the address of the text "message"
}

// Types of functions that builds without names are searched for.
const (
	typeTracker  = "illii"    // JSHostPromiseRejectionTracker, which returns nothing
	typeEval     = "iliiiiii" // JSContext.eval_internal
	typeFunction = "ilii"     // JSCFunction
)

// Find looks for everything in a module. The error names what was not found.
func Find(wasmBytes []byte) (*Facts, error) {
	module, err := wasm.Parse(wasmBytes)
	if err != nil {
		return nil, err
	}
	f := &finder{Module: module, decoded: map[uint64][]wasm.Instruction{}}
	x := &Facts{module: module, engine: true}
	x.overflow = f.text("Maximum call stack size exceeded")
	x.interpreter = f.function("JS_CallInternal", f.says("class constructors must be invoked with 'new'"))
	x.throwRange = f.throwRange(x.overflow)
	x.usableSize = f.usableSize()
	x.runtimeFields(f)
	x.contextFields(f)
	x.parser = f.parser()
	x.trace = f.trace()
	x.api = f.api(x.trace)
	x.quirks = f.quirks()
	x.keys = f.keys()
	x.titles = f.titles(x.trace, x.interpreter)
	x.mend = f.mends()
	x.arrays = f.arrays()
	x.dates = f.dates()
	x.groups = f.captures()
	x.libm = f.libm()
	x.StackTop = uint32(module.Pages+StackPages) * PageSize
	x.StackLimit = uint32(module.Pages)*PageSize + stackMargin
	x.InterruptEntry = x.tableEnd()
	x.HostCallEntry = x.InterruptEntry + 1
	x.EvalByOptions, x.BufferPacked, x.Flattens = x.api.evalByOptions, x.api.bufferPacked, x.api.toString != unknown
	if err := f.err(); err != nil {
		return nil, fmt.Errorf("find what the host needs in the engine: %w", err)
	}
	return x, nil
}

// throwRange returns the function that is called with the message of a stack overflow.
func (f *finder) throwRange(message int64) uint64 {
	var found []uint64
	f.where(func(_ uint64, code []wasm.Instruction) bool {
		for i := range code {
			if code[i].Op != wasm.I32Const || code[i].Imm != message {
				continue
			}
			if k := slices.IndexFunc(code[i:], func(c wasm.Instruction) bool { return c.Op == wasm.Call }); k > 0 {
				found = append(found, uint64(code[i+k].Imm))
			}
		}
		return false
	})
	return f.only("JS_ThrowRangeError", found)
}

// usableSize returns the last of the five functions that JS_NewRuntime hands to JS_NewRuntime2: calloc, malloc, free,
// realloc, malloc_usable_size. The second passes its last argument to malloc.
func (f *finder) usableSize() uint64 {
	exported, ok := f.Exports["malloc"]
	if !ok {
		return f.missing("malloc", 0)
	}
	function := map[uint32]uint64{}
	for _, e := range f.Table {
		function[uint32(e.Index)] = e.Function
	}
	allocates := func(at uint64) bool {
		code := f.of(at)
		if !f.hasType(at, "ii", "i") || len(code) != 3 || code[0].Op != wasm.LocalGet || code[0].Imm != 1 ||
			code[1].Op != wasm.Call {
			return false
		}
		// The export may be a function that calls the allocator.
		malloc := uint64(code[1].Imm)
		return malloc == exported || f.hasType(malloc, "i", "i") && calls(f.of(exported), malloc)
	}
	var found []uint64
	for _, s := range f.Data {
		for at := s.Offset &^ 3; at+20 <= s.Offset+uint32(len(s.Data)); at += 4 {
			word, _ := f.Word(at + 4)
			if second, ok := function[word]; !ok || !allocates(second) {
				continue
			}
			word, _ = f.Word(at + 16)
			if last, ok := function[word]; ok && f.hasType(last, "i", "i") {
				found = append(found, last)
			}
		}
	}
	return f.only("malloc_usable_size", found)
}

// runtimeFields finds the fields of JSRuntime, in the functions that use them.
func (x *Facts) runtimeFields(f *finder) {
	var interval, counter, runtime, handler, exception, allocated, collect, tracker []uint64
	tracks := signature(typeTracker, "")
	f.where(func(_ uint64, code []wasm.Instruction) bool {
		// counter = INTERVAL; handler = ctx->rt->interrupt_handler
		sequence(code, []int{wasm.LocalGet, wasm.I32Const, wasm.I32Store}, func(run []wasm.Instruction) {
			at := slices.IndexFunc(code, func(i wasm.Instruction) bool { return i.Start == run[2].Start })
			next := code[at+1:]
			loads := loadsOf(next)
			if run[0].Imm != 0 || len(loads) < 2 || !f.callsIndirectly(next, signature("ii", "i")) || len(code) > maxPoll {
				return
			}
			interval, counter = append(interval, uint64(run[1].Imm)), append(counter, uint64(run[2].Imm))
			runtime, handler = append(runtime, loads[0]), append(handler, loads[1])
		})
		// threshold = size + (size >> 1), after a collection
		sequence(code, threshold, func(run []wasm.Instruction) {
			if run[2].Imm == 1 {
				allocated, collect = append(allocated, uint64(run[0].Imm)), append(collect, uint64(run[6].Imm))
			}
		})
		// tracker(ctx, promise, reason, handled, rt->opaque)
		sequence(code, []int{wasm.I32Load, wasm.LocalGet, wasm.Indirect}, func(run []wasm.Instruction) {
			if kind := run[2].Imm; kind < int64(len(f.Types)) && f.Types[kind].Encoded == tracks {
				tracker = append(tracker, uint64(run[0].Imm)-4)
			}
		})
		return false
	})
	// value = rt->current_exception; rt->current_exception = JS_UNINITIALIZED
	const uninitialized = 4 << 32
	sequence(f.of(f.Exports["JS_GetException"]), []int{wasm.I64Const, wasm.I64Store}, func(run []wasm.Instruction) {
		if run[0].Imm == uninitialized {
			exception = append(exception, uint64(run[1].Imm))
		}
	})
	x.InterruptInterval = uint32(f.only("the interval of polls", interval))
	x.CtxInterruptCounter = uint32(f.only("JSContext.interrupt_counter", counter))
	x.CtxRuntime = uint32(f.only("JSContext.rt", runtime))
	x.RtInterruptHandler = uint32(f.only("JSRuntime.interrupt_handler", handler))
	x.RtAllocated = uint32(f.only("JSRuntime.malloc_size", allocated))
	x.RtCollectAt = uint32(f.only("JSRuntime.malloc_gc_threshold", collect))
	x.RtRejectionTracker = uint32(f.only("JSRuntime.host_promise_rejection_tracker", tracker))
	x.RtCurrentException = uint32(f.only("JSRuntime.current_exception", exception))
	x.RtStackLimit = uint32(f.only("JSRuntime.stack_limit", f.stackLimit()))
}

// threshold are the instructions of size + (size >> 1), stored.
var threshold = []int{wasm.I32Load, wasm.LocalTee, wasm.I32Const, wasm.I32ShrU, wasm.LocalGet, wasm.I32Add,
	wasm.I32Store}

// maxPoll bounds the length of __js_poll_interrupts, so that no large function is taken for it.
const maxPoll = 100

// loadsOf returns the offsets of the i32 loads in code.
func loadsOf(code []wasm.Instruction) (offsets []uint64) {
	for _, i := range code {
		if i.Op == wasm.I32Load {
			offsets = append(offsets, uint64(i.Imm))
		}
	}
	return offsets
}

// stackLimit returns where JS_UpdateStackTop stores the limit, which is 0 in WASI builds.
func (f *finder) stackLimit() (found []uint64) {
	for _, name := range []string{"JS_UpdateStackTop", "QJS_UpdateStackTop"} {
		if at, ok := f.Exports[name]; ok {
			sequence(f.of(at), []int{wasm.I32Const, wasm.I32Store}, func(run []wasm.Instruction) {
				if run[0].Imm == 0 {
					found = append(found, uint64(run[1].Imm))
				}
			})
		}
	}
	return found
}

// contextFields finds the other fields of JSContext.
func (x *Facts) contextFields(f *finder) {
	const multiplier, second = 0x2545f4914f6cdd1d, 1_000_000_000 // of the generator of Math.random; in nanoseconds
	evals := map[int64]bool{}
	for _, e := range f.Table {
		if f.hasType(e.Function, typeEval, "l") {
			evals[int64(e.Index)] = true
		}
	}
	var random, origin, eval []uint64
	f.where(func(function uint64, code []wasm.Instruction) bool {
		wide := func(value int64) bool {
			return slices.ContainsFunc(code, func(i wasm.Instruction) bool { return i.Op == wasm.I64Const && i.Imm == value })
		}
		native := f.hasType(function, typeFunction, "l")
		if native && wide(multiplier) {
			sequence(code, []int{wasm.LocalGet, wasm.I64Load},
				func(run []wasm.Instruction) { random = append(random, uint64(run[1].Imm)) })
		}
		if native && wide(second) {
			sequence(code, []int{wasm.LocalGet, wasm.F64Load}, func(run []wasm.Instruction) {
				if run[0].Imm == 0 {
					origin = append(origin, uint64(run[1].Imm))
				}
			})
		}
		sequence(code, []int{wasm.I32Const, wasm.I32Store}, func(run []wasm.Instruction) {
			if evals[run[0].Imm] {
				eval = append(eval, uint64(run[1].Imm))
			}
		})
		return false
	})
	x.CtxRandomState = uint32(f.only("JSContext.random_state", random))
	x.CtxTimeOrigin = uint32(f.only("JSContext.time_origin", origin))
	x.CtxEvalInternal = uint32(f.only("JSContext.eval_internal", eval))
}
