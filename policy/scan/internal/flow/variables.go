package flow

import (
	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/scan/internal/lexer"
)

func resolved(v *js.Var) *js.Var {
	for v.Link != nil {
		v = v.Link
	}
	return v
}

func (p *program) variable(v *js.Var) *variable {
	v = resolved(v)
	info := p.vars[v]
	if info == nil {
		info = &variable{home: p.scope.frame, branch: p.scope.branch}
		p.vars[v] = info
	}
	return info
}

// passName moves the cursor behind the next mention of a variable.
func (c *cursor) passName(v *js.Var) { c.at = c.locate(v.Data) }

// assign gives a variable a value: in place of the old one on a straight line, beside it behind a branch.
func (p *program) assign(v *js.Var, val *value) {
	if val == nil && p.vars[resolved(v)] == nil {
		return
	}
	info := p.variable(v)
	if val != nil && info.early && p.matters(val) && !info.all.holds(val) {
		p.again = true
	}
	if info.home == p.scope.frame && info.branch == p.scope.branch {
		info.now = val
	} else if val != nil {
		info.now = p.values.either(val, info.now)
	}
	if val != nil {
		info.all = p.values.either(val, info.all)
	}
}

// matters reports whether a value that turned up after it was needed is worth another walk.
func (p *program) matters(v *value) bool {
	switch v.kind {
	case kindText:
		return p.dynamicKey
	case kindFunction, kindObject:
		// Functions matter where timers do: they may set themselves going. Objects are new in every walk.
		return (p.facts.Flags.HasTimers || p.tasks) && p.round == 0
	}
	return v.powerful()
}

// read gives what a variable may hold where it is mentioned, and reports what the name itself gives away.
func (ex *expressions) read(v *js.Var) *value {
	ex.cursor.passName(v)
	info := ex.program.variable(v)
	if v = resolved(v); v.Decl == js.NoDecl {
		return ex.readFree(v, info)
	}
	val := info.all
	if info.home == ex.scope.frame && ex.scope.loops == 0 {
		val = info.now
	}
	if val == nil {
		info.early = true
	}
	return val
}

// readFree resolves a name that the code does not declare.
func (ex *expressions) readFree(v *js.Var, info *variable) *value {
	if info.free == "" {
		info.free, _ = lexer.Unescape(ex.cursor.source(v.Data))
		info.stands = ex.host.standsFor(info.free)
	}
	name := info.free
	if val, ok := ex.program.imports[name]; ok {
		return val
	}
	if name[0] == '#' {
		return ex.program.props[name]
	}
	if !info.listed {
		ex.facts.free[name], info.listed = struct{}{}, true
	}
	if ex.host.globals[name] {
		return nil
	}
	if info.all != nil {
		return info.all
	}
	if ex.scope.with != nil && (info.stands == nil || info.stands.kind == kindGlobal) {
		return ex.host.member(ex.scope.with, name, ex.cursor.at, true)
	}
	return ex.host.mentioned(info.stands, ex.cursor.at)
}

// global resolves a member of the global object by name.
func (h *host) global(name string, at int) *value { return h.mentioned(h.standsFor(name), at) }

// standsFor gives what the host's global object has by a name.
func (h *host) standsFor(name string) *value {
	switch name {
	case "globalThis", "global", "window", "self", "top", "frames":
		return &value{kind: kindGlobal}
	}
	if name == "" || h.cat.Lengths[name[0]]>>len(name)&1 == 0 {
		return nil
	}
	return symbolValue(h.cat.Globals[name])
}

// mentioned notes that a global was named.
func (h *host) mentioned(v *value, at int) *value {
	if v != nil && v.kind == kindSymbol {
		h.flag(v.sym)
		if v.sym.Category != "" && !v.sym.OnUse && !h.scope.quiet {
			h.findings.found(v.sym, at)
		}
	}
	return v
}

// flag notes a global in the telemetry.
func (h *host) flag(s *catalogue.Symbol) {
	f := &h.facts.Flags
	switch s.Role {
	case catalogue.RoleEval:
		f.HasEval = true
	case catalogue.RoleRequire:
		f.HasRequire = true
	case catalogue.RoleTimeout, catalogue.RoleInterval:
		f.HasTimers = true
	case catalogue.RoleClear:
		h.timers.cleared = true
	}
	switch s.Name {
	case "process":
		f.HasProcess = true
	case "fetch":
		f.HasFetch = true
	case "WebAssembly":
		f.HasWebAssembly = true
	}
}

// function gives the record of a function node, the same one in every round.
func (p *program) function(node any, params js.Params, plain bool) *function {
	f := p.fns[node]
	if f == nil {
		f = &function{params: params, plain: plain, id: len(p.fns) + 1}
		p.fns[node] = f
	}
	return f
}

// funcDecl walks a function declaration or expression.
func (w *walker) funcDecl(d *js.FuncDecl) *value {
	f := w.program.function(d, d.Params, true)
	v := &value{kind: kindFunction, fn: f}
	if d.Name != nil {
		w.cursor.passName(d.Name)
		info := w.program.variable(d.Name)
		info.now, info.all = w.values.either(v, info.now), w.values.either(v, info.all)
	}
	w.body(f, d.Params, d.Body.List, &value{kind: kindMaybeGlobal})
	return v
}

// body walks parameters and statements of a function. A nil this is the one around it.
func (w *walker) body(f *function, params js.Params, list []js.IStmt, this *value) {
	w.facts.Metrics.FunctionCount++
	frame, outer, loops, endless, quiet := w.scope.frame, w.scope.this, w.scope.loops, w.scope.endless, w.scope.quiet
	w.scope.frame, w.scope.loops, w.scope.endless, w.scope.quiet = f, 0, 0, false
	if this != nil {
		w.scope.this = this
	}
	w.scope.branch++
	for _, p := range params.List {
		// Calls bind the parameters; here only what stands in the source is walked.
		w.bindParam(p)
	}
	if params.Rest != nil {
		w.bind(params.Rest, nil)
	}
	w.block(list)
	w.scope.branch--
	w.scope.frame, w.scope.this, w.scope.loops, w.scope.endless, w.scope.quiet = frame, outer, loops, endless, quiet
}

func (w *walker) bindParam(p js.BindingElement) {
	if v, ok := p.Binding.(*js.Var); ok {
		w.cursor.passName(v)
		if p.Default != nil {
			if d := w.expressions.expr(p.Default); d != nil {
				w.program.variable(v).branch = -1 // a default never replaces what calls bring
				w.program.assign(v, d)
			}
		}
		return
	}
	w.bindDefault(p, nil)
}

// returns notes a value that the current function may return.
func (p *program) returns(v *value) {
	if p.scope.frame == nil || v == nil || p.scope.frame.ret.holds(v) {
		return
	}
	if p.scope.frame.called && p.matters(v) {
		p.again = true
	}
	p.scope.frame.ret = p.values.either(v, p.scope.frame.ret)
}
