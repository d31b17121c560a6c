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
	old := ex.target(e.X)
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
