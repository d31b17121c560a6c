package scan

import (
	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/threat"
)

// store walks target = y for a member: x.name or x[key].
func (w *scanner) store(target js.IExpr, y js.IExpr) *value {
	var base *value
	key, known := "", false
	switch t := target.(type) {
	case *js.DotExpr:
		base = w.operand(t.X)
		if name, ok := t.Y.(js.LiteralExpr); ok {
			key, known = w.propertyText(name), true
			off := w.pass(name.Data)
			if _, simple := t.X.(*js.Var); !simple {
				w.at = off
			}
		} else if private, ok := t.Y.(*js.Var); ok {
			w.passName(private)
			key, known = w.source(private.Data), true
		}
	case *js.IndexExpr:
		base = w.operand(t.X)
		at := w.at
		key, known = w.textOf(w.loud(t.Y))
		w.at = at
	}
	at := w.at
	w.changes(base, at)
	for b := base; b != nil; b = b.alt {
		if b.kind == kindSymbol && known && (b.sym.member(key) != nil || key == "prototype") {
			w.member(b, key, at, true)
		}
	}
	if known && key == "__proto__" {
		w.member(base, key, at, true)
	}
	v := w.expr(y)
	if known {
		w.keep(base, key, v)
	}
	w.at = at
	return v
}

// changes reports a write to a member of a prototype that others share.
func (w *scanner) changes(base *value, at int) {
	for b := base; b != nil; b = b.alt {
		if b.kind == kindPrototype && b.text == "" {
			w.hit(threat.PrototypePollution, neverGranted, "", at, "a prototype that others share is changed")
		}
	}
}

// target walks an expression that is also written to, or deleted: x += 1, x++, delete x.
func (w *scanner) target(e js.IExpr) *value {
	for {
		g, ok := e.(*js.GroupExpr)
		if !ok {
			break
		}
		e = g.X
	}
	switch t := e.(type) {
	case *js.DotExpr:
		if !w.visit() {
			return nil
		}
		defer w.leave()
		base, key, at := w.dotted(t)
		w.changes(base, at)
		return w.member(base, key, at, true)
	case *js.IndexExpr:
		if !w.visit() {
			return nil
		}
		defer w.leave()
		base, key, at := w.indexed(t)
		w.changes(base, at)
		return w.computed(base, key, at)
	}
	return w.expr(e)
}

// keep notes what a member was given.
func (w *scanner) keep(base *value, key string, v *value) {
	if v == nil {
		return
	}
	for b := base; b != nil; b = b.alt {
		if b.kind == kindObject {
			w.set(b.obj, key, v)
		}
	}
	if v.dangerous() && !w.props[key].holds(v) {
		w.props[key] = w.either(v, w.props[key])
		w.again = true
	}
}

// set gives an object a member, beside what the member may hold already.
func (w *scanner) set(o *object, key string, v *value) {
	if o.props == nil {
		o.props = map[string]*value{}
	}
	o.props[key] = w.either(v, o.props[key])
}
