package reach

import "github.com/tdewolff/parse/v2/js"

// value walks an expression whose value is stored: it runs once into is live.
func (w *walker) value(e js.IExpr, into *node) {
	if e == nil || !w.enter() {
		return
	}
	defer w.leave()
	switch e := e.(type) {
	case *js.Var:
		x := w.variable(e)
		x.used = true
		into.leadTo(x.node)
		into.leadTo(x.returned)
	case *js.GroupExpr:
		w.value(e.X, into)
	case *js.FuncDecl:
		f := w.function(e, e.Params, e.Body.List)
		if e.Name != nil {
			w.variable(e.Name).node.leadTo(f)
			w.current.leadTo(w.variable(e.Name).truth)
			w.variable(e.Name).used = true
		}
		into.leadTo(f)
	case *js.ArrowFunc:
		into.leadTo(w.function(e, e.Params, e.Body.List))
	case *js.ClassDecl:
		c := w.class(e, into)
		if e.Name != nil {
			w.variable(e.Name).node.leadTo(c)
			w.current.leadTo(w.variable(e.Name).truth)
			w.variable(e.Name).used = true
		}
	case *js.ObjectExpr:
		members := &node{}
		for _, p := range e.List {
			members.leadTo(w.property(p, nil))
		}
		if into != w.current {
			into.members = members
		}
	case *js.CondExpr:
		w.use(e.Cond)
		yes, no := w.holds(e.Cond, true), w.holds(e.Cond, false)
		w.branch(yes, e, false, func() { w.value(e.X, gated(yes, into)) })
		w.branch(no, e, true, func() { w.value(e.Y, gated(no, into)) })
	case *js.CommaExpr:
		for i, x := range e.List {
			if i == len(e.List)-1 {
				w.value(x, into)
			} else {
				w.run(x)
			}
		}
	case *js.DotExpr:
		w.read(e, into)
	case *js.IndexExpr:
		if name, ok := constant(e.Y); ok {
			w.touches(name)
			if v, isVar := ungrouped(e.X).(*js.Var); isVar && name == "default" {
				w.value(v, into)
				return
			}
			w.base(e.X)
			into.leadTo(w.graph.name(name))
			return
		}
		w.use(e)
	case *js.BinaryExpr:
		w.either(e, into)
	case *js.UnaryExpr:
		if e.Op == js.AwaitToken {
			w.value(e.X, into)
			return
		}
		w.use(e.X)
	case *js.CallExpr:
		w.returned(e, into)
	case *js.MethodDecl:
		into.leadTo(w.function(e, e.Params, e.Body.List))
	case *js.LiteralExpr:
		if e.TokenType == js.StringToken {
			w.touches(text(e))
		}
	case *js.ImportMetaExpr, *js.NewTargetExpr:
	case *js.NewExpr, *js.ArrayExpr, *js.TemplateExpr, *js.YieldExpr, *js.VarDecl:
		w.use(e)
	default:
		w.lost = w.lost || e != nil && isUnknown(e)
	}
}

// isUnknown reports whether an expression is of a kind that the walk does not know.
func isUnknown(e js.IExpr) bool {
	switch e.(type) {
	case js.LiteralExpr, js.NewTargetExpr, js.ImportMetaExpr:
		return false
	}
	return true
}

// either walks an operator whose value may be that of an operand.
func (w *walker) either(e *js.BinaryExpr, into *node) {
	switch e.Op {
	case js.EqToken:
		w.assign(e, into)
	case js.OrToken, js.NullishToken:
		w.value(e.X, into)
		if present(e.X) {
			running := w.current
			w.current, into = &node{}, &node{} // nothing reaches either
			defer func() { w.current = running }()
		}
		if e.Op == js.NullishToken {
			w.value(e.Y, into)
			return
		}
		no := w.holds(e.X, false)
		w.branch(no, e, true, func() { w.value(e.Y, gated(no, into)) })
	case js.AndToken:
		w.use(e.X)
		yes := w.holds(e.X, true)
		w.branch(yes, e, false, func() { w.value(e.Y, gated(yes, into)) })
	default:
		w.binary(e)
	}
}

// present reports whether an expression is a built-in function that every engine has.
func present(e js.IExpr) bool {
	d, ok := ungrouped(e).(*js.DotExpr)
	if !ok {
		return false
	}
	object := ""
	switch x := ungrouped(d.X).(type) {
	case *js.Var:
		if resolved(x).Decl != js.NoDecl {
			return false
		}
		object = plain(x.Data)
	case *js.DotExpr:
		v, ok := ungrouped(x.X).(*js.Var)
		if !ok || resolved(v).Decl != js.NoDecl {
			return false
		}
		object = plain(v.Data) + "." + member(x)
	}
	return isPresent(object, member(d))
}

// returned walks a call whose value is stored. If the call loads a module, the exports of the module are stored.
func (w *walker) returned(e *js.CallExpr, into *node) {
	if specifier, ok := required(e); ok {
		into.leadTo(w.graph.module(w.file, specifier))
		return
	}
	if w.interop(e.X) && len(e.Args.List) > 0 {
		w.base(e.X)
		w.use(e.X)
		w.value(e.Args.List[0].Value, into)
		return
	}
	switch callee := ungrouped(e.X).(type) {
	case *js.DotExpr:
		v, isVar := ungrouped(callee.X).(*js.Var)
		switch name := member(callee); {
		case name == "bind":
			w.value(callee.X, into)
			w.args(e.Args.List)
			return
		case isVar && name == "create" && string(v.Data) == "Object" && len(e.Args.List) == 1:
			w.value(e.Args.List[0].Value, into)
			return
		}
	case *js.FuncDecl, *js.ArrowFunc:
		w.returning = into
	}
	w.call(e, into)
}

// declare walks a declaration of variables.
func (w *walker) declare(d *js.VarDecl) {
	for _, item := range d.List {
		v, ok := item.Binding.(*js.Var)
		if !ok {
			w.pattern(item.Binding)
			w.use(item.Default)
			continue
		}
		if item.Default != nil {
			w.assumes(w.declared(v).truth, item.Default)
			w.declared(v).interop, w.declared(v).loader = isInterop(item.Default), isRequire(item.Default)
		}
		w.store(w.declared(v), item.Default)
	}
}

// store walks what a variable is set to.
func (w *walker) store(x *variable, e js.IExpr) {
	if call, ok := ungrouped(e).(*js.CallExpr); ok {
		if params := wrapped(call); params != nil {
			outer := w.wrapper
			w.wrapper = &wrapper{params: params, exports: x.returned}
			w.value(e, w.current)
			w.wrapper = outer
			return
		}
	}
	stored := &node{}
	w.keep(x.node, stored)
	w.value(e, stored)
	x.members.leadTo(stored.members)
}

// assign walks an assignment, or a chain of them. The value goes into all targets, and into a node unless that is nil.
func (w *walker) assign(e *js.BinaryExpr, into *node) {
	stored := &node{}
	into.leadTo(stored)
	var y js.IExpr
	var targets []js.IExpr
	for {
		w.target(e.X, stored)
		targets = append(targets, e.X)
		y = e.Y
		next, ok := ungrouped(y).(*js.BinaryExpr)
		if !ok || next.Op != js.EqToken {
			break
		}
		e = next
	}
	w.assigns(targets, y)
	if v, ok := ungrouped(e.X).(*js.Var); ok && into == nil {
		x := w.variable(v)
		w.store(&variable{node: stored, returned: x.returned, members: x.members, truth: x.truth}, y)
		return
	}
	w.value(y, stored)
}

// target walks what is assigned to, and lets it lead to what is stored there.
func (w *walker) target(e js.IExpr, stored *node) {
	switch t := ungrouped(e).(type) {
	case *js.Var:
		if w.wrapper.isModule(t) {
			return // a short name for the exports
		}
		w.keep(w.variable(t).node, stored)
	case *js.DotExpr:
		w.assigned(t.X, member(t), stored)
	case *js.IndexExpr:
		if name, ok := constant(t.Y); ok {
			w.touches(name)
			w.assigned(t.X, name, stored)
			return
		}
		w.place(t.X)
		w.use(t.Y)
		w.current.leadTo(stored)
	default:
		w.use(e)
		w.current.leadTo(stored)
	}
}

// assigned walks the object whose member is assigned to.
func (w *walker) assigned(object js.IExpr, name string, stored *node) {
	v, _ := ungrouped(object).(*js.Var)
	switch {
	case v == nil:
		w.place(object)
		if w.isLoader(object) {
			return
		}
	case name == "prototype":
		w.keep(w.variable(v).node, stored)
		return
	case name == "exports" && w.wrapper.has(v):
		w.wrapper.exports.leadTo(stored)
		return
	case name == "default" && w.wrapper.has(v):
		w.wrapper.exports.leadTo(stored)
		return
	case resolved(v).Decl == js.NoDecl && (name == "exports" && string(v.Data) == "module" || string(v.Data) == "exports"):
		w.exported(name, stored)
		return
	case resolved(v).Decl == js.NoDecl && isBuiltIn(string(v.Data)):
		w.current.leadTo(stored)
	default:
		w.base(object)
	}
	w.under(name, w.owned(object, stored))
}

// isModule reports whether a variable is exports or module, of the source or of a module in a bundle.
func (x *wrapper) isModule(v *js.Var) bool {
	v = resolved(v)
	return x.has(v) ||
		v.Decl == js.NoDecl && (string(v.Data) == "exports" || string(v.Data) == "module")
}

// isLoader reports whether an expression is a table of hooks of Node's module loader, which guests do not have.
func (b *bindings) isLoader(e js.IExpr) bool {
	d, ok := ungrouped(e).(*js.DotExpr)
	if !ok || member(d) != "extensions" {
		return false
	}
	v, ok := ungrouped(d.X).(*js.Var)
	return ok && (string(v.Data) == "require" || b.variable(v).loader)
}

// owned returns what leads to a method that is stored in Class.prototype: an instance must exist too.
func (w *walker) owned(object js.IExpr, stored *node) *node {
	d, ok := ungrouped(object).(*js.DotExpr)
	if !ok || member(d) != "prototype" {
		return stored
	}
	v, ok := ungrouped(d.X).(*js.Var)
	switch {
	case !ok:
		return stored
	case resolved(v).Decl == js.NoDecl && isBuiltIn(string(v.Data)):
		return stored
	}
	called := &node{}
	and(called, w.variable(v).node).leadTo(stored)
	return called
}

// place walks the object that a member is written to.
func (w *walker) place(e js.IExpr) {
	if d, ok := ungrouped(e).(*js.DotExpr); ok && w.enter() {
		w.place(d.X)
		w.leave()
		return
	}
	w.base(e)
}

// under stores something under the name of a property.
func (w *walker) under(name string, stored *node) {
	if name == "constructor" {
		return // whatever has it is an instance
	}
	if called(name) || !isIdentifier(name) {
		w.current.leadTo(stored)
	}
	w.keep(w.graph.name(name), stored)
}

// keep lets a name lead to what is stored under it, once the current code has run.
func (w *walker) keep(name, stored *node) {
	if w.current != w.graph.root {
		name = and(name, w.current)
	}
	name.leadTo(stored)
}

// exported stores what a source exports: as a whole, or under a name.
func (w *walker) exported(name string, stored *node) {
	if w.file == "" {
		w.current.leadTo(stored) // the caller may call it
		return
	}
	if name == "exports" || name == "default" {
		for _, n := range w.graph.exports(w.file) {
			n.leadTo(stored)
		}
	}
	if name != "exports" && name != "default" {
		w.keep(w.graph.name(name), stored)
	}
}
