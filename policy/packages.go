package policy

// packages are the well-known packages of registries that have one purpose, by what loading them is for. Those that wrap a
// module of Node's are that module.
func packages() map[string]string {
	out := map[string]string{}
	add := func(category string, names ...string) {
		for _, n := range names {
			out[n] = category
		}
	}
	add(NetworkRequest, "axios", "node-fetch", "cross-fetch", "isomorphic-fetch", "isomorphic-unfetch", "unfetch", "whatwg-fetch", "got",
		"ky", "undici", "request", "request-promise", "request-promise-native", "superagent", "needle", "bent", "phin", "wretch",
		"follow-redirects", "xmlhttprequest", "ws", "websocket", "socket.io-client", "engine.io-client", "nodemailer", "ssh2",
		"node-ssh", "ftp", "basic-ftp", "mqtt", "amqplib", "puppeteer", "playwright")
	add(CommandExecution, "shelljs", "execa", "cross-spawn", "node-pty", "zx", "child-process-promise", "node-cmd", "sudo-prompt")
	add(CodeInjection, "vm2", "isolated-vm", "safe-eval", "node-eval", "require-from-string", "ses")
	add(FilesystemAccess, "rimraf", "mkdirp", "del", "chokidar", "write-file-atomic", "jsonfile", "tmp")
	add(WebAssembly, "wasi", "wabt", "wasmer", "@wasmer/wasi")
	add(EnvironmentAccess, "dotenv", "systeminformation", "env-var")
	return out
}

// wrapped gives the module of Node's that a package stands for, or the name itself.
func wrapped(name string) string {
	switch name {
	case "fs-extra", "graceful-fs":
		return "fs"
	case "child-process":
		return "child_process"
	}
	return name
}

// powerOf is what a tier must grant for a package of that category to be no threat.
func powerOf(category string) power {
	switch category {
	case NetworkRequest:
		return networkPower
	case FilesystemAccess:
		return writePower
	case CodeInjection:
		return evalPower
	}
	return neverGranted
}

func purpose(category string) string {
	switch category {
	case NetworkRequest:
		return " talks to the network"
	case CommandExecution:
		return " runs commands on the host"
	case CodeInjection:
		return " runs code that is built at run time"
	case FilesystemAccess:
		return " works on files"
	case WebAssembly:
		return " runs WebAssembly"
	default:
		return " reads the host's environment"
	}
}
