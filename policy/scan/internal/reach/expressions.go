package reach

import (
	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/cost"
)

// run walks an expression whose value is dropped.
func (w *walker) run(e js.IExpr) {
	if e == nil || !w.enter() {
		return
	}
	defer w.leave()
	switch e := ungrouped(e).(type) {
	case *js.BinaryExpr:
		switch e.Op {
		case js.EqToken:
			w.assign(e, nil)
			return
		case js.AndToken:
			w.use(e.X)
			w.branch(w.holds(e.X, true), e, false, func() { w.run(e.Y) })
			return
		case js.OrToken:
			w.use(e.X)
			w.branch(w.holds(e.X, false), e, true, func() { w.run(e.Y) })
			return
		case js.NullishToken:
			w.use(e.X)
			w.run(e.Y)
			return
		}
	case *js.CondExpr:
		w.use(e.Cond)
		w.branch(w.holds(e.Cond, true), e, false, func() { w.run(e.X) })
		w.branch(w.holds(e.Cond, false), e, true, func() { w.run(e.Y) })
		return
	case *js.CommaExpr:
		for _, x := range e.List {
			w.run(x)
		}
		return
	case *js.UnaryExpr:
		if e.Op == js.NotToken || e.Op == js.VoidToken {
			w.run(e.X)
			return
		}
	}
	w.use(e)
}

// use walks an expression whose value may go anywhere.
func (w *walker) use(e js.IExpr) {
	if e == nil || !w.enter() {
		return
	}
	defer w.leave()
	switch e := e.(type) {
	case *js.Var:
		x := w.variable(e)
		x.used = true
		w.current.leadTo(x.node)
		w.current.leadTo(x.returned)
	case *js.GroupExpr:
		w.use(e.X)
	case *js.DotExpr:
		w.read(e, w.current)
	case *js.IndexExpr:
		w.use(e.X)
		if name, ok := constant(e.Y); ok {
			w.touches(name)
			w.current.leadTo(w.graph.name(name))
			return
		}
		w.all(e.X)
		w.use(e.Y)
	case *js.CallExpr:
		w.call(e, nil)
	case *js.NewExpr:
		w.construct(e)
	case *js.UnaryExpr:
		if v, ok := ungrouped(e.X).(*js.Var); ok && e.Op == js.TypeofToken {
			w.variable(v).used = true
			return
		}
		switch e.Op {
		case js.PreIncrToken, js.PreDecrToken, js.PostIncrToken, js.PostDecrToken, js.DeleteToken:
			w.changes(e.X)
		}
		w.use(e.X)
	case *js.BinaryExpr:
		w.binary(e)
	case *js.CondExpr:
		w.value(e, w.current)
	case *js.CommaExpr:
		w.value(e, w.current)
	case *js.ArrayExpr:
		for _, el := range e.List {
			w.use(el.Value)
		}
	case *js.TemplateExpr:
		w.use(e.Tag)
		for _, p := range e.List {
			w.use(p.Expr)
		}
	case *js.YieldExpr:
		w.use(e.X)
	case *js.VarDecl:
		w.declare(e)
	default:
		w.value(e, w.current)
	}
}

// all makes everything that an object literal holds live, if the expression is a variable that stands for one.
func (w *walker) all(e js.IExpr) {
	if v, ok := ungrouped(e).(*js.Var); ok {
		w.current.leadTo(w.variable(v).members)
	}
}

// binary walks an operator. A long chain leans to the left, and a loop walks it.
func (w *walker) binary(e *js.BinaryExpr) {
	for {
		switch e.Op {
		case js.EqToken:
			w.assign(e, w.current)
			return
		case js.OrToken, js.NullishToken:
			if present(e.X) {
				w.value(e, w.current)
				return
			}
		}
		w.right(e)
		left, ok := e.X.(*js.BinaryExpr)
		if !ok || !w.budget.Take(cost.NodeWork) {
			w.use(e.X)
			return
		}
		e = left
	}
}

// right walks the right side of an operator, and records what an operator such as += changes.
func (w *walker) right(e *js.BinaryExpr) {
	switch e.Op {
	case js.AndToken:
		w.branch(w.holds(e.X, true), e, false, func() { w.use(e.Y) })
	case js.OrToken:
		w.branch(w.holds(e.X, false), e, true, func() { w.use(e.Y) })
	default:
		if isUpdate(e.Op) {
			w.changes(e.X)
		}
		w.use(e.Y)
	}
}

// isUpdate reports whether an operator changes its left side.
func isUpdate(op js.TokenType) bool {
	switch op {
	case js.MulEqToken, js.DivEqToken, js.ModEqToken, js.ExpEqToken, js.AddEqToken, js.SubEqToken, js.LtLtEqToken,
		js.GtGtEqToken, js.GtGtGtEqToken, js.BitAndEqToken, js.BitXorEqToken, js.BitOrEqToken, js.AndEqToken, js.OrEqToken,
		js.NullishEqToken:
		return true
	}
	return false
}

// construct walks the making of an object. The host calls the methods of a Proxy's handler.
func (w *walker) construct(e *js.NewExpr) {
	v, ok := ungrouped(e.X).(*js.Var)
	if !ok || string(v.Data) != "Proxy" || e.Args == nil || len(e.Args.List) != 2 {
		w.use(e.X)
		if e.Args != nil {
			w.args(e.Args.List)
		}
		return
	}
	w.use(e.Args.List[0].Value)
	handler := e.Args.List[1].Value
	if o, ok := ungrouped(handler).(*js.ObjectExpr); ok {
		for _, p := range o.List {
			w.property(p, w.current)
		}
		return
	}
	for _, trap := range proxyTraps() {
		w.current.leadTo(w.graph.name(trap))
	}
	w.use(handler)
}

// base walks the object that a member is read from or written to. That reads a variable, but runs nothing of it.
func (w *walker) base(e js.IExpr) {
	if v, ok := ungrouped(e).(*js.Var); ok {
		x := w.variable(v)
		x.used = true
		w.current.leadTo(x.returned)
		return
	}
	w.run(e)
}

// read walks a member whose value goes into a node.
func (w *walker) read(e *js.DotExpr, into *node) {
	name := member(e)
	v, ok := ungrouped(e.X).(*js.Var)
	switch {
	case ok && resolved(v).Decl == js.NoDecl && isBuiltIn(string(v.Data)):
		for _, method := range implied(name) {
			w.current.leadTo(w.graph.name(method))
		}
		return // what replaces it is live
	case ok && (name == "prototype" || name == "default"):
		w.value(v, into)
		if name == "default" {
			return // of a module, as a whole
		}
	default:
		w.base(e.X)
	}
	into.leadTo(w.graph.name(name))
}

// member returns the name of a member.
func member(e *js.DotExpr) string {
	switch y := e.Y.(type) {
	case js.LiteralExpr:
		return text(&y)
	case *js.LiteralExpr:
		return text(y)
	case *js.Var:
		return plain(y.Data)
	}
	return ""
}

// call walks a call. What it returns goes into a node, unless that is nil.
func (w *walker) call(e *js.CallExpr, into *node) {
	switch callee := ungrouped(e.X).(type) {
	case *js.Var:
		x := w.variable(callee)
		x.used = true
		w.current.leadTo(x.node)
		if into == nil {
			into = w.current
		}
		into.leadTo(x.returned)
		if specifier, ok := required(e); ok {
			into.leadTo(w.graph.module(w.file, specifier))
		}
	case *js.DotExpr:
		name := member(callee)
		if v, ok := ungrouped(callee.X).(*js.Var); ok && (name == "call" || name == "apply" || name == "bind") {
			w.use(v)
			w.current.leadTo(w.graph.name(name))
		} else {
			w.read(callee, w.current)
		}
		if v, ok := ungrouped(callee.X).(*js.Var); ok && string(v.Data) == "Object" && len(e.Args.List) > 0 {
			w.all(e.Args.List[0].Value)
		}
	case *js.FuncDecl:
		w.immediate(e, callee.Params)
		return
	case *js.ArrowFunc:
		w.immediate(e, callee.Params)
		return
	default:
		w.use(e.X)
	}
	if w.inherits(e) {
		return
	}
	if name, ok := defines(e); ok {
		w.sets(name, nil)
		w.touches(name)
		w.use(e.Args.List[0].Value)
		for _, p := range ungrouped(e.Args.List[2].Value).(*js.ObjectExpr).List {
			w.property(p, w.graph.name(name))
		}
		return
	}
	w.args(e.Args.List)
}

// immediate walks the call of a function where it stands. Its parameters are the arguments.
func (w *walker) immediate(e *js.CallExpr, params js.Params) {
	w.use(e.X)
	for i, a := range e.Args.List {
		if i < len(params.List) && !a.Rest {
			if v, ok := params.List[i].Binding.(*js.Var); ok {
				w.value(a.Value, w.variable(v).node)
				continue
			}
		}
		w.use(a.Value)
	}
}

func (w *walker) args(list []js.Arg) {
	for _, a := range list {
		w.use(a.Value)
	}
}

// defines returns the name that a call such as Object.defineProperty(x, "name", {get() {…}}) defines.
func defines(e *js.CallExpr) (string, bool) {
	if len(e.Args.List) != 3 {
		return "", false
	}
	name, ok := constant(e.Args.List[1].Value)
	o, isObject := ungrouped(e.Args.List[2].Value).(*js.ObjectExpr)
	if !ok || !isObject || !isIdentifier(name) || called(name) {
		return "", false
	}
	for _, p := range o.List {
		key := ""
		switch m, isMethod := p.Value.(*js.MethodDecl); {
		case isMethod && m.Name.Computed == nil && m.Name.Private == nil:
			key = text(&m.Name.Literal)
		case p.Name != nil && p.Name.Computed == nil:
			key = text(&p.Name.Literal)
		}
		switch key {
		case "get", "set", "value", "enumerable", "configurable", "writable":
		default:
			return "", false
		}
	}
	return name, true
}

// inherits walks the arguments of the helpers that compilers make for classes, such as helper(Class, Base), and reports
// whether the call is one. What they give to a class runs if the class does.
func (w *walker) inherits(e *js.CallExpr) bool {
	callee, ok := ungrouped(e.X).(*js.Var)
	if !ok || len(e.Args.List) < 2 {
		return false
	}
	switch string(callee.Data) {
	case "__extends", "_inherits", "_inheritsLoose", "inherits", "_createClass", "_defineProperties":
	default:
		if !w.variable(callee).inherits {
			return false
		}
	}
	class, ok := ungrouped(e.Args.List[0].Value).(*js.Var)
	if !ok {
		return false
	}
	x := w.variable(class)
	x.used = true
	running := w.current
	w.current = and(running, x.node)
	w.args(e.Args.List[1:])
	w.current = running
	return true
}
