package flow

import (
	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
)

// extendable is the text of the prototype of a built-in class other than Object.
const extendable = "class"

// extends reports whether storing v, a function of the code itself, under a name gives the prototypes of built-in
// classes a new method.
func (base *value) extends(name string, v *value) bool {
	for b := base; b != nil; b = b.alt {
		if b.kind == kindPrototype && b.text != extendable {
			return false
		}
	}
	for f := v; f != nil; f = f.alt {
		if f.kind != kindFunction {
			return false
		}
	}
	return v != nil && catalogue.IsNewMethod(name)
}

// isPrototype reports whether v may be a prototype that others share.
func (v *value) isPrototype() bool {
	for ; v != nil; v = v.alt {
		if v.kind == kindPrototype {
			return true
		}
	}
	return false
}

// isOwnFunction reports whether an expression is a function of the code itself.
func isOwnFunction(e js.IExpr) bool {
	switch e := ungrouped(e).(type) {
	case *js.FuncDecl, *js.ArrowFunc:
		return true
	case *js.Var:
		return resolved(e).Decl == js.FunctionDecl
	}
	return false
}

// isMethod reports whether an expression is the descriptor of a method that the code itself declares.
func isMethod(e js.IExpr) bool {
	o, ok := ungrouped(e).(*js.ObjectExpr)
	if !ok {
		return false
	}
	found := false
	for _, p := range o.List {
		name, own := p.Name, isOwnFunction(p.Value)
		if m, ok := p.Value.(*js.MethodDecl); ok {
			name, own = &m.Name.PropertyName, !m.Get && !m.Set
		}
		if p.Spread || name == nil || name.Computed != nil {
			return false
		}
		switch string(name.Literal.Data) {
		case "value":
			if !own {
				return false
			}
			found = true
		case "configurable", "enumerable", "writable":
		default:
			return false
		}
	}
	return found
}
