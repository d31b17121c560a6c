package scan

import "github.com/airlock-run/airlock/policy/threat"

// catalogue is what the analyser knows by name: the globals of JavaScript hosts and their modules. It is built once per Set
// and only read afterwards.
type catalogue struct {
	globals map[string]*symbol
	modules map[string]*symbol
	// packages gives the category of packages that have one purpose.
	packages map[string]string
	// anyModule stands for a module loaded under a name that could not be told: its members are known by their own names.
	anyModule *symbol
	// methods are members so telling that they count on a receiver nothing is known of.
	methods    map[string]*symbol
	importMeta *symbol
	// function is Function; eval is eval.
	function, eval *symbol
	// lengths has a bit for each length of the globals' names that begin with a byte: most names of programs are none of them.
	lengths [256]uint64
}

func newCatalogue() *catalogue {
	c := &catalogue{modules: modules(), packages: packages()}
	c.globals = globals(c.modules)
	for name := range c.globals {
		c.lengths[name[0]] |= 1 << len(name)
	}
	c.function = c.globals["Function"]
	c.eval = c.globals["eval"]
	telling := map[string]*symbol{}
	for _, name := range []string{"fs", "vm", "child_process", "net", "dgram", "http", "https", "tls", "http2", "process"} {
		for member, s := range c.modules[name].members {
			if s.category != "" {
				telling[member] = s
			}
		}
	}
	c.importMeta = &symbol{name: "import.meta", members: map[string]*symbol{
		"env":      {name: "import.meta.env", category: threat.EnvironmentAccess},
		"dirname":  {name: "import.meta.dirname", category: threat.EnvironmentAccess},
		"filename": {name: "import.meta.filename", category: threat.EnvironmentAccess},
		"resolve":  {name: "import.meta.resolve", category: threat.ModuleLoading, callable: true},
	}}
	c.anyModule = &symbol{name: "module", module: "?", members: telling}
	c.methods = map[string]*symbol{}
	for _, name := range []string{"execSync", "execFile", "execFileSync", "spawnSync"} {
		c.methods[name] = c.modules["child_process"].members[name]
	}
	for _, name := range []string{"readFileSync", "writeFileSync", "appendFileSync", "unlinkSync", "rmSync", "rmdirSync",
		"mkdirSync", "readdirSync", "copyFileSync", "renameSync", "chmodSync", "symlinkSync", "createWriteStream"} {
		c.methods[name] = c.modules["fs"].members[name]
	}
	for _, name := range []string{"runInThisContext", "runInNewContext"} {
		c.methods[name] = c.modules["vm"].members[name]
	}
	return c
}

func modules() map[string]*symbol {
	finding := func(category string, p power) symbol { return symbol{category: category, power: p, callable: true} }
	all := func(name, category string, members map[string]*symbol) *symbol {
		rest := finding(category, neverGranted)
		rest.name = name + ".*"
		return &symbol{name: name, module: name, members: members, rest: &rest}
	}
	plain := symbol{}

	reads := group("fs.", finding(threat.FilesystemAccess, readPower), "readFile", "readFileSync", "readdir", "readdirSync", "stat",
		"statSync", "lstat", "lstatSync", "exists", "existsSync", "access", "accessSync", "createReadStream", "realpath",
		"realpathSync", "readlink", "readlinkSync", "opendir", "opendirSync", "watch", "watchFile", "statfs", "glob")
	writes := group("fs.", finding(threat.FilesystemAccess, writePower), "writeFile", "writeFileSync", "appendFile",
		"appendFileSync", "unlink", "unlinkSync", "rmdir", "rmdirSync", "rm", "rmSync", "mkdir", "mkdirSync", "mkdtemp",
		"mkdtempSync", "rename", "renameSync", "copyFile", "copyFileSync", "cp", "cpSync", "chmod", "chmodSync", "chown",
		"chownSync", "symlink", "symlinkSync", "link", "linkSync", "truncate", "truncateSync", "createWriteStream", "open",
		"openSync", "write", "writeSync", "utimes", "utimesSync")
	files := join(reads, writes, group("fs.", plain, "constants", "Stats", "Dirent", "F_OK", "R_OK", "W_OK", "X_OK"))
	fs := all("fs", threat.FilesystemAccess, files)
	fs.rest = &symbol{name: "fs.*", category: threat.FilesystemAccess, power: writePower, callable: true}
	promises := &symbol{name: "fs.promises", module: "fs/promises", members: files, rest: fs.rest}
	files["promises"] = promises

	web := func(name string) *symbol {
		return &symbol{name: name, module: name, members: join(
			group(name+".", finding(threat.NetworkRequest, networkPower), "request", "get"),
			group(name+".", finding(threat.NetworkRequest, neverGranted), "createServer", "Server"))}
	}
	childProcess := all("child_process", threat.CommandExecution, group("child_process.", finding(threat.CommandExecution, neverGranted),
		"exec", "execSync", "execFile", "execFileSync", "spawn", "spawnSync", "fork", "ChildProcess"))
	vm := all("vm", threat.CodeInjection, join(
		group("vm.", finding(threat.CodeInjection, neverGranted), "runInContext", "runInNewContext", "runInThisContext", "Script",
			"compileFunction", "SourceTextModule", "SyntheticModule", "createContext"),
		group("vm.", plain, "isContext", "constants", "measureMemory")))
	loader := &symbol{name: "module", module: "module", role: noRole, members: map[string]*symbol{}}
	loader.members["createRequire"] = &symbol{name: "createRequire", role: roleMakeRequire, callable: true}
	loader.members["_load"] = &symbol{name: "module._load", role: roleRequire, callable: true}
	loader.members["Module"] = loader
	process := &symbol{name: "process", module: "process", members: join(
		group("process.", symbol{category: threat.EnvironmentAccess}, "env", "argv", "execPath", "execArgv", "mainModule", "config",
			"pid", "ppid", "title", "debugPort", "report", "permission", "stdin", "features", "release"),
		group("process.", finding(threat.EnvironmentAccess, neverGranted), "exit", "kill", "abort", "reallyExit", "cwd", "chdir",
			"umask", "setuid", "setgid", "getuid", "getgid", "geteuid", "getegid", "getgroups", "initgroups", "_debugProcess",
			"loadEnvFile", "_getActiveHandles", "_kill"),
		group("process.", finding(threat.CommandExecution, neverGranted), "binding", "_linkedBinding", "dlopen", "getBuiltinModule"))}
	process.members["nextTick"] = &symbol{name: "process.nextTick", role: roleTask, callable: true}
	process.members["getBuiltinModule"] = &symbol{name: "process.getBuiltinModule", role: roleRequire, callable: true}
	process.members["mainModule"] = &symbol{name: "process.mainModule", category: threat.EnvironmentAccess, members: map[string]*symbol{
		"require":     {name: "require", role: roleRequire, callable: true},
		"constructor": loader,
	}}
	buffer := &symbol{name: "buffer", module: "buffer", members: map[string]*symbol{"Buffer": bufferClass(), "SlowBuffer": {
		name: "SlowBuffer", category: threat.BufferManipulation, onUse: true}}}
	sockets := func(name string, members ...string) *symbol {
		return all(name, threat.NetworkRequest, group(name+".", finding(threat.NetworkRequest, neverGranted), members...))
	}
	net := sockets("net", "Socket", "connect", "createConnection", "createServer", "Server")
	net.members = join(net.members, group("net.", plain, "isIP", "isIPv4", "isIPv6"))
	http2 := sockets("http2", "connect", "createServer")
	http2.members["constants"] = &symbol{name: "http2.constants"}
	os := all("os", threat.EnvironmentAccess, group("os.", plain, "EOL", "constants", "devNull"))
	worker := symbol{name: "Worker", category: threat.CodeInjection, onUse: true, role: roleWorker}
	return map[string]*symbol{
		"fs": fs, "fs/promises": promises, "child_process": childProcess, "vm": vm, "http": web("http"), "https": web("https"),
		"net": net, "dgram": sockets("dgram", "createSocket", "Socket"), "tls": sockets("tls", "connect", "createServer"),
		"dns": sockets("dns", "lookup", "resolve"), "dns/promises": sockets("dns/promises", "lookup", "resolve"),
		"http2": http2, "module": loader, "process": process, "buffer": buffer, "os": os,
		"cluster":        all("cluster", threat.CommandExecution, group("cluster.", plain, "isMaster", "isPrimary", "isWorker")),
		"worker_threads": {name: "worker_threads", module: "worker_threads", members: map[string]*symbol{"Worker": &worker}},
		"inspector":      all("inspector", threat.CodeInjection, nil), "repl": all("repl", threat.CodeInjection, nil),
		"v8": {name: "v8", module: "v8"}, "wasi": all("wasi", threat.WebAssembly, nil),
	}
}

// bufferClass is Node's Buffer: what hands out raw or uninitialised memory is a finding, from and concat are not.
func bufferClass() *symbol {
	return &symbol{name: "Buffer", category: threat.BufferManipulation, onUse: true, members: join(
		group("Buffer.", symbol{category: threat.BufferManipulation, callable: true}, "alloc", "allocUnsafe", "allocUnsafeSlow"),
		map[string]*symbol{"from": {name: "Buffer.from", role: roleDecode, callable: true}})}
}
