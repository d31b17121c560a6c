package quickjs

// moduleSHA256 is the build of the engine that every number in this file belongs to. Another build is refused.
const moduleSHA256 = "88fcbeead33cca3ec8394feb0fb3eec8047ec9ac5062aba7a63799cee11989b7"

// rewrittenSHA256 is what the rewriting makes of it (module.go): the name under which its compiled code is kept. Whoever
// changes the rewriting changes this; a test and every first start tell.
const rewrittenSHA256 = "d233350148e29b53b74725242b8dab634652faaaebda77b718e90ac88ac7e9d0"

const (
	pageSize = 65536

	// originalPages is the module's own initial memory; stackPages are put above it as the C stack. With one megabyte
	// QuickJS's own check throws a RangeError (at some 3,600 plain frames) before wazero's call stack overflows.
	originalPages = 3
	stackPages    = 16
	stackTop      = (originalPages + stackPages) * pageSize
	// stackLimit is where QuickJS starts to throw: a margin above the bottom, for C functions that do not check.
	stackLimit = originalPages*pageSize + 64<<10
)

// Function and import indices.
const (
	importedFunctions   = 24
	importPoll          = 2    // wasi args_sizes_get(i32, i32) i32, which nothing else calls once _start does not run
	funcInterpreter     = 266  // JS_CallInternal, which polls by itself
	funcThrowRangeError = 258  // JS_ThrowRangeError
	funcInterrupt       = 1126 // quickjs-libc's interrupt handler
	funcUsableSize      = 611  // malloc_usable_size, of which this build has a stub that gives 0
	funcExecutePending  = 279  // JS_ExecutePendingJob(rt, **ctx) int, which the module does not export
	tableInterrupt      = 484  // the table entry of funcInterrupt
)

// stackOverflowMessage is the address of "Maximum call stack size exceeded", which JS_ThrowStackOverflow (inlined
// everywhere) passes to JS_ThrowRangeError.
const stackOverflowMessage = 15843

// Fields of JSContext.
const (
	ctxRuntime          = 16
	ctxTimeOrigin       = 256 // f64, milliseconds
	ctxRandomState      = 264 // u64, never 0
	ctxInterruptCounter = 272 // i32, counts down to the poll
	ctxEvalInternal     = 288 // table index; 0 makes eval and Function throw
)

// Fields of JSRuntime.
const (
	rtAllocated        = 24  // bytes in use
	rtCollectAt        = 116 // rtAllocated past which the next object made starts a garbage collection, which sets it anew
	rtStackLimit       = 128
	rtCurrentException = 136 // JSValue
	rtInterruptHandler = 152 // table index
	rtRejectionTracker = 172 // table index; 0 is none
)

// interruptInterval is JS_INTERRUPT_COUNTER_INIT: calls and back-edges of interpreted code between two polls.
const interruptInterval = 10_000

// Fields of JSString: reference count, length (31 bits) and wide flag (1 bit), hash, next, weak reference, characters.
const (
	strLength = 4
	strData   = 20
)

// Fields of JSObject, and of what the data of a promise and a proxy points to.
const (
	objClass      = 6 // u16, JS_CLASS_…
	objData       = 32
	promiseResult = 24
	proxyRevoked  = 17
)

// Fields of JSMapIteratorData, JSMapState, JSMapRecord and list_head.
const (
	iteratorKind   = 8
	iteratorRecord = 12
	mapRecords     = 4
	recordEmpty    = 4
	recordLink     = 12
	listNext       = 4
)

// Fields of JSFunctionBytecode: where its code is, and how long.
const (
	codeBytes  = 20
	codeLength = 24
)

// codeOfFunction is the code of a script that is a function in parentheses: fclosure8 0, set_loc0, return. It makes the first
// function that the script has, which becomes the value. The others are opcodes that may stand before it.
const (
	codeOfFunction = "\xc1\x00\xcf\x28"
	opcodeThis     = 0x08 // push_this
	opcodeSpecial  = 0x0c // special_object, and which
	opcodePutLocal = 0xcb // put_loc0 to put_loc3
)

// firstReference is the smallest tag (JS_TAG_FIRST, -9, as unsigned) of a value that is counted.
const firstReference = 0xfffffff7

// The poll's second argument: why the guest came out.
const (
	pollFuel          = 0
	pollInterrupt     = 1
	pollStackOverflow = 2
)
