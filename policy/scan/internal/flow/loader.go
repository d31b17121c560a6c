package flow

import (
	"path"
	"strings"

	"github.com/airlock-run/airlock/policy/internal/quote"
	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/threat"
)

// loader resolves the modules that the code loads, and reports them.
type loader struct {
	budget   *cost.Budget
	cat      *catalogue.Catalogue
	findings *findings
	facts    *facts
	values   *values
	files    map[string]bool
	// file is the path of the source among files; it is empty for the code itself.
	file string
	// packages are those that have files.
	packages map[string]bool
}

// invokeLoader handles the calls that load modules.
func (l *loader) invokeLoader(s *catalogue.Symbol, c call) (*value, bool) {
	switch s.Role {
	case catalogue.RoleRequire:
		l.facts.Flags.HasRequire = true
		if c.passed {
			return symbolValue(l.cat.AnyModule), true // the calls of the wrapper are found
		}
		return l.load(c.arg(0), c.at, "require"), true
	case catalogue.RoleMakeRequire:
		return symbolValue(&catalogue.Symbol{Name: "require", Role: catalogue.RoleRequire, Callable: true}), true
	}
	return nil, false
}

// load reports the loading of a module and returns the module.
func (l *loader) load(name *value, at int, how string) *value {
	var out *value
	known := false
	for n := name; n != nil; n = n.alt {
		if n.kind == kindText && l.budget.Take(cost.ValueWork*(5+len(n.text))) {
			known = true
			if n.isDecoded() {
				l.findings.add(threat.EncodingTricks, catalogue.NeverGranted, "", at,
					"the name of a module is hidden behind a decoder")
			}
			out = l.values.either(out, l.loadNamed(n.text, at, how))
		}
	}
	if !known {
		if name.isDecoded() {
			l.findings.add(threat.EncodingTricks, catalogue.NeverGranted, "", at,
				"the name of a module is hidden behind a decoder")
		}
		l.findings.add(threat.ModuleLoading, catalogue.ModulePower, catalogue.AnyModule, at, how,
			" of a module whose name is only known at run time")
		return symbolValue(l.cat.AnyModule)
	}
	return out
}

func (l *loader) loadNamed(spec string, at int, how string) *value {
	name := strings.TrimPrefix(spec, "node:")
	named := func(category string, p catalogue.Power, module, before, between, after string) {
		if !l.findings.full(category, p, module) {
			l.findings.add(category, p, module, at, before, between, quote.Clipped(spec), after)
		}
	}
	switch {
	case strings.HasPrefix(spec, "./"), strings.HasPrefix(spec, "../"), strings.HasPrefix(spec, "/"):
		if strings.HasSuffix(spec, ".wasm") {
			named(threat.WebAssembly, catalogue.NeverGranted, "", how, " of ", " runs WebAssembly")
		}
		if how == "static import" || l.hasFile(spec) {
			return nil
		}
		named(threat.ModuleLoading, catalogue.NeverGranted, "", how, " of ", ", which is not among the request's files")
		return nil
	case strings.HasPrefix(spec, "data:"), strings.HasPrefix(spec, "blob:"):
		l.findings.add(threat.CodeInjection, catalogue.NeverGranted, "", at, how, " runs the code inside a URL")
	case strings.HasPrefix(spec, "http:"), strings.HasPrefix(spec, "https:"):
		named(threat.NetworkRequest, catalogue.NeverGranted, "", how, " fetches code from ", "")
	}
	if l.hasPackage(name) {
		return nil // its sources are scanned as well
	}
	named(threat.ModuleLoading, catalogue.ModulePower, name, how, " of module ", "")
	if name == "child_process" || name == "cluster" {
		named(threat.CommandExecution, catalogue.NeverGranted, name, "module ", "", " runs commands on the host")
	}
	if category := l.cat.Packages[name]; category != "" {
		named(category, catalogue.PowerOf(category), name, "package ", "", catalogue.Purpose(category))
	}
	if strings.HasSuffix(name, ".wasm") {
		named(threat.WebAssembly, catalogue.NeverGranted, "", how, " of ", " runs WebAssembly")
	}
	if name == "process" {
		l.facts.Flags.HasProcess = true
	}
	if s := l.cat.Modules[catalogue.Wrapped(name)]; s != nil {
		return symbolValue(s)
	}
	if l.cat.Packages[name] == threat.CommandExecution {
		return symbolValue(catalogue.Commands(name))
	}
	return &value{kind: kindSymbol, sym: &catalogue.Symbol{Name: name, Module: name}}
}

// hasFile reports whether the request has the file that a relative specifier may mean.
func (l *loader) hasFile(spec string) bool {
	for _, dir := range []string{path.Dir(l.file), "/"} {
		base := strings.TrimPrefix(path.Join("/", dir, spec), "/")
		if strings.HasPrefix(spec, "/") {
			base = strings.TrimPrefix(path.Clean(spec), "/")
		}
		for _, ext := range []string{"", ".js", ".mjs", ".cjs", ".ts", ".json", "/index.js", "/index.ts", "/package.json"} {
			if l.files[base+ext] {
				return true
			}
		}
	}
	return false
}

// hasPackage reports whether the request has files of the package that a specifier names.
func (l *loader) hasPackage(spec string) bool {
	if l.packages == nil {
		l.packages = map[string]bool{}
		for file := range l.files {
			_, rest, ok := strings.Cut("/"+file, "/node_modules/")
			for ok {
				l.packages[packageName(rest)] = true
				_, rest, ok = strings.Cut(rest, "/node_modules/")
			}
		}
	}
	return l.packages[packageName(spec)]
}

// packageName returns the package of a specifier or of a path below node_modules.
func packageName(spec string) string {
	name, rest, _ := strings.Cut(spec, "/")
	if strings.HasPrefix(name, "@") {
		second, _, _ := strings.Cut(rest, "/")
		name += "/" + second
	}
	return name
}
