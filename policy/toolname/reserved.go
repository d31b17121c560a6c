package toolname

// Reserved reports whether a name belongs to the language (keywords, built-in globals, ECMA-262 §12.7.2 and §19) or to
// the sandbox's API.
func Reserved(name string) bool {
	switch name {
	case "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else",
		"enum", "export", "extends", "false", "finally", "for", "function", "if", "implements", "import", "in",
		"instanceof", "interface", "let", "new", "null", "package", "private", "protected", "public", "return", "static",
		"super", "switch", "this", "throw", "true", "try", "typeof", "var", "void", "while", "with", "yield":
		return true
	case "globalThis", "undefined", "NaN", "Infinity", "eval", "arguments", "isFinite", "isNaN", "parseFloat", "parseInt",
		"decodeURI", "decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "unescape",
		"AggregateError", "Array", "ArrayBuffer", "AsyncDisposableStack", "AsyncFunction", "AsyncGenerator",
		"AsyncIterator", "Atomics", "BigInt", "BigInt64Array", "BigUint64Array", "Boolean", "DataView", "Date",
		"DisposableStack", "DOMException",
		"Error", "EvalError",
		"FinalizationRegistry", "Float16Array", "Float32Array", "Float64Array", "Function", "Generator", "Int16Array",
		"Int32Array", "Int8Array", "InternalError", "Intl", "Iterator", "JSON", "Map", "Math", "Number", "Object",
		"Promise", "Proxy", "RangeError", "ReferenceError", "Reflect", "RegExp", "Set", "SharedArrayBuffer", "String",
		"SuppressedError", "Symbol", "SyntaxError", "TypeError", "URIError", "Uint16Array", "Uint32Array", "Uint8Array",
		"Uint8ClampedArray",
		"WeakMap", "WeakRef", "WeakSet", "WebAssembly":
		return true
	case "console", "input", "output", "require", "module", "exports", "process", "global", "self", "Buffer",
		"setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate", "queueMicrotask",
		"structuredClone", "performance", "crypto", "atob", "btoa", "fetch", "Headers", "Request", "Response", "FormData",
		"Blob", "File", "URL", "URLSearchParams", "TextEncoder", "TextDecoder", "AbortController", "AbortSignal", "Event",
		"EventTarget", "ReadableStream", "WritableStream", "TransformStream":
		return true
	}
	return inherited(name)
}

// builtin reports whether the sandbox has a global of this name that is not reserved. Context may replace it, but tools
// would become members of it.
func builtin(name string) bool {
	switch name {
	case "airlock", "api", "secrets", "Temporal", "addEventListener", "removeEventListener",
		"dispatchEvent", "onerror", "reportError", "Crypto",
		"CryptoKey", "SubtleCrypto", "CustomEvent", "ErrorEvent", "MessageChannel", "MessageEvent", "MessagePort",
		"QuotaExceededError", "URLPattern", "WebSocket", "navigator", "Performance", "PerformanceEntry",
		"PerformanceMark", "PerformanceMeasure", "PerformanceObserver", "PerformanceObserverEntryList",
		"ByteLengthQueuingStrategy", "CountQueuingStrategy",
		"CompressionStream", "DecompressionStream", "TextDecoderStream", "TextEncoderStream",
		"ReadableByteStreamController", "ReadableStreamBYOBReader", "ReadableStreamBYOBRequest",
		"ReadableStreamDefaultController", "ReadableStreamDefaultReader", "TransformStreamDefaultController",
		"WritableStreamDefaultController", "WritableStreamDefaultWriter":
		return true
	}
	return false
}
