package scan

import (
	"slices"
	"strings"

	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
)

// AnyModule in a module list stands for every module that the sandbox provides.
const AnyModule = catalogue.AnyModule

// HasModule reports whether a module list holds a module.
func HasModule(modules []string, name string) bool {
	return slices.Contains(modules, AnyModule) || slices.Contains(modules, name)
}

// hasPackage reports whether a specifier is of a package that the powers list.
func (g *Powers) hasPackage(specifier string) bool {
	return slices.ContainsFunc(g.Packages, func(name string) bool {
		return specifier == name || strings.HasPrefix(specifier, name+"/")
	})
}

// NeverProvided reports whether a module is one that no tier provides, whatever its list says.
func NeverProvided(module string) bool {
	switch module {
	case "child_process", "cluster", "worker_threads", "vm", "net", "dgram", "tls", "dns", "http2", "inspector", "v8",
		"repl", "module", "process":
		return true
	}
	return false
}
