package flow

import (
	"github.com/tdewolff/parse/v2/js"
)

func isAssignment(op js.TokenType) bool {
	switch op {
	case js.MulEqToken, js.DivEqToken, js.ModEqToken, js.ExpEqToken, js.AddEqToken, js.SubEqToken, js.LtLtEqToken,
		js.GtGtEqToken, js.GtGtGtEqToken, js.BitAndEqToken, js.BitXorEqToken, js.BitOrEqToken, js.AndEqToken, js.OrEqToken,
		js.NullishEqToken:
		return true
	}
	return false
}

// update walks x op= y.
func (ex *expressions) update(e *js.BinaryExpr) *value {
	old := ex.target(e.X, false)
	v := ex.expr(e.Y)
	switch e.Op {
	case js.AddEqToken:
		v = ex.values.concat(old, v)
	case js.AndEqToken, js.OrEqToken, js.NullishEqToken:
		v = ex.values.either(old, v)
	default:
		v = nil
	}
	if target, ok := e.X.(*js.Var); ok {
		ex.program.assign(target, v)
		if e.Op == js.AddEqToken {
			ex.program.variable(target).joined = true
		}
		ex.host.origin(target, e.Y)
	}
	return v
}

// assignment walks x = y.
func (ex *expressions) assignment(e *js.BinaryExpr) *value {
	switch target := e.X.(type) {
	case *js.Var:
		ex.cursor.passName(target)
		v := ex.expr(e.Y)
		ex.program.assign(target, v)
		ex.host.origin(target, e.Y)
		return v
	case *js.DotExpr, *js.IndexExpr:
		return ex.store(target, e.Y)
	}
	pattern := ex.expr(e.X)
	v := ex.expr(e.Y)
	ex.spread(e.X, v)
	if v == nil {
		return pattern
	}
	return v
}

// spread assigns the parts of v to the variables of an assignment pattern, which was walked before.
func (ex *expressions) spread(target js.IExpr, v *value) {
	if v == nil || !ex.guard.enter() {
		return
	}
	defer ex.guard.leave()
	switch t := target.(type) {
	case *js.Var:
		ex.program.assign(t, v)
	case *js.GroupExpr:
		ex.spread(t.X, v)
	case *js.BinaryExpr:
		if t.Op == js.EqToken {
			ex.spread(t.X, v)
		}
	case *js.ObjectExpr:
		for _, p := range t.List {
			switch {
			case p.Spread:
				ex.spread(p.Value, v)
			case p.Name != nil && p.Name.Computed == nil:
				ex.spread(p.Value, ex.host.member(v, ex.cursor.propertyText(p.Name.Literal), ex.cursor.at, true))
			}
		}
	case *js.ArrayExpr:
		for i, el := range t.List {
			if el.Value != nil {
				ex.spread(el.Value, ex.values.elementOf(v, i))
			}
		}
	}
}

// origin records what kind of expression a variable is set to.
func (h *host) origin(v *js.Var, e js.IExpr) {
	if h.joins(e) {
		h.program.variable(v).joined = true
	}
	if h.isGiven(e) {
		h.program.gives(v)
	}
}

// givesParts records that the variables of a pattern are set to what the caller passes in.
func (w *walker) givesParts(b js.IBinding) {
	if b == nil || !w.guard.enter() {
		return
	}
	defer w.guard.leave()
	switch b := b.(type) {
	case *js.Var:
		w.program.gives(b)
	case *js.BindingObject:
		for _, item := range b.List {
			w.givesParts(item.Value.Binding)
		}
	case *js.BindingArray:
		for _, item := range b.List {
			w.givesParts(item.Binding)
		}
	}
}

// given returns a bit for each argument that is what the caller passes in.
func (h *host) given(list []js.Arg) uint64 {
	bits := uint64(0)
	for i, a := range list[:min(len(list), 64)] {
		if h.isGiven(a.Value) {
			bits |= 1 << i
		}
	}
	return bits
}

// joinsLast reports whether the code puts the last of some arguments together.
func (h *host) joinsLast(list []js.Arg) bool {
	return len(list) > 0 && h.joins(list[len(list)-1].Value)
}

// joins reports whether an expression puts a text together: a sum or a template with parts that are no literals,
// list.join(…), or a variable that is set to such a text.
func (h *host) joins(e js.IExpr) bool {
	for h.budget.Take(1) {
		switch x := ungrouped(e).(type) {
		case *js.Var:
			info := h.program.vars[resolved(x)]
			return info != nil && info.joined
		case *js.BinaryExpr:
			if x.Op != js.AddToken {
				return false
			}
			if !isLiteral(x.Y) {
				return true
			}
			if e = x.X; isLiteral(e) {
				return false
			}
			if b, ok := ungrouped(e).(*js.BinaryExpr); !ok || b.Op != js.AddToken {
				return true
			}
		case *js.TemplateExpr:
			return x.Tag == nil && len(x.List) > 0
		case *js.CallExpr:
			d, ok := ungrouped(x.X).(*js.DotExpr)
			if !ok {
				return false
			}
			name, ok := d.Y.(js.LiteralExpr)
			return ok && string(name.Data) == "join"
		default:
			return false
		}
	}
	return false
}

// handlerOf returns f(x) of a condition such as isFunction(x) ? x : f(x), which makes a function of what is none.
func handlerOf(e *js.CondExpr) *js.CallExpr {
	v, isVar := ungrouped(e.X).(*js.Var)
	made, isCall := ungrouped(e.Y).(*js.CallExpr)
	if !isVar || !isCall || len(made.Args.List) != 1 || !mentions(e.Cond, v) {
		return nil
	}
	if x, ok := made.Args.List[0].Value.(*js.Var); !ok || resolved(x) != resolved(v) {
		return nil
	}
	return made
}

// mentions reports whether a condition is a call with a variable, or compares its type.
func mentions(cond js.IExpr, v *js.Var) bool {
	switch c := ungrouped(cond).(type) {
	case *js.CallExpr:
		return len(c.Args.List) == 1 && isVar(c.Args.List[0].Value, v)
	case *js.BinaryExpr:
		u, ok := ungrouped(c.X).(*js.UnaryExpr)
		return ok && u.Op == js.TypeofToken && isVar(u.X, v)
	}
	return false
}

// isLiteral reports whether an expression is a literal.
func isLiteral(e js.IExpr) bool {
	_, ok := ungrouped(e).(*js.LiteralExpr)
	return ok
}
