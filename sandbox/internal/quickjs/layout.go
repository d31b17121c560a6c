package quickjs

// The fields of the engine's structures that all builds have in the same place. Making an image proves them on a
// running guest (learn.go). What differs between builds is found in the module (package rewrite) or learned from a
// guest.

// Fields of JSString: reference count, length (31 bits) and wide flag (1 bit), hash, next, weak reference, characters.
// A rope has its length at the same place.
const (
	strLength = 4
	strKind   = 8 // see stringKinds
	kindShift = 28
	strData   = 20
	// sliceStart is, in a slice, where its first byte stands in the characters of the string at strData.
	sliceStart = strData + 4
)

// The kinds of strings.
const (
	kindNormal   = 0
	kindSlice    = 1
	kindIndirect = 2
)

// Fields of JSObject, and of what the data of a promise and a proxy points to.
const (
	objClass      = 6 // u16, JS_CLASS_…
	objData       = 32
	promiseResult = 24
	proxyHandler  = 8
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

// varRefKind is the kind of a JSVarRef in its header, which has a reference count (32 bits), the kind (4), marks (4),
// flags (8) and padding (16).
const varRefKind = 3

// firstReference is the smallest tag (JS_TAG_FIRST, -9, as unsigned) of a value that is counted.
const firstReference = 0xfffffff7
