package flow

import (
	"path"
	"strings"

	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/internal/quote"
	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/scan/internal/lexer"
	"github.com/airlock-run/airlock/policy/threat"
)

// invokeLoader covers the calls that load modules.
func (l *loader) invokeLoader(s *catalogue.Symbol, c call) (*value, bool) {
	switch s.Role {
	case catalogue.RoleRequire:
		l.facts.Flags.HasRequire = true
		return l.load(c.arg(0), c.at, "require"), true
	case catalogue.RoleMakeRequire:
		return symbolValue(&catalogue.Symbol{Name: "require", Role: catalogue.RoleRequire, Callable: true}), true
	}
	return nil, false
}

func (ex *expressions) dynamicImport(e *js.CallExpr, lit *js.LiteralExpr) *value {
	at := ex.cursor.locate(lit.Data)
	ex.facts.Flags.HasDynamicImport = true
	args := ex.args(e.Args.List)
	var name *value
	if len(args) > 0 {
		name = args[0]
	}
	v := ex.loader.load(name, at, "import")
	ex.cursor.at = at
	return v
}

// load reports what loading a module means and gives the module.
func (l *loader) load(name *value, at int, how string) *value {
	var out *value
	known := false
	for n := name; n != nil; n = n.alt {
		if n.kind == kindText && l.budget.Take(cost.ValueWork*(5+len(n.text))) {
			known = true
			if n.isDecoded() {
				l.findings.add(threat.EncodingTricks, catalogue.NeverGranted, "", at, "the name of a module is hidden behind a decoder")
			}
			out = l.values.either(out, l.loadNamed(n.text, at, how))
		}
	}
	if !known {
		if name.isDecoded() {
			l.findings.add(threat.EncodingTricks, catalogue.NeverGranted, "", at, "the name of a module is hidden behind a decoder")
		}
		l.findings.add(threat.ModuleLoading, catalogue.ModulePower, catalogue.AnyModule, at, how, " of a module whose name is only known at run time")
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
	return &value{kind: kindSymbol, sym: &catalogue.Symbol{Name: name, Module: name}}
}

// hasFile reports whether the request brought the file that a relative specifier may mean.
func (l *loader) hasFile(spec string) bool {
	base := strings.TrimPrefix(path.Clean("/"+spec), "/")
	for _, ext := range []string{"", ".js", ".mjs", ".cjs", ".ts", ".json", "/index.js", "/index.ts"} {
		if l.files[base+ext] {
			return true
		}
	}
	return false
}

func (w *walker) importStmt(s *js.ImportStmt) {
	type binding struct {
		name, as string
		at       int
	}
	var names []binding
	if s.Default != nil {
		names = append(names, binding{"default", string(s.Default), w.cursor.pass(s.Default)})
	}
	for _, a := range s.List {
		b := binding{name: string(a.Name), as: string(a.Binding), at: w.cursor.offset}
		switch {
		case a.Binding == nil:
			continue
		case a.Name == nil:
			b.name = b.as
			b.at = w.cursor.pass(a.Binding)
		default:
			b.at = w.cursor.pass(a.Name)
			b.name, _ = lexer.Unescape(strings.Trim(b.name, "\"'"))
			w.cursor.pass(a.Binding)
		}
		names = append(names, b)
	}
	at := w.cursor.pass(s.Module)
	module := w.loader.load(textValue(w.cursor.stringText(s.Module)), at, "static import")
	for _, b := range names {
		v := module
		if b.name != "*" && b.name != "default" && module != nil {
			v = w.host.member(module, b.name, b.at, true)
		}
		w.program.imports[b.as] = v
	}
}

func (w *walker) exportStmt(s *js.ExportStmt) {
	if s.Decl != nil {
		if d, ok := s.Decl.(js.IStmt); ok {
			w.stmt(d)
			return
		}
		w.expressions.expr(s.Decl)
		return
	}
	for _, a := range s.List {
		if a.Name != nil {
			w.cursor.pass(a.Name)
		}
		if a.Binding != nil {
			w.cursor.pass(a.Binding)
		}
	}
	if s.Module != nil {
		at := w.cursor.pass(s.Module)
		w.loader.load(textValue(w.cursor.stringText(s.Module)), at, "static import")
	}
}
