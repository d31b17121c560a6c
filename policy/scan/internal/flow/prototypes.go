package flow

import (
	"slices"

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

// fills reports whether storing v, a function of the code itself, gives the prototypes of built-in classes a method
// that the code around found missing. A method that the code itself changed is not missing.
func (h *host) fills(target js.IExpr, key string, base, v *value) bool {
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
	if v == nil || !slices.Contains(h.scope.missing, pathOf(target)) {
		return false
	}
	h.program.fills = true
	return !h.program.changed[key] && !h.program.changed[anyMember]
}

// anyMember stands for the members whose names are not known.
const anyMember = ""

// change records that the code changes a member of a prototype that others share.
func (p *program) change(key string) {
	if p.changed == nil {
		p.changed = map[string]bool{}
	}
	p.again = p.again || !p.changed[key] && p.fills
	p.changed[key] = true
}

// misses notes that what follows runs only if a member is missing. It returns how many were noted before.
func (s *scope) misses(member js.IExpr) int {
	before := len(s.missing)
	if path := pathOf(member); path != "" && before < maxMissing {
		s.missing = append(s.missing, path)
	}
	return before
}

// missesNot notes the same if a condition is that there is no such member.
func (s *scope) missesNot(cond js.IExpr) int {
	if u, ok := ungrouped(cond).(*js.UnaryExpr); ok && u.Op == js.NotToken {
		return s.misses(u.X)
	}
	return len(s.missing)
}

// maxMissing bounds the members that are noted at once.
const maxMissing = 8

// pathOf returns the text of a member of a prototype, such as Array.prototype.at, or "".
func pathOf(e js.IExpr) string {
	d, ok := ungrouped(e).(*js.DotExpr)
	if !ok {
		return ""
	}
	p, ok := d.X.(*js.DotExpr)
	if !ok {
		return ""
	}
	class, ok := p.X.(*js.Var)
	if !ok || resolved(class).Decl != js.NoDecl {
		return ""
	}
	name, ok := d.Y.(js.LiteralExpr)
	prototype, named := p.Y.(js.LiteralExpr)
	if !ok || !named || string(prototype.Data) != "prototype" {
		return ""
	}
	return string(class.Data) + "." + string(name.Data)
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

// isLost reports whether v may be so many values, of which one is a prototype, that what the code writes to is not
// known.
func (v *value) isLost() bool {
	all, prototypes := 0, 0
	for ; v != nil; v = v.alt {
		all++
		if v.kind == kindPrototype {
			prototypes++
		}
	}
	return all == maxAlternatives && prototypes == 1
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
