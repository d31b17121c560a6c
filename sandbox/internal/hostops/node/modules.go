package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/nodemodule"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// Ops are the operations by name. Every guest may call them.
var Ops = map[string]hostops.Op{
	"buffer.encode": bufferEncode,
	"buffer.decode": bufferDecode,
	"buffer.search": bufferSearch,
	"hash":          hashOp,
	"hmac":          hmacOp,
	"pbkdf2":        pbkdf2Op,
	"hkdf":          hkdfOp,
	"scrypt":        scryptOp,
	"cipher":        cipherOp,
}

// free are the modules that every run may load: they give nothing that the language does not.
var free = []string{
	"assert", "assert/strict", "async_hooks", "console", "constants", "diagnostics_channel", "events", "module", "os",
	"perf_hooks", "process", "punycode", "readline", "readline/promises", "stream/consumers", "sys", "timers",
	"timers/promises", "tty", "util/types",
}

// absent are modules of what a sandbox does not have. They load for libraries that name them in their code, and what
// they would reach throws (node_absent.js). Under a name that code has put together they do not exist.
var absent = []string{
	"child_process", "cluster", "dgram", "dns", "dns/promises", "domain", "http2", "inspector", "inspector/promises",
	"net", "repl", "tls", "trace_events", "v8", "vm", "wasi", "worker_threads",
}

// granted are the modules that the library has and a run must be granted. submodules are those of their submodules
// that it has.
var (
	granted = []string{
		"buffer", "crypto", "fs", "http", "https", "path", "querystring", "stream", "string_decoder", "url", "util", "zlib",
	}
	submodules = []string{"fs/promises", "path/posix", "path/win32", "stream/promises", "stream/web"}
)

// Grants are the modules of a run.
type Grants struct {
	// Modules are names without "node:", or "*" for all.
	Modules []string
	// Files grants fs. Without it no name does.
	Files bool
	// Hint, if set, returns what would grant a module, for the message of its refusal.
	Hint func(name string) string
	// Withheld, if set, reports whether a name is of a package that exists and that the run may not import.
	Withheld func(name string) bool
	// Installed, if set, reports whether a name is of a package that the run may import. The code has no package that it
	// names in no string, so a name that it computes is not found.
	Installed func(name string) bool
	// Code is the text of the run's code and of the files that it imports.
	Code string
	// Required are the modules that packages name which were evaluated before the code.
	Required []string
}

func (g *Grants) allow(name string) bool {
	if name == "fs" {
		return g.Files
	}
	return slices.Contains(g.Modules, "*") || slices.Contains(g.Modules, name)
}

// Load answers module(id): true, or the code and the message of an error.
func Load(c *hostops.Call, a []quickjs.Value, g *Grants) (quickjs.Value, error) {
	id, ok := c.Word(a[0], 1024)
	if !ok {
		return c.NewJSON([2]string{"MODULE_NOT_FOUND", "Cannot find module: its name is too long"})
	}
	name, builtin := nodemodule.Name(id)
	base, sub, _ := strings.Cut(name, "/")
	known := slices.Contains(granted, base) && (sub == "" || slices.Contains(submodules, name))
	switch {
	case id == "node:test", slices.Contains(free, name), known && g.allow(base),
		slices.Contains(absent, name) && (slices.Contains(g.Required, name) || nodemodule.Requires(g.Code, name)):
		return quickjs.Bool(true), nil
	case known:
		message := fmt.Sprintf("Cannot load module '%s': this execution may not use it", id)
		if g.Hint != nil {
			if hint := g.Hint(base); hint != "" {
				message += "; " + hint
			}
		}
		return c.NewJSON([2]string{"ERR_ACCESS_DENIED", message})
	case builtin:
		message := fmt.Sprintf("Cannot find module '%s': the sandbox does not have it under any policy", id)
		return c.NewJSON([2]string{"ERR_UNKNOWN_BUILTIN_MODULE", message})
	case strings.HasPrefix(id, ".") || strings.HasPrefix(id, "/"):
		return c.NewJSON([2]string{"MODULE_NOT_FOUND", fmt.Sprintf("Cannot find module '%s': it is not among the files", id)})
	}
	if g.Withheld != nil && g.Withheld(id) {
		message := fmt.Sprintf("Cannot find module '%s': it is installed, but this policy may not import it", id)
		return c.NewJSON([2]string{"MODULE_NOT_FOUND", message})
	}
	if g.Installed != nil && g.Installed(id) {
		message := fmt.Sprintf("Cannot find module '%s': it is installed, but the code computes its name; write the name "+
			"as a string in import or require", id)
		return c.NewJSON([2]string{"MODULE_NOT_FOUND", message})
	}
	const format = "Cannot find module '%s': nothing is installed at run time; give its files as node_modules/%s/…"
	return c.NewJSON([2]string{"MODULE_NOT_FOUND", fmt.Sprintf(format, id, id)})
}
