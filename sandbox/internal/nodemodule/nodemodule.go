package nodemodule

import (
	"slices"
	"strings"
)

// names are the modules that Node resolves by itself, sorted.
var names = []string{
	"assert", "assert/strict", "async_hooks", "buffer", "child_process", "cluster", "console", "constants", "crypto",
	"dgram", "diagnostics_channel", "dns", "dns/promises", "domain", "events", "fs", "fs/promises", "http", "http2",
	"https", "inspector", "inspector/promises", "module", "net", "os", "path", "path/posix", "path/win32", "perf_hooks",
	"process", "punycode", "querystring", "readline", "readline/promises", "repl", "stream", "stream/consumers",
	"stream/promises", "stream/web", "string_decoder", "sys", "timers", "timers/promises", "tls", "trace_events", "tty",
	"url", "util", "util/types", "v8", "vm", "wasi", "worker_threads", "zlib",
}

// Name returns the name of the Node module that an import specifier stands for. ok is false for any other specifier.
func Name(specifier string) (name string, ok bool) {
	if name, ok := strings.CutPrefix(specifier, "node:"); ok {
		return name, true
	}
	_, found := slices.BinarySearch(names, specifier)
	return specifier, found
}
