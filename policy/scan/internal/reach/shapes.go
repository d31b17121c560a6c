package reach

import (
	"slices"

	"github.com/tdewolff/parse/v2/js"
)

// Minifiers rename the helpers of compilers. The functions below recognize helpers by their code.

// isInterop reports whether a function is esbuild's __toESM, under whatever name: it copies the members of a module
// into an object, and sets the object's "default" to the module.
func isInterop(e js.IExpr) bool {
	f, ok := ungrouped(e).(*js.ArrowFunc)
	if !ok || len(f.Params.List) != 3 || len(f.Body.List) != 1 {
		return false
	}
	module, ok := f.Params.List[0].Binding.(*js.Var)
	r, isReturn := f.Body.List[0].(*js.ReturnStmt)
	if !ok || !isReturn {
		return false
	}
	list, ok := ungrouped(r.Value).(*js.CommaExpr)
	if !ok || len(list.List) != 2 {
		return false
	}
	copied, ok := ungrouped(list.List[1]).(*js.CallExpr)
	if !ok || len(copied.Args.List) != 2 || !isVar(copied.Args.List[1].Value, module) || isVar(copied.X, module) {
		return false
	}
	target, ok := ungrouped(copied.Args.List[0].Value).(*js.CondExpr)
	if !ok {
		return false
	}
	set, ok := ungrouped(target.X).(*js.CallExpr)
	if !ok || len(set.Args.List) != 3 || isVar(set.X, module) {
		return false
	}
	name, ok := constant(set.Args.List[1].Value)
	return ok && name == "default"
}

// isVar reports whether an expression is a variable.
func isVar(e js.IExpr, v *js.Var) bool {
	x, ok := ungrouped(e).(*js.Var)
	return ok && resolved(x) == resolved(v)
}

// isRequire reports whether an expression is esbuild's __require, under whatever name: a function that returns require
// if there is one, called at once.
func isRequire(e js.IExpr) bool {
	call, ok := ungrouped(e).(*js.CallExpr)
	if !ok {
		return false
	}
	f, ok := ungrouped(call.X).(*js.ArrowFunc)
	if !ok || len(f.Params.List) != 1 || len(f.Body.List) != 1 {
		return false
	}
	r, ok := f.Body.List[0].(*js.ReturnStmt)
	if !ok {
		return false
	}
	c, ok := ungrouped(r.Value).(*js.CondExpr)
	if !ok {
		return false
	}
	test, ok := ungrouped(c.Cond).(*js.BinaryExpr)
	if !ok {
		return false
	}
	kind, ok := ungrouped(test.X).(*js.UnaryExpr)
	return ok && kind.Op == js.TypeofToken && isFree(kind.X, "require") && isFree(c.X, "require")
}

// isInherits reports whether a function is one of Babel's helpers for classes, _inheritsLoose or _createClass, under
// whatever name. They set up the class that is their first argument, and call none of their arguments.
func isInherits(params js.Params, body []js.IStmt) bool {
	var names []*js.Var
	for _, p := range params.List {
		v, ok := p.Binding.(*js.Var)
		if !ok {
			return false
		}
		names = append(names, v)
	}
	list := expressions(body)
	if len(names) < 2 || len(names) > 3 || params.Rest != nil || len(list) < 2 {
		return false
	}
	setsUp := false
	for _, e := range list {
		e = ungrouped(e)
		if test, ok := e.(*js.BinaryExpr); ok && test.Op == js.AndToken {
			e = ungrouped(test.Y)
		}
		switch e := e.(type) {
		case *js.Var:
		case *js.BinaryExpr:
			made, ok := ungrouped(e.Y).(*js.CallExpr)
			ok = ok && isMemberOf(made.X, "Object", "create") && len(made.Args.List) == 1
			if e.Op != js.EqToken || !ok && !isAny(e.Y, names) {
				return false
			}
			setsUp = setsUp || ok && isPrototype(e.X, names[0]) && isPrototype(made.Args.List[0].Value, names[1])
		case *js.CallExpr:
			if isAny(e.X, names) || len(e.Args.List) < 2 {
				return false
			}
			name, ok := constant(e.Args.List[1].Value)
			setsUp = setsUp || ok && name == "prototype" && isMemberOf(e.X, "Object", "defineProperty") &&
				isVar(e.Args.List[0].Value, names[0])
		default:
			return false
		}
	}
	return setsUp
}

// expressions returns the expressions of a function that has nothing else, in order; nil for any other.
func expressions(body []js.IStmt) []js.IExpr {
	var out []js.IExpr
	for _, s := range body {
		var e js.IExpr
		switch s := s.(type) {
		case *js.ExprStmt:
			e = s.Value
		case *js.ReturnStmt:
			e = s.Value
		}
		if e == nil {
			return nil
		}
		if comma, ok := ungrouped(e).(*js.CommaExpr); ok {
			out = append(out, comma.List...)
		} else {
			out = append(out, e)
		}
	}
	return out
}

// isAny reports whether an expression is one of several variables.
func isAny(e js.IExpr, of []*js.Var) bool {
	return slices.ContainsFunc(of, func(v *js.Var) bool { return isVar(e, v) })
}

// isMemberOf reports whether an expression is a member of a global that the code does not declare.
func isMemberOf(e js.IExpr, object, name string) bool {
	d, ok := ungrouped(e).(*js.DotExpr)
	return ok && member(d) == name && isFree(d.X, object)
}

// isPrototype reports whether an expression is the prototype of a variable.
func isPrototype(e js.IExpr, of *js.Var) bool {
	d, ok := ungrouped(e).(*js.DotExpr)
	return ok && member(d) == "prototype" && isVar(d.X, of)
}

// isFree reports whether an expression is a name that the code does not declare.
func isFree(e js.IExpr, name string) bool {
	v, ok := ungrouped(e).(*js.Var)
	return ok && resolved(v).Decl == js.NoDecl && string(v.Data) == name
}
