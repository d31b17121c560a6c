package execution

import "unicode"

// checkGlobal decides whether a context entry may become a global of that name.
func checkGlobal(name string) *Error {
	field := "context." + clip(name, 80)
	switch {
	case name == "" || len(name) > 256 || !identifier(name):
		return invalid(field, "is not a JavaScript identifier; context keys become globals")
	case reserved(name):
		return invalid(field, "would shadow a name of the language or of the sandbox; choose another key")
	}
	return nil
}

// identifier reports whether s is an ECMAScript IdentifierName written without escapes.
func identifier(s string) bool {
	for i, r := range s {
		start := r == '$' || r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) || unicode.Is(unicode.Other_ID_Start, r)
		if start {
			continue
		}
		part := unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Mc, r) || unicode.IsDigit(r) || unicode.Is(unicode.Pc, r) ||
			unicode.Is(unicode.Other_ID_Continue, r) || r == '\u200c' || r == '\u200d'
		if i == 0 || !part {
			return false
		}
	}
	return s != ""
}

// reserved reports whether a name belongs to the language (keywords, built-in globals, ECMA-262 §12.7.2 and §19) or to
// what the sandbox offers the guest.
func reserved(name string) bool {
	switch name {
	case "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else",
		"enum", "export", "extends", "false", "finally", "for", "function", "if", "implements", "import", "in",
		"instanceof", "interface", "let", "new", "null", "package", "private", "protected", "public", "return", "static",
		"super", "switch", "this", "throw", "true", "try", "typeof", "var", "void", "while", "with", "yield":
		return true
	case "globalThis", "undefined", "NaN", "Infinity", "eval", "arguments", "isFinite", "isNaN", "parseFloat", "parseInt",
		"decodeURI", "decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "unescape",
		"AggregateError", "Array", "ArrayBuffer", "AsyncFunction", "AsyncGenerator", "AsyncIterator", "Atomics", "BigInt",
		"BigInt64Array", "BigUint64Array", "Boolean", "DataView", "Date", "DOMException", "Error", "EvalError",
		"FinalizationRegistry", "Float16Array", "Float32Array", "Float64Array", "Function", "Generator", "Int16Array",
		"Int32Array", "Int8Array", "InternalError", "Intl", "Iterator", "JSON", "Map", "Math", "Number", "Object",
		"Promise", "Proxy", "RangeError", "ReferenceError", "Reflect", "RegExp", "Set", "SharedArrayBuffer", "String",
		"Symbol", "SyntaxError", "TypeError", "URIError", "Uint16Array", "Uint32Array", "Uint8Array", "Uint8ClampedArray",
		"WeakMap", "WeakRef", "WeakSet", "WebAssembly":
		return true
	case "console", "input", "output", "require", "module", "exports", "process", "global", "self", "Buffer",
		"setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate", "queueMicrotask",
		"structuredClone", "performance", "crypto", "atob", "btoa", "fetch", "Headers", "Request", "Response", "FormData",
		"Blob", "File", "URL", "URLSearchParams", "TextEncoder", "TextDecoder", "AbortController", "AbortSignal", "Event",
		"EventTarget", "ReadableStream", "WritableStream", "TransformStream":
		return true
	case "__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "constructor",
		"hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf":
		return true
	}
	return false
}

// FreeGlobal reports whether a name can be that of a namespace of tools: an identifier that is neither the language's nor
// the sandbox's.
func FreeGlobal(name string) bool { return checkGlobal(name) == nil }
