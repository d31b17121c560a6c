package scan

import "github.com/airlock-run/airlock/policy/threat"

// globals gives the names that the global object answers to.
func globals(mods map[string]*symbol) map[string]*symbol {
	plain := func(name string, r role) *symbol { return &symbol{name: name, role: r, callable: true} }
	found := func(name, category string, p power) *symbol {
		return &symbol{name: name, category: category, power: p, callable: true}
	}
	called := func(name, category string, p power, r role) *symbol {
		return &symbol{name: name, category: category, power: p, role: r, onUse: true, callable: true}
	}
	out := map[string]*symbol{}

	for _, name := range []string{"Array", "String", "Number", "Boolean", "RegExp", "Date", "Promise", "Map", "Set", "WeakMap",
		"WeakSet", "Symbol", "BigInt", "Error", "TypeError", "RangeError", "SyntaxError", "EvalError", "ReferenceError",
		"URIError", "AggregateError", "DataView", "Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array",
		"Int32Array", "Uint32Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array", "URL",
		"URLSearchParams", "TextEncoder", "TextDecoder", "Iterator", "WeakRef"} {
		out[name] = &symbol{name: name, class: true, callable: true}
	}
	// Their members are functions, and a function's constructor is Function.
	for _, name := range []string{"Math", "JSON", "console", "Intl", "Atomics", "crypto", "performance"} {
		out[name] = &symbol{name: name, rest: plain(name+".*", noRole)}
	}
	for _, name := range []string{"parseFloat", "isNaN", "isFinite", "structuredClone"} {
		out[name] = plain(name, noRole)
	}
	out["JSON"].members = map[string]*symbol{"parse": plain("JSON.parse", roleParse)}
	for _, name := range []string{"encodeURIComponent", "encodeURI"} {
		out[name] = plain(name, rolePercent)
	}
	out["escape"] = plain("escape", roleEscape)
	out["Symbol"].role = roleSymbol
	for _, name := range []string{"queueMicrotask", "requestAnimationFrame", "requestIdleCallback"} {
		out[name] = plain(name, roleTask)
	}
	for _, name := range []string{"__dirname", "__filename"} {
		out[name] = &symbol{name: name, category: threat.EnvironmentAccess}
	}
	out["parseInt"] = plain("parseInt", roleParseInt)
	out["Promise"].members = map[string]*symbol{"resolve": plain("Promise.resolve", rolePromise)}
	out["String"].members = map[string]*symbol{"fromCharCode": plain("String.fromCharCode", roleCharCode),
		"fromCodePoint": plain("String.fromCodePoint", roleCharCode), "raw": plain("String.raw", roleRaw)}
	out["String"].role = roleString
	object := &symbol{name: "Object", class: true, callable: true, members: join(
		group("Object.", symbol{role: roleIdentity, callable: true}, "create", "freeze", "seal", "preventExtensions"),
		map[string]*symbol{
			"setPrototypeOf":            found("Object.setPrototypeOf", threat.PrototypePollution, neverGranted),
			"getPrototypeOf":            plain("Object.getPrototypeOf", roleGetPrototype),
			"getOwnPropertyDescriptor":  plain("Object.getOwnPropertyDescriptor", roleDescriptor),
			"getOwnPropertyDescriptors": plain("Object.getOwnPropertyDescriptors", roleDescriptors),
			"assign":                    plain("Object.assign", roleAssign),
			"defineProperty":            plain("Object.defineProperty", roleDefine),
			"defineProperties":          plain("Object.defineProperties", roleDefine),
			"keys":                      plain("Object.keys", roleKeys),
			"getOwnPropertyNames":       plain("Object.getOwnPropertyNames", roleKeys),
			"values":                    plain("Object.values", roleValues),
			"entries":                   plain("Object.entries", roleValues),
		})}
	object.rest = plain("Object.*", noRole)
	out["Array"].members = map[string]*symbol{"from": plain("Array.from", roleSpread)}
	out["Object"] = object
	out["Reflect"] = &symbol{name: "Reflect", rest: plain("Reflect.*", noRole), members: map[string]*symbol{
		"get": plain("Reflect.get", roleReflectGet), "apply": plain("Reflect.apply", roleReflectApply),
		"construct": plain("Reflect.construct", roleReflectConstruct), "set": plain("Reflect.set", roleReflectSet),
		"getPrototypeOf":           plain("Reflect.getPrototypeOf", roleGetPrototype),
		"setPrototypeOf":           found("Reflect.setPrototypeOf", threat.PrototypePollution, neverGranted),
		"getOwnPropertyDescriptor": plain("Reflect.getOwnPropertyDescriptor", roleDescriptor),
		"defineProperty":           plain("Reflect.defineProperty", roleDefine),
	}}
	out["Proxy"] = plain("Proxy", roleIdentity)

	out["eval"] = found("eval", threat.CodeInjection, evalPower)
	out["eval"].role = roleEval
	for _, name := range []string{"Function", "AsyncFunction", "GeneratorFunction", "AsyncGeneratorFunction"} {
		out[name] = called(name, threat.CodeInjection, evalPower, roleFunction)
		out[name].class = true
	}
	out["execScript"] = found("execScript", threat.CodeInjection, evalPower)
	out["Worker"] = mods["worker_threads"].members["Worker"]
	out["importScripts"] = called("importScripts", threat.ModuleLoading, neverGranted, noRole)

	for _, name := range []string{"exec", "execSync", "execFile", "execFileSync", "spawn", "spawnSync"} {
		out[name] = called(name, threat.CommandExecution, neverGranted, noRole)
	}
	// Names that Node's own shell defines and that example code takes for granted.
	for _, name := range []string{"fs", "child_process", "vm", "http", "https", "net", "dgram", "tls", "dns", "http2", "process",
		"cluster", "worker_threads"} {
		out[name] = mods[name]
	}
	out["Deno"] = deno()
	out["Bun"] = &symbol{name: "Bun", members: join(
		group("Bun.", symbol{category: threat.CommandExecution, callable: true}, "spawn", "spawnSync", "$"),
		group("Bun.", symbol{category: threat.FilesystemAccess, callable: true}, "file", "write"),
		group("Bun.", symbol{category: threat.NetworkRequest, callable: true}, "serve", "connect", "listen"),
		group("Bun.", symbol{category: threat.EnvironmentAccess}, "env", "argv"))}

	out["fetch"] = found("fetch", threat.NetworkRequest, networkPower)
	for _, name := range []string{"XMLHttpRequest", "WebSocket", "EventSource", "WebTransport", "RTCPeerConnection"} {
		out[name] = called(name, threat.NetworkRequest, neverGranted, noRole)
	}
	out["navigator"] = &symbol{name: "navigator", members: map[string]*symbol{
		"sendBeacon": found("navigator.sendBeacon", threat.NetworkRequest, neverGranted)}}

	out["require"] = plain("require", roleRequire)
	out["require"].members = join(group("require.", symbol{category: threat.ModuleLoading}, "cache", "resolve", "extensions"),
		map[string]*symbol{"main": {name: "require.main", members: map[string]*symbol{"require": plain("require", roleRequire)}}})
	out["module"] = &symbol{name: "module", members: map[string]*symbol{
		"exports":     {name: "module.exports", category: threat.ModuleLoading},
		"require":     plain("require", roleRequire),
		"constructor": mods["module"],
		"children":    {name: "module.children", category: threat.ModuleLoading},
		"parent":      {name: "module.parent", category: threat.ModuleLoading},
		"paths":       {name: "module.paths", category: threat.ModuleLoading},
	}}
	out["exports"] = &symbol{name: "exports", rest: &symbol{name: "exports.*", category: threat.ModuleLoading}}

	out["Buffer"] = bufferClass()
	out["SlowBuffer"] = mods["buffer"].members["SlowBuffer"]
	for _, name := range []string{"ArrayBuffer", "SharedArrayBuffer"} {
		out[name] = called(name, threat.BufferManipulation, neverGranted, noRole)
		out[name].class = true
	}
	out["Atomics"].members = map[string]*symbol{"wait": found("Atomics.wait", threat.BufferManipulation, neverGranted)}

	out["setTimeout"] = plain("setTimeout", roleTimeout)
	out["setImmediate"] = plain("setImmediate", roleTimeout)
	out["setInterval"] = plain("setInterval", roleInterval)
	out["clearInterval"] = plain("clearInterval", roleClear)
	out["clearTimeout"] = plain("clearTimeout", roleClear)

	out["WebAssembly"] = &symbol{name: "WebAssembly", rest: found("WebAssembly.*", threat.WebAssembly, neverGranted),
		members: group("WebAssembly.", symbol{class: true}, "RuntimeError", "CompileError", "LinkError")}

	out["atob"] = plain("atob", roleDecode)
	out["unescape"] = plain("unescape", roleDecode)
	out["decodeURIComponent"] = plain("decodeURIComponent", roleDecode)
	out["decodeURI"] = plain("decodeURI", roleDecode)
	out["btoa"] = plain("btoa", roleEncode)
	out["arguments"] = &symbol{name: "arguments", members: map[string]*symbol{"callee": plain("arguments.callee", roleCallee)}}
	return out
}

// deno lists the powers of Deno's one global.
func deno() *symbol {
	return &symbol{name: "Deno", members: join(
		group("Deno.", symbol{category: threat.CommandExecution, callable: true}, "run", "Command", "dlopen"),
		group("Deno.", symbol{category: threat.FilesystemAccess, callable: true}, "readFile", "readFileSync", "readTextFile",
			"readTextFileSync", "writeFile", "writeFileSync", "writeTextFile", "writeTextFileSync", "remove", "removeSync", "open",
			"openSync", "mkdir", "readDir", "readDirSync"),
		group("Deno.", symbol{category: threat.NetworkRequest, callable: true}, "connect", "listen", "serve", "connectTls"),
		group("Deno.", symbol{category: threat.EnvironmentAccess, callable: true}, "env", "exit", "kill", "args", "cwd"))}
}
