package catalogue

import "github.com/airlock-run/airlock/policy/threat"

// AnyModule stands for every module in a list, and for one whose name is only known at run time.
const AnyModule = "*"

// packages returns well-known packages that have one purpose, with its category. A package that wraps a module of
// Node's has that module's.
func packages() map[string]string {
	out := map[string]string{}
	add := func(category string, names ...string) {
		for _, n := range names {
			out[n] = category
		}
	}
	add(threat.NetworkRequest, "axios", "node-fetch", "cross-fetch", "isomorphic-fetch", "isomorphic-unfetch", "unfetch",
		"whatwg-fetch", "got",
		"ky", "undici", "request", "request-promise", "request-promise-native", "superagent", "needle", "bent", "phin",
		"wretch",
		"follow-redirects", "xmlhttprequest", "ws", "websocket", "socket.io-client", "engine.io-client", "nodemailer", "ssh2",
		"node-ssh", "ftp", "basic-ftp", "mqtt", "amqplib", "puppeteer", "playwright")
	add(threat.CommandExecution, "shelljs", "execa", "cross-spawn", "node-pty", "zx", "child-process-promise", "node-cmd",
		"sudo-prompt")
	add(threat.CodeInjection, "vm2", "isolated-vm", "safe-eval", "node-eval", "require-from-string", "ses")
	add(threat.FilesystemAccess, "rimraf", "mkdirp", "del", "chokidar", "write-file-atomic", "jsonfile", "tmp")
	add(threat.WebAssembly, "wasi", "wabt", "wasmer", "@wasmer/wasi")
	add(threat.EnvironmentAccess, "dotenv", "systeminformation", "env-var")
	return out
}

// Wrapped returns the module of Node's that a package wraps, or the name itself.
func Wrapped(name string) string {
	switch name {
	case "fs-extra", "graceful-fs":
		return "fs"
	case "child-process":
		return "child_process"
	}
	return name
}

// PowerOf returns the power that covers packages of a category.
func PowerOf(category string) Power {
	switch category {
	case threat.NetworkRequest:
		return NetworkPower
	case threat.FilesystemAccess:
		return WritePower
	case threat.CodeInjection:
		return EvalPower
	}
	return NeverGranted
}

// Commands returns the symbol of a package whose functions run commands.
func Commands(name string) *Symbol {
	run := Symbol{Name: name + ".*", Category: threat.CommandExecution, OnUse: true, Callable: true}
	out := run
	out.Name, out.Module, out.rest = name, name, &run
	return &out
}

func Purpose(category string) string {
	switch category {
	case threat.NetworkRequest:
		return " talks to the network"
	case threat.CommandExecution:
		return " runs commands on the host"
	case threat.CodeInjection:
		return " runs code that is built at run time"
	case threat.FilesystemAccess:
		return " works on files"
	case threat.WebAssembly:
		return " runs WebAssembly"
	default:
		return " reads the host's environment"
	}
}
