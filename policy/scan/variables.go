package scan

import "github.com/tdewolff/parse/v2/js"

func resolved(v *js.Var) *js.Var {
	for v.Link != nil {
		v = v.Link
	}
	return v
}

func (w *scanner) variable(v *js.Var) *variable {
	v = resolved(v)
	info := w.vars[v]
	if info == nil {
		info = &variable{home: w.frame, branch: w.branch}
		w.vars[v] = info
	}
	return info
}

// passName moves the cursor behind the next mention of a variable.
func (w *scanner) passName(v *js.Var) { w.at = w.locate(v.Data) }

// assign gives a variable a value: in place of the old one on a straight line, beside it behind a branch.
func (w *scanner) assign(v *js.Var, val *value) {
	if val == nil && w.vars[resolved(v)] == nil {
		return
	}
	info := w.variable(v)
	if val != nil && info.early && w.matters(val) && !info.all.holds(val) {
		w.again = true
	}
	if info.home == w.frame && info.branch == w.branch {
		info.now = val
	} else if val != nil {
		info.now = w.either(val, info.now)
	}
	if val != nil {
		info.all = w.either(val, info.all)
	}
}

// matters reports whether a value that turned up after it was needed is worth another walk.
func (w *scanner) matters(v *value) bool {
	switch v.kind {
	case kindText:
		return w.dynamicKey
	case kindFunction, kindObject:
		// Functions matter where timers do: they may set themselves going. Objects are new in every walk.
		return (w.tele.Flags.HasTimers || w.tasks) && w.round == 0
	}
	return v.powerful()
}

// read gives what a variable may hold where it is mentioned, and reports what the name itself gives away.
func (w *scanner) read(v *js.Var) *value {
	w.passName(v)
	info := w.variable(v)
	if v = resolved(v); v.Decl == js.NoDecl {
		return w.readFree(v, info)
	}
	val := info.all
	if info.home == w.frame && w.loops == 0 {
		val = info.now
	}
	if val == nil {
		info.early = true
	}
	return val
}

// readFree resolves a name that the code does not declare.
func (w *scanner) readFree(v *js.Var, info *variable) *value {
	if info.free == "" {
		info.free, _ = unescape(w.source(v.Data))
		info.stands = w.standsFor(info.free)
	}
	name := info.free
	if val, ok := w.imports[name]; ok {
		return val
	}
	if name[0] == '#' {
		return w.props[name]
	}
	if !info.listed {
		w.free[name], info.listed = struct{}{}, true
	}
	if w.globals[name] {
		return nil
	}
	if info.all != nil {
		return info.all
	}
	if w.with != nil && (info.stands == nil || info.stands.kind == kindGlobal) {
		return w.member(w.with, name, w.at, true)
	}
	return w.mentioned(info.stands, w.at)
}

// global resolves a member of the global object by name.
func (w *scanner) global(name string, at int) *value { return w.mentioned(w.standsFor(name), at) }

// standsFor gives what the host's global object has by a name.
func (w *scanner) standsFor(name string) *value {
	switch name {
	case "globalThis", "global", "window", "self", "top", "frames":
		return &value{kind: kindGlobal}
	}
	if name == "" || w.cat.lengths[name[0]]>>len(name)&1 == 0 {
		return nil
	}
	return symbolValue(w.cat.globals[name])
}

// mentioned notes that a global was named.
func (w *scanner) mentioned(v *value, at int) *value {
	if v != nil && v.kind == kindSymbol {
		w.flag(v.sym)
		if v.sym.category != "" && !v.sym.onUse && !w.quiet {
			w.found(v.sym, at)
		}
	}
	return v
}

// flag notes a global in the telemetry.
func (w *scanner) flag(s *symbol) {
	f := &w.tele.Flags
	switch s.role {
	case roleEval:
		f.HasEval = true
	case roleRequire:
		f.HasRequire = true
	case roleTimeout, roleInterval:
		f.HasTimers = true
	case roleClear:
		w.timers.cleared = true
	}
	switch s.name {
	case "process":
		f.HasProcess = true
	case "fetch":
		f.HasFetch = true
	case "WebAssembly":
		f.HasWebAssembly = true
	}
}

// function gives the record of a function node, the same one in every round.
func (w *scanner) function(node any, params js.Params, plain bool) *function {
	f := w.fns[node]
	if f == nil {
		f = &function{params: params, plain: plain, id: len(w.fns) + 1}
		w.fns[node] = f
	}
	return f
}

// funcDecl walks a function declaration or expression.
func (w *scanner) funcDecl(d *js.FuncDecl) *value {
	f := w.function(d, d.Params, true)
	v := &value{kind: kindFunction, fn: f}
	if d.Name != nil {
		w.passName(d.Name)
		info := w.variable(d.Name)
		info.now, info.all = w.either(v, info.now), w.either(v, info.all)
	}
	w.body(f, d.Params, d.Body.List, &value{kind: kindMaybeGlobal})
	return v
}

// body walks parameters and statements of a function. A nil this is the one around it.
func (w *scanner) body(f *function, params js.Params, list []js.IStmt, this *value) {
	w.tele.Metrics.FunctionCount++
	frame, outer, loops, endless, quiet := w.frame, w.this, w.loops, w.endless, w.quiet
	w.frame, w.loops, w.endless, w.quiet = f, 0, 0, false
	if this != nil {
		w.this = this
	}
	w.branch++
	for _, p := range params.List {
		// Calls bind the parameters; here only what stands in the source is walked.
		w.bindParam(p)
	}
	if params.Rest != nil {
		w.bind(params.Rest, nil)
	}
	w.block(list)
	w.branch--
	w.frame, w.this, w.loops, w.endless, w.quiet = frame, outer, loops, endless, quiet
}

func (w *scanner) bindParam(p js.BindingElement) {
	if v, ok := p.Binding.(*js.Var); ok {
		w.passName(v)
		if p.Default != nil {
			if d := w.expr(p.Default); d != nil {
				w.variable(v).branch = -1 // a default never replaces what calls bring
				w.assign(v, d)
			}
		}
		return
	}
	w.bindDefault(p, nil)
}

// returns notes a value that the current function may return.
func (w *scanner) returns(v *value) {
	if w.frame == nil || v == nil || w.frame.ret.holds(v) {
		return
	}
	if w.frame.called && w.matters(v) {
		w.again = true
	}
	w.frame.ret = w.either(v, w.frame.ret)
}
