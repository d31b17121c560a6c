package catalogue

import (
	"strings"

	"github.com/airlock-run/airlock/policy/threat"
)

// otherFiles are the functions of fs, and of packages that extend it, that may change files.
const otherFiles = `close closeSync fchmod fchmodSync fchown fchownSync fdatasync fdatasyncSync fstat fstatSync fsync
	fsyncSync ftruncate ftruncateSync futimes futimesSync lchmod lchmodSync lchown lchownSync lutimes lutimesSync
	openAsBlob read readSync readv readvSync statfsSync unwatchFile writev writevSync ReadStream WriteStream
	FileReadStream FileWriteStream Dir globSync mkdtempDisposable mkdtempDisposableSync lstat lstatSync promises
	copy copySync createFile createFileSync createLink createLinkSync createSymlink createSymlinkSync emptyDir emptyDirSync
	emptydir emptydirSync ensureDir ensureDirSync ensureFile ensureFileSync ensureLink ensureLinkSync ensureSymlink
	ensureSymlinkSync mkdirp mkdirpSync mkdirs mkdirsSync move moveSync outputFile outputFileSync outputJSON
	outputJSONSync outputJson outputJsonSync pathExists pathExistsSync readJSON readJSONSync readJson readJsonSync
	remove removeSync writeJSON writeJSONSync writeJson writeJsonSync gracefulify`

func modules() map[string]*Symbol {
	finding := func(category string, p Power) Symbol { return Symbol{Category: category, Power: p, Callable: true} }
	all := func(name, category string, members map[string]*Symbol) *Symbol {
		rest := finding(category, NeverGranted)
		rest.Name = name + ".*"
		return &Symbol{Name: name, Module: name, Members: members, rest: &rest}
	}
	// compiler returns a module that runs code, which is no more than eval does.
	compiler := func(name string) *Symbol {
		rest := finding(threat.CodeInjection, EvalPower)
		rest.Name = name + ".*"
		return &Symbol{Name: name, Module: name, rest: &rest}
	}
	plain := Symbol{}

	reads := group("fs.", finding(threat.FilesystemAccess, ReadPower), "readFile", "readFileSync", "readdir",
		"readdirSync", "stat",
		"statSync", "lstat", "lstatSync", "exists", "existsSync", "access", "accessSync", "createReadStream", "realpath",
		"realpathSync", "readlink", "readlinkSync", "opendir", "opendirSync", "watch", "watchFile", "statfs", "glob")
	writes := group("fs.", finding(threat.FilesystemAccess, WritePower), "writeFile", "writeFileSync", "appendFile",
		"appendFileSync", "unlink", "unlinkSync", "rmdir", "rmdirSync", "rm", "rmSync", "mkdir", "mkdirSync", "mkdtemp",
		"mkdtempSync", "rename", "renameSync", "copyFile", "copyFileSync", "cp", "cpSync", "chmod", "chmodSync", "chown",
		"chownSync", "symlink", "symlinkSync", "link", "linkSync", "truncate", "truncateSync", "createWriteStream", "open",
		"openSync", "write", "writeSync", "utimes", "utimesSync")
	files := join(reads, writes, group("fs.", plain, "constants", "Stats", "Dirent", "F_OK", "R_OK", "W_OK", "X_OK"))
	fs := all("fs", threat.FilesystemAccess, files)
	fs.rest = &Symbol{Name: "fs.*", Category: threat.FilesystemAccess, Power: WritePower, Callable: true}
	fs.known = make(map[string]bool)
	for name := range strings.FieldsSeq(otherFiles) {
		fs.known[name] = true
	}
	promises := &Symbol{Name: "fs.promises", Module: "fs/promises", Members: files, rest: fs.rest, known: fs.known}
	files["promises"] = promises

	web := func(name string) *Symbol {
		return &Symbol{Name: name, Module: name, Members: join(
			group(name+".", finding(threat.NetworkRequest, NetworkPower), "request", "get"),
			group(name+".", finding(threat.NetworkRequest, NeverGranted), "createServer", "Server"))}
	}
	childProcess := all("child_process", threat.CommandExecution,
		group("child_process.", finding(threat.CommandExecution, NeverGranted),
			"exec", "execSync", "execFile", "execFileSync", "spawn", "spawnSync", "fork", "ChildProcess"))
	vm := all("vm", threat.CodeInjection, join(
		group("vm.", finding(threat.CodeInjection, EvalPower), "runInContext", "runInNewContext", "runInThisContext",
			"Script",
			"compileFunction", "SourceTextModule", "SyntheticModule", "createContext"),
		group("vm.", plain, "isContext", "constants", "measureMemory")))
	loader := &Symbol{Name: "module", Module: "module", Role: NoRole, Members: map[string]*Symbol{}}
	loader.Members["createRequire"] = &Symbol{Name: "createRequire", Role: RoleMakeRequire, Callable: true}
	loader.Members["_load"] = &Symbol{Name: "module._load", Role: RoleRequire, Callable: true}
	loader.Members["Module"] = loader
	process := &Symbol{Name: "process", Module: "process", Members: join(
		group("process.", Symbol{Category: threat.EnvironmentAccess}, "env", "argv", "execPath", "execArgv", "mainModule",
			"config",
			"pid", "ppid", "title", "debugPort", "report", "permission", "stdin", "features", "release"),
		group("process.", finding(threat.EnvironmentAccess, NeverGranted), "exit", "kill", "abort", "reallyExit", "cwd",
			"chdir",
			"umask", "setuid", "setgid", "getuid", "getgid", "geteuid", "getegid", "getgroups", "initgroups", "_debugProcess",
			"loadEnvFile", "_getActiveHandles", "_kill"),
		group("process.", Symbol{Category: threat.CommandExecution, Role: RoleBinding, Callable: true, OnUse: true},
			"binding", "_linkedBinding"),
		group("process.", finding(threat.CommandExecution, NeverGranted), "dlopen", "getBuiltinModule"))}
	process.Members["nextTick"] = &Symbol{Name: "process.nextTick", Role: RoleTask, Callable: true}
	process.Members["getBuiltinModule"] = &Symbol{Name: "process.getBuiltinModule", Role: RoleRequire, Callable: true}
	process.Members["mainModule"] = &Symbol{Name: "process.mainModule", Category: threat.EnvironmentAccess,
		Members: map[string]*Symbol{
			"require":     {Name: "require", Role: RoleRequire, Callable: true},
			"constructor": loader,
		}}
	buffer := &Symbol{Name: "buffer", Module: "buffer",
		Members: map[string]*Symbol{"Buffer": bufferClass(), "SlowBuffer": {
			Name: "SlowBuffer", Category: threat.BufferManipulation, OnUse: true}}}
	sockets := func(name string, members ...string) *Symbol {
		return all(name, threat.NetworkRequest, group(name+".", finding(threat.NetworkRequest, NeverGranted), members...))
	}
	net := sockets("net", "Socket", "connect", "createConnection", "createServer", "Server")
	net.Members = join(net.Members, group("net.", plain, "isIP", "isIPv4", "isIPv6"))
	http2 := sockets("http2", "connect", "createServer")
	http2.Members["constants"] = &Symbol{Name: "http2.constants"}
	os := all("os", threat.EnvironmentAccess, group("os.", plain, "EOL", "constants", "devNull"))
	// No guest has a second thread, so a Worker is only an attempt.
	worker := Symbol{Name: "Worker", Category: threat.CodeInjection, Power: EvalPower, OnUse: true, Role: RoleWorker,
		Foreign: true}
	return map[string]*Symbol{
		"fs": fs, "fs/promises": promises, "child_process": childProcess, "vm": vm, "http": web("http"),
		"https": web("https"),
		"net":   net, "dgram": sockets("dgram", "createSocket", "Socket"), "tls": sockets("tls", "connect", "createServer"),
		"dns": sockets("dns", "lookup", "resolve"), "dns/promises": sockets("dns/promises", "lookup", "resolve"),
		"http2": http2, "module": loader, "process": process, "buffer": buffer, "os": os,
		"cluster": {Name: "cluster", Module: "cluster", Members: group("cluster.",
			finding(threat.CommandExecution, NeverGranted), "fork", "setupMaster", "setupPrimary")},
		"worker_threads": {Name: "worker_threads", Module: "worker_threads", Members: map[string]*Symbol{"Worker": &worker}},
		"inspector":      compiler("inspector"), "repl": compiler("repl"),
		"v8": {Name: "v8", Module: "v8"}, "wasi": all("wasi", threat.WebAssembly, nil),
		"util": {Name: "util", Module: "util", Members: map[string]*Symbol{
			"promisify": {Name: "util.promisify", Role: RoleIdentity, Callable: true}}},
	}
}

// bufferClass returns Node's Buffer. What allocates raw memory is a finding; from and concat are not.
func bufferClass() *Symbol {
	return &Symbol{Name: "Buffer", Category: threat.BufferManipulation, OnUse: true, Members: join(
		group("Buffer.", Symbol{Category: threat.BufferManipulation, Callable: true}, "alloc", "allocUnsafe",
			"allocUnsafeSlow"),
		map[string]*Symbol{"from": {Name: "Buffer.from", Role: RoleDecode, Callable: true}})}
}

// IsPowerless reports whether a module of Node's gives code nothing that the language does not. Code that needs one
// where it is missing fails.
func IsPowerless(module string) bool {
	switch module {
	case "assert", "async_hooks", "buffer", "console", "constants", "crypto", "diagnostics_channel", "domain", "events",
		"path", "perf_hooks", "punycode", "querystring", "stream", "stream/promises", "stream/web", "string_decoder", "sys",
		"timers", "timers/promises", "tty", "url", "util", "util/types", "zlib":
		return true
	}
	return false
}
