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

// Requires reports whether code names a module where it would load it: require("net"), import("net") or from "net",
// also where a minifier has renamed require. A name that code puts together, or holds in data, does not count.
func Requires(code, name string) bool {
	for rest := code; ; {
		at := strings.Index(rest, name)
		if at < 0 {
			return false
		}
		before, after := strings.TrimSuffix(rest[:at], "node:"), rest[at+len(name):]
		rest = after
		if before == "" || after == "" || before[len(before)-1] != after[0] || strings.IndexByte("\"'`", after[0]) < 0 {
			continue
		}
		before = strings.TrimRight(before[:len(before)-1], " ")
		if strings.HasSuffix(before, "from") || strings.HasSuffix(before, "import") {
			return true
		}
		called, ok := strings.CutSuffix(before, "(")
		if ok && called != "" && partOfName(called[len(called)-1]) {
			return true
		}
	}
}

// AllRequired returns the modules of Node that code requires.
func AllRequired(code string) (out []string) {
	for _, name := range names {
		if Requires(code, name) {
			out = append(out, name)
		}
	}
	return out
}

func partOfName(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
