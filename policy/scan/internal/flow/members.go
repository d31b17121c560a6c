package flow

import "github.com/tdewolff/parse/v2/js"

// dot walks x.name and x?.name.
func (ex *expressions) dot(e *js.DotExpr) *value {
	base, key, at := ex.dotted(e)
	return ex.host.member(base, key, at, true)
}

func (ex *expressions) dotted(e *js.DotExpr) (base *value, key string, at int) {
	if l, ok := e.Y.(js.LiteralExpr); ok && ex.harmless(string(l.Data)) {
		ex.scope.fallback++
		defer func() { ex.scope.fallback-- }()
	}
	base, at = ex.setting(e.X), ex.cursor.at
	switch y := e.Y.(type) {
	case js.LiteralExpr:
		off := ex.cursor.pass(y.Data)
		if _, simple := e.X.(*js.Var); !simple {
			at = off
		}
		key = ex.cursor.propertyText(y)
	case *js.Var: // a private name
		ex.cursor.passName(y)
		key = ex.cursor.source(y.Data)
	}
	ex.cursor.at = at
	return base, key, at
}

// harmless reports whether a member of the global object is a class of the language.
func (ex *expressions) harmless(name string) bool {
	s := ex.cat.Globals[name]
	return s != nil && s.Class && s.Category == ""
}

// index walks x[y] and x?.[y].
func (ex *expressions) index(e *js.IndexExpr) *value {
	base, key, at := ex.indexed(e)
	return ex.host.computed(base, key, at)
}

func (ex *expressions) indexed(e *js.IndexExpr) (base, key *value, at int) {
	base, at = ex.setting(e.X), ex.cursor.at
	key = ex.loud(e.Y)
	ex.cursor.at = at
	return base, key, at
}

// setting walks the object that a member is read from. One variable of the environment is not the whole of it.
func (ex *expressions) setting(e js.IExpr) *value {
	before := len(ex.findings.hits)
	v := ex.operand(e)
	if _, ok := e.(*js.DotExpr); ok && v.isEnvironment() && len(ex.findings.hits) == before+1 {
		ex.findings.hits[before].Vain = true
	}
	return v
}

// isEnvironment reports whether v is the environment of the process and nothing else.
func (v *value) isEnvironment() bool {
	return v != nil && v.alt == nil && v.kind == kindSymbol && v.sym.Name == "process.env"
}

// operand walks the object that a member is read from.
func (ex *expressions) operand(e js.IExpr) *value {
	if d, ok := e.(*js.DotExpr); ok && ex.scope.quiet {
		return ex.expr(d) // process.env of process.env.NAME, which is only tested
	}
	return ex.loud(e)
}

// store walks target = y for a member: x.name or x[key].
func (ex *expressions) store(target js.IExpr, y js.IExpr) *value {
	var base *value
	key, known, foreign := "", false, false
	switch t := target.(type) {
	case *js.DotExpr:
		base, foreign = ex.operand(t.X), isForeign(t.X)
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
		base, foreign = ex.operand(t.X), isForeign(t.X)
		at := ex.cursor.at
		key, known = ex.values.textOf(ex.loud(t.Y))
		ex.cursor.at = at
	}
	at := ex.cursor.at
	hits := len(ex.findings.hits)
	ex.host.changes(base, at)
	for b := base; b != nil; b = b.alt {
		if b.kind == kindSymbol && known && (b.sym.Member(key) != nil || key == "prototype") {
			ex.host.member(b, key, at, true)
		}
	}
	v := ex.expr(y)
	if base.isPrototype() {
		adds := known && isOwnFunction(y) && (base.extends(key, v) || ex.host.fills(target, key, base, v))
		if !adds {
			ex.program.change(key)
		}
		ex.findings.extends(at, hits, adds || base.isLost())
	}
	if known && key == "__proto__" {
		ex.host.facts.Flags.HasProtoAccess = true
		if foreign || base.shared() {
			ex.host.reaches(at)
		}
	}
	if known {
		ex.program.keep(base, key, v)
		ex.program.exports(target, key, v)
	}
	ex.cursor.at = at
	return v
}

// shared reports whether v may be a prototype, or anything else that the code did not make.
func (v *value) shared() bool {
	for ; v != nil; v = v.alt {
		if v.kind == kindPrototype || v.kind == kindGlobal || v.kind == kindSymbol {
			return true
		}
	}
	return false
}

// target walks an expression that is also written to or deleted: x += 1, x++, delete x. A deletion of a member whose
// name is not known brings nothing into a prototype.
func (ex *expressions) target(e js.IExpr, deletes bool) *value {
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
		if base.isPrototype() {
			ex.program.change(key)
		}
		return ex.host.member(base, key, at, true)
	case *js.IndexExpr:
		if !ex.guard.enter() {
			return nil
		}
		defer ex.guard.leave()
		base, key, at := ex.indexed(t)
		hits := len(ex.findings.hits)
		ex.host.changes(base, at)
		if base.isPrototype() {
			name, known := ex.values.textOf(key)
			ex.program.change(name)
			ex.findings.extends(at, hits, base.isLost() || deletes && !known && !ex.host.holdsOutside(t.Y, maxOutsideDepth))
		}
		return ex.host.computed(base, key, at)
	}
	return ex.expr(e)
}
