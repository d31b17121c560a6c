package catalogue

import "github.com/airlock-run/airlock/policy/threat"

// globals returns the names of the global object.
func globals(mods map[string]*Symbol) map[string]*Symbol {
	plain := func(name string, r Role) *Symbol { return &Symbol{Name: name, Role: r, Callable: true} }
	found := func(name, category string, p Power) *Symbol {
		return &Symbol{Name: name, Category: category, Power: p, Callable: true}
	}
	called := func(name, category string, p Power, r Role) *Symbol {
		return &Symbol{Name: name, Category: category, Power: p, Role: r, OnUse: true, Callable: true}
	}
	out := map[string]*Symbol{}

	for _, name := range []string{"Array", "String", "Number", "Boolean", "RegExp", "Date", "Promise", "Map", "Set",
		"WeakMap",
		"WeakSet", "Symbol", "BigInt", "Error", "TypeError", "RangeError", "SyntaxError", "EvalError", "ReferenceError",
		"URIError", "AggregateError", "DataView", "Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array",
		"Int32Array", "Uint32Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array", "URL",
		"URLPattern", "URLSearchParams", "TextEncoder", "TextDecoder", "Iterator", "WeakRef"} {
		out[name] = &Symbol{Name: name, Class: true, Callable: true}
	}
	// Their members are functions, and a function's constructor is Function.
	for _, name := range []string{"Math", "JSON", "console", "Intl", "Temporal", "Atomics", "crypto", "performance"} {
		out[name] = &Symbol{Name: name, rest: plain(name+".*", NoRole)}
	}
	for _, name := range []string{"parseFloat", "isNaN", "isFinite", "structuredClone"} {
		out[name] = plain(name, NoRole)
	}
	out["JSON"].Members = map[string]*Symbol{"parse": plain("JSON.parse", RoleParse),
		"stringify": plain("JSON.stringify", RoleStringify)}
	for _, name := range []string{"encodeURIComponent", "encodeURI"} {
		out[name] = plain(name, RolePercent)
	}
	out["escape"] = plain("escape", RoleEscape)
	out["Symbol"].Role = RoleSymbol
	for _, name := range []string{"queueMicrotask", "requestAnimationFrame", "requestIdleCallback"} {
		out[name] = plain(name, RoleTask)
	}
	for _, name := range []string{"__dirname", "__filename"} {
		out[name] = &Symbol{Name: name, Category: threat.EnvironmentAccess}
	}
	out["parseInt"] = plain("parseInt", RoleParseInt)
	out["Promise"].Members = map[string]*Symbol{"resolve": plain("Promise.resolve", RolePromise)}
	out["String"].Members = map[string]*Symbol{"fromCharCode": plain("String.fromCharCode", RoleCharCode),
		"fromCodePoint": plain("String.fromCodePoint", RoleCharCode), "raw": plain("String.raw", RoleRaw)}
	out["String"].Role = RoleString
	object := &Symbol{Name: "Object", Class: true, Callable: true, Members: join(
		group("Object.", Symbol{Role: RoleIdentity, Callable: true}, "freeze", "seal", "preventExtensions"),
		map[string]*Symbol{
			"create":                    plain("Object.create", RoleCreate),
			"setPrototypeOf":            plain("Object.setPrototypeOf", RoleSetPrototype),
			"getPrototypeOf":            plain("Object.getPrototypeOf", RoleGetPrototype),
			"getOwnPropertyDescriptor":  plain("Object.getOwnPropertyDescriptor", RoleDescriptor),
			"getOwnPropertyDescriptors": plain("Object.getOwnPropertyDescriptors", RoleDescriptors),
			"assign":                    plain("Object.assign", RoleAssign),
			"defineProperty":            plain("Object.defineProperty", RoleDefine),
			"defineProperties":          plain("Object.defineProperties", RoleDefine),
			"keys":                      plain("Object.keys", RoleKeys),
			"getOwnPropertyNames":       plain("Object.getOwnPropertyNames", RoleKeys),
			"values":                    plain("Object.values", RoleValues),
			"entries":                   plain("Object.entries", RoleValues),
		})}
	object.rest = plain("Object.*", NoRole)
	out["Array"].Members = map[string]*Symbol{"from": plain("Array.from", RoleSpread)}
	out["Object"] = object
	out["Reflect"] = &Symbol{Name: "Reflect", rest: plain("Reflect.*", NoRole), Members: map[string]*Symbol{
		"get": plain("Reflect.get", RoleReflectGet), "apply": plain("Reflect.apply", RoleReflectApply),
		"construct": plain("Reflect.construct", RoleReflectConstruct), "set": plain("Reflect.set", RoleReflectSet),
		"getPrototypeOf":           plain("Reflect.getPrototypeOf", RoleGetPrototype),
		"setPrototypeOf":           plain("Reflect.setPrototypeOf", RoleSetPrototype),
		"getOwnPropertyDescriptor": plain("Reflect.getOwnPropertyDescriptor", RoleDescriptor),
		"defineProperty":           plain("Reflect.defineProperty", RoleDefine),
	}}
	out["Proxy"] = plain("Proxy", RoleIdentity)

	out["eval"] = found("eval", threat.CodeInjection, EvalPower)
	out["eval"].Role = RoleEval
	for _, name := range []string{"Function", "AsyncFunction", "GeneratorFunction", "AsyncGeneratorFunction"} {
		out[name] = called(name, threat.CodeInjection, EvalPower, RoleFunction)
		out[name].Class = true
	}
	out["execScript"] = found("execScript", threat.CodeInjection, EvalPower)
	out["Worker"] = mods["worker_threads"].Members["Worker"]
	out["importScripts"] = called("importScripts", threat.ModuleLoading, NeverGranted, NoRole)

	for _, name := range []string{"exec", "execSync", "execFile", "execFileSync", "spawn", "spawnSync"} {
		out[name] = called(name, threat.CommandExecution, NeverGranted, NoRole)
	}
	// Names that Node's own shell defines and that example code uses without require.
	for _, name := range []string{"fs", "child_process", "vm", "http", "https", "net", "dgram", "tls", "dns", "http2",
		"process",
		"cluster", "worker_threads"} {
		out[name] = mods[name]
	}
	out["Deno"] = deno()
	bun := func(category string, names ...string) map[string]*Symbol {
		return group("Bun.", Symbol{Category: category, Callable: true, Foreign: true}, names...)
	}
	out["Bun"] = &Symbol{Name: "Bun", Members: join(
		group("Bun.", Symbol{Category: threat.CommandExecution, Callable: true}, "spawn", "spawnSync", "$"),
		bun(threat.FilesystemAccess, "file", "write"), bun(threat.NetworkRequest, "serve", "connect", "listen"),
		group("Bun.", Symbol{Category: threat.EnvironmentAccess, Foreign: true}, "env", "argv"))}

	out["fetch"] = found("fetch", threat.NetworkRequest, NetworkPower)
	for _, name := range []string{"XMLHttpRequest", "WebSocket", "EventSource", "WebTransport", "RTCPeerConnection"} {
		out[name] = called(name, threat.NetworkRequest, NeverGranted, NoRole)
	}
	out["navigator"] = &Symbol{Name: "navigator", Members: map[string]*Symbol{
		"sendBeacon": found("navigator.sendBeacon", threat.NetworkRequest, NeverGranted)}}

	out["require"] = plain("require", RoleRequire)
	out["require"].Members = join(group("require.", Symbol{Category: threat.ModuleLoading}, "cache", "resolve",
		"extensions"),
		map[string]*Symbol{"main": {Name: "require.main",
			Members: map[string]*Symbol{"require": plain("require", RoleRequire)}}})
	out["module"] = &Symbol{Name: "module", Members: map[string]*Symbol{
		"exports":     {Name: "module.exports", Category: threat.ModuleLoading, Power: FilePower},
		"require":     plain("require", RoleRequire),
		"constructor": mods["module"],
		"children":    {Name: "module.children", Category: threat.ModuleLoading},
		"parent":      {Name: "module.parent", Category: threat.ModuleLoading},
		"paths":       {Name: "module.paths", Category: threat.ModuleLoading},
	}}
	out["exports"] = &Symbol{Name: "exports", rest: &Symbol{Name: "exports.*", Category: threat.ModuleLoading,
		Power: FilePower}}

	out["Buffer"] = bufferClass()
	out["SlowBuffer"] = mods["buffer"].Members["SlowBuffer"]
	for _, name := range []string{"ArrayBuffer", "SharedArrayBuffer"} {
		out[name] = called(name, threat.BufferManipulation, NeverGranted, NoRole)
		out[name].Class = true
	}
	out["Atomics"].Members = map[string]*Symbol{"wait": found("Atomics.wait", threat.BufferManipulation, NeverGranted)}

	out["setTimeout"] = plain("setTimeout", RoleTimeout)
	out["setImmediate"] = plain("setImmediate", RoleTimeout)
	out["setInterval"] = plain("setInterval", RoleInterval)
	out["clearInterval"] = plain("clearInterval", RoleClear)
	out["clearTimeout"] = plain("clearTimeout", RoleClear)

	out["WebAssembly"] = &Symbol{Name: "WebAssembly", rest: found("WebAssembly.*", threat.WebAssembly, NeverGranted),
		Members: group("WebAssembly.", Symbol{Class: true}, "RuntimeError", "CompileError", "LinkError")}

	out["atob"] = plain("atob", RoleDecode)
	out["unescape"] = plain("unescape", RoleDecode)
	out["decodeURIComponent"] = plain("decodeURIComponent", RoleDecode)
	out["decodeURI"] = plain("decodeURI", RoleDecode)
	out["btoa"] = plain("btoa", RoleEncode)
	out["arguments"] = &Symbol{Name: "arguments", Members: map[string]*Symbol{"callee": plain("arguments.callee",
		RoleCallee)}}
	return out
}

// deno returns the global of Deno.
func deno() *Symbol {
	vain := func(category string, names ...string) map[string]*Symbol {
		return group("Deno.", Symbol{Category: category, Callable: true, Foreign: true}, names...)
	}
	return &Symbol{Name: "Deno", Members: join(
		group("Deno.", Symbol{Category: threat.CommandExecution, Callable: true}, "run", "Command", "dlopen"),
		vain(threat.FilesystemAccess, "readFile", "readFileSync", "readTextFile", "readTextFileSync", "writeFile",
			"writeFileSync", "writeTextFile", "writeTextFileSync", "remove", "removeSync", "open", "openSync", "mkdir",
			"readDir", "readDirSync"),
		vain(threat.NetworkRequest, "connect", "listen", "serve", "connectTls"),
		vain(threat.EnvironmentAccess, "env", "exit", "kill", "args", "cwd"))}
}
