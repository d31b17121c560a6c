package quickjs

// The engine's functions that every run calls are reached through one exported function, enter, which the rewriting adds
// to the module. wazero gives each exported function that is called a call stack of its own, which starts small and is
// doubled by copying: one function means one stack.
//
//	enter(op i32, a i32, b i64, c i64, d i32, e i32) i64
const enterName = "airlock_enter"

// The operations of enter.
const (
	enterEval    = iota // QJS_Eval(a, d)
	enterCall           // QJS_Call(a, b, c, d, e)
	enterPending        // JS_ExecutePendingJob(a, d)
	enterMalloc         // malloc(d)
	enterFree           // free(d)
	enterJSON           // QJS_ParseJSON(a, d)
	enterBytes          // QJS_NewArrayBufferCopy(a, d, e)
	enterThrown         // JS_GetException(a)
	enterBuffer         // QJS_GetArrayBuffer(a, b)
	enterString         // QJS_NewString(a, d)
	enterRun            // JS_EvalFunction(a, b)
	enterMark           // mark
)

// Indices of the functions behind enter.
const (
	funcEval           = 28
	funcCall           = 82
	funcMalloc         = 101
	funcFree           = 103
	funcParseJSON      = 74
	funcNewArrayBuffer = 81
	funcGetException   = 371
	funcGetArrayBuffer = 76
	funcNewString      = 65
	funcEvalFunction   = 488
)

const (
	opLocalGet  = 0x20
	opI32Eq     = 0x46
	opExtendU   = 0xad // i64.extend_i32_u
	opI64Const  = 0x42
	opReturn    = 0x0f
	opIf        = 0x04
	blockEmpty  = 0x40
	typeI32     = 0x7f
	typeI64     = 0x7e
	typeFunc    = 0x60
	enterParams = 6
)

// enterType is the entry of enter in the type section.
var enterType = [...]byte{typeFunc, enterParams, typeI32, typeI32, typeI64, typeI64, typeI32, typeI32, 1, typeI64}

// enterBody is the code of enter: one comparison per operation. After compiling, the
// globals are what they are at the beginning, so that a run goes the same way whether it compiles or takes what was compiled.
func enterBody(fuel int64) []byte {
	a, b, c, d, e := []byte{opLocalGet, 1}, []byte{opLocalGet, 2}, []byte{opLocalGet, 3}, []byte{opLocalGet, 4}, []byte{opLocalGet, 5}
	wide := []byte{opExtendU}
	code := []byte{0} // no locals
	branch := func(op int64, function uint64, parts ...[]byte) {
		code = append(code, opLocalGet, 0, opI32Const)
		code = append(appendInt(code, op), opI32Eq, opIf, blockEmpty)
		after := false
		for _, p := range parts {
			if p == nil { // what follows works on the result
				code = appendUint(append(code, opCall), function)
				after = true
				continue
			}
			code = append(code, p...)
		}
		if !after {
			code = appendUint(append(code, opCall), function)
		}
		code = append(code, opReturn, opEnd)
	}
	anew := append(appendInt([]byte{opI32Const}, fuel), opGlobalSet, fuelGlobal, opI32Const, 0, opGlobalSet, noteFunction)
	branch(enterEval, funcEval, a, d, nil, anew)
	branch(enterRun, funcEvalFunction, a, b, nil, anew)
	branch(enterCall, funcCall, a, b, c, d, e, wide)
	branch(enterPending, funcExecutePending, a, d, nil, wide)
	branch(enterMalloc, funcMalloc, d, nil, wide)
	branch(enterFree, funcFree, d, nil, []byte{opI64Const, 0})
	branch(enterJSON, funcParseJSON, a, d)
	branch(enterBytes, funcNewArrayBuffer, a, d, wide, e, wide)
	branch(enterThrown, funcGetException, a)
	branch(enterBuffer, funcGetArrayBuffer, a, b, nil, wide)
	branch(enterString, funcNewString, a, d)
	return append(appendInt(append(code, opI64Const), mark), opEnd)
}
