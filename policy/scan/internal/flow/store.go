package flow

import (
	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/threat"
)

// store walks target = y for a member: x.name or x[key].
func (ex *expressions) store(target js.IExpr, y js.IExpr) *value {
	var base *value
	key, known := "", false
	switch t := target.(type) {
	case *js.DotExpr:
		base = ex.operand(t.X)
		if name, ok := t.Y.(js.LiteralExpr); ok {
			key, known = ex.cursor.propertyText(name), true
			off := ex.cursor.pass(name.Data)
			if _, simple := t.X.(*js.Var); !simple {
				ex.cursor.at = off
			}
		} else if private, ok := t.Y.(*js.Var); ok {
			ex.cursor.passName(private)
			key, known = ex.cursor.source(private.Data), true
		}
	case *js.IndexExpr:
		base = ex.operand(t.X)
		at := ex.cursor.at
		key, known = ex.values.textOf(ex.loud(t.Y))
		ex.cursor.at = at
	}
	at := ex.cursor.at
	ex.host.changes(base, at)
	for b := base; b != nil; b = b.alt {
		if b.kind == kindSymbol && known && (b.sym.Member(key) != nil || key == "prototype") {
			ex.host.member(b, key, at, true)
		}
	}
	if known && key == "__proto__" {
		ex.host.member(base, key, at, true)
	}
	v := ex.expr(y)
	if known {
		ex.program.keep(base, key, v)
	}
	ex.cursor.at = at
	return v
}

// changes reports a write to a member of a prototype that others share.
func (h *host) changes(base *value, at int) {
	for b := base; b != nil; b = b.alt {
		if b.kind == kindPrototype && b.text == "" {
			h.findings.add(threat.PrototypePollution, catalogue.NeverGranted, "", at, "a prototype that others share is changed")
		}
	}
}

// target walks an expression that is also written to, or deleted: x += 1, x++, delete x.
func (ex *expressions) target(e js.IExpr) *value {
	for {
		g, ok := e.(*js.GroupExpr)
		if !ok {
			break
		}
		e = g.X
	}
	switch t := e.(type) {
	case *js.DotExpr:
		if !ex.guard.enter() {
			return nil
		}
		defer ex.guard.leave()
		base, key, at := ex.dotted(t)
		ex.host.changes(base, at)
		return ex.host.member(base, key, at, true)
	case *js.IndexExpr:
		if !ex.guard.enter() {
			return nil
		}
		defer ex.guard.leave()
		base, key, at := ex.indexed(t)
		ex.host.changes(base, at)
		return ex.host.computed(base, key, at)
	}
	return ex.expr(e)
}

// keep notes what a member was given.
func (p *program) keep(base *value, key string, v *value) {
	if v == nil {
		return
	}
	for b := base; b != nil; b = b.alt {
		if b.kind == kindObject {
			p.values.set(b.obj, key, v)
		}
	}
	if v.dangerous() && !p.props[key].holds(v) {
		p.props[key] = p.values.either(v, p.props[key])
		p.again = true
	}
}

// set gives an object a member, beside what the member may hold already.
func (vs *values) set(o *object, key string, v *value) {
	if o.props == nil {
		o.props = map[string]*value{}
	}
	o.props[key] = vs.either(v, o.props[key])
}
