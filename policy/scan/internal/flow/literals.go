package flow

import (
	"slices"

	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/scan/internal/lexer"
	"github.com/airlock-run/airlock/policy/threat"
)

func (ex *expressions) array(e *js.ArrayExpr) *value {
	out := &object{}
	start := ex.cursor.offset
	for _, el := range e.List {
		v := ex.kept(el.Value)
		if el.Spread {
			if v != nil && v.kind == kindArray && len(out.elems)+len(v.obj.elems) <= maxElements &&
				ex.budget.Take(len(v.obj.elems)) {
				out.elems = append(out.elems, v.obj.elems...)
				continue
			}
			if text, ok := ex.values.textOf(v); ok && len(text) <= maxElements {
				out.elems = append(out.elems, ex.values.characters(v, text)...)
				continue
			}
			v = nil
		}
		if len(out.elems) < maxElements {
			out.elems = append(out.elems, v)
		}
	}
	ex.cursor.at = start
	return &value{kind: kindArray, obj: out}
}

// object walks an object literal. Its methods have it as their this.
func (ex *expressions) object(e *js.ObjectExpr) *value {
	out := &value{kind: kindObject, obj: &object{}}
	// Methods can use one another in any order.
	for _, p := range e.List {
		if m, ok := p.Value.(*js.MethodDecl); ok && m.Name.Computed == nil && !m.Get && !m.Set {
			ex.values.set(out.obj, ex.cursor.propertyText(m.Name.Literal),
				&value{kind: kindFunction, fn: ex.program.function(m, m.Params, false)})
		}
	}
	for _, p := range e.List {
		if p.Spread {
			out.obj.rest = ex.values.either(ex.expr(p.Value), out.obj.rest)
			continue
		}
		if m, ok := p.Value.(*js.MethodDecl); ok {
			ex.give(out, m, ex.method(m, out))
			continue
		}
		key, known := "", false
		shorthand := false
		if p.Name != nil {
			key, known = ex.propertyName(p.Name)
			if v, ok := p.Value.(*js.Var); ok {
				_, inSource := ex.cursor.offsetOf(p.Name.Literal.Data)
				shorthand = p.Name.Computed == nil && !inSource && string(v.Data) == string(p.Name.Literal.Data)
			}
		}
		if shorthand {
			ex.cursor.offset = max(ex.cursor.offset-len(p.Name.Literal.Data), 0)
		}
		at := ex.cursor.at
		v := ex.kept(p.Value)
		if p.Init != nil {
			v = ex.values.either(v, ex.expr(p.Init))
		}
		if known && key == "__proto__" && !shorthand && !isNothing(p.Value) {
			ex.facts.Flags.HasProtoAccess = true
			if !ex.scope.quiet && p.Name.Computed != nil { // plainly it names the prototype of the new object
				ex.findings.add(threat.PrototypePollution, catalogue.NeverGranted, "", at,
					"a computed __proto__ in an object literal smuggles the key into a merge")
			}
		}
		if known && v != nil {
			ex.values.set(out.obj, key, v)
		}
	}
	return out
}

// kept walks the value of a property or of an element. A table of built-in functions that lists eval does not call it.
func (ex *expressions) kept(e js.IExpr) *value {
	if v, ok := e.(*js.Var); ok && resolved(v).Decl == js.NoDecl && string(v.Data) == "eval" {
		if eval := ex.cat.Globals["eval"]; ex.compared(e).holds(symbolValue(eval)) {
			ex.findings.idle(eval, ex.cursor.at)
			return symbolValue(ex.cat.ListedEval)
		}
		return nil
	}
	return ex.expr(e)
}

// isNothing reports whether an expression is null or void 0, which change no object.
func isNothing(e js.IExpr) bool {
	if u, ok := e.(*js.UnaryExpr); ok && u.Op == js.VoidToken {
		e = u.X
		l, ok := e.(*js.LiteralExpr)
		return ok && l.TokenType != js.StringToken
	}
	l, ok := e.(*js.LiteralExpr)
	return ok && l.TokenType == js.NullToken
}

// propertyName walks the key of a property and returns its name, if it is known.
func (ex *expressions) propertyName(n *js.PropertyName) (string, bool) {
	if n.Computed != nil {
		return ex.values.textOf(ex.loud(n.Computed))
	}
	ex.cursor.at = ex.cursor.pass(n.Literal.Data)
	return ex.cursor.propertyText(n.Literal), true
}

// give adds to an object what a getter returns, or a method whose name is computed.
func (ex *expressions) give(to *value, m *js.MethodDecl, v *value) {
	name, known := "", m.Name.Private != nil
	switch {
	case known:
		name = ex.cursor.source(m.Name.Private.Data)
	case m.Name.Computed == nil:
		name, known = ex.cursor.propertyText(m.Name.Literal), true
	default:
		name, known = ex.constant(m.Name.Computed)
	}
	switch {
	case !known || m.Set:
	case m.Get && v.fn.ret != nil:
		ex.values.set(to.obj, name, v.fn.ret)
	case !m.Get && m.Name.Computed != nil:
		ex.values.set(to.obj, name, v)
	}
}

// constant returns the text of a key that is a literal and needs no walk.
func (ex *expressions) constant(e js.IExpr) (string, bool) {
	if l, ok := e.(*js.LiteralExpr); ok && l.TokenType == js.StringToken {
		return ex.cursor.propertyText(*l), true
	}
	return "", false
}

func (ex *expressions) method(m *js.MethodDecl, this *value) *value {
	if m.Name.Private != nil {
		ex.cursor.passName(m.Name.Private)
	} else {
		ex.propertyName(&m.Name.PropertyName)
	}
	f := ex.program.function(m, m.Params, false)
	ex.walker.body(f, m.Params, m.Body.List, this)
	return &value{kind: kindFunction, fn: f}
}

// class walks a class. Instances and the class itself are one object here, which is this in either.
func (ex *expressions) class(c *js.ClassDecl) *value {
	if c.Name != nil {
		ex.cursor.passName(c.Name)
	}
	self := &value{kind: kindObject, obj: &object{}}
	var base *value
	if c.Extends != nil {
		// A class that extends Function builds code from strings, as Function does: where it is constructed, or where its
		// constructor calls super. Extending other powers is a use.
		base = ex.expr(c.Extends)
		if !constructs(c) {
			ex.calls.escapes(call{args: []*value{base}, at: ex.cursor.at})
		}
		for b := base; b != nil; b = b.alt {
			if b.kind == kindSymbol && b.sym.OnUse && b.sym.Role == catalogue.NoRole {
				ex.findings.found(b.sym, ex.cursor.at)
			}
		}
	}
	f := ex.program.function(c, js.Params{}, false)
	// Methods can use one another in any order.
	for _, el := range c.List {
		if m := el.Method; m != nil && m.Name.Computed == nil && !m.Get && !m.Set {
			name := ex.cursor.propertyText(m.Name.Literal)
			if m.Name.Private != nil {
				name = ex.cursor.source(m.Name.Private.Data)
			}
			method := &value{kind: kindFunction, fn: ex.program.function(m, m.Params, false)}
			ex.values.set(self.obj, name, method)
			if m.Static {
				f.set(name, method)
			}
		}
	}
	if constructs(c) {
		f.base = base.builder()
	}
	outer, super := ex.scope.this, ex.scope.super
	ex.scope.this, ex.scope.super = self, base.builder()
	for _, el := range c.List {
		switch {
		case el.StaticBlock != nil:
			ex.walker.branched(func() { ex.walker.block(el.StaticBlock.List) })
		case el.Method != nil:
			ex.give(self, el.Method, ex.method(el.Method, self))
		default:
			ex.field(el.Field, self)
		}
	}
	ex.scope.this, ex.scope.super = outer, super
	f.ret = self
	return &value{kind: kindFunction, fn: f}
}

// constructs reports whether a class has a constructor of its own.
func constructs(c *js.ClassDecl) bool {
	return slices.ContainsFunc(c.List, func(el js.ClassElement) bool {
		m := el.Method
		return m != nil && !m.Static && m.Name.Private == nil && m.Name.Computed == nil &&
			string(m.Name.Literal.Data) == "constructor"
	})
}

// builder returns what of a value builds code from strings.
func (v *value) builder() *value {
	for ; v != nil; v = v.alt {
		if v.kind == kindSymbol && v.sym.BuildsCode() {
			return symbolValue(v.sym)
		}
	}
	return nil
}

func (ex *expressions) field(f js.Field, self *value) {
	key, known := "", false
	if f.Name.Private != nil {
		ex.cursor.passName(f.Name.Private)
		key, known = ex.cursor.source(f.Name.Private.Data), true
	} else {
		key, known = ex.propertyName(&f.Name.PropertyName)
	}
	if v := ex.expr(f.Init); v != nil && known {
		ex.program.keep(self, key, v)
	}
}

// template walks a template literal, with or without a tag.
func (ex *expressions) template(e *js.TemplateExpr) *value {
	var tag *value
	if e.Tag != nil {
		tag = ex.expr(e.Tag)
	}
	at := ex.cursor.at
	sum := textValue("")
	args := []*value{{kind: kindArray, obj: &object{}}}
	for _, p := range e.List {
		ex.cursor.pass(p.Value)
		sum = ex.values.concat(sum, templateText(p.Value))
		v := ex.loud(p.Expr)
		args = append(args, v)
		sum = ex.values.concat(sum, v)
	}
	ex.cursor.pass(e.Tail)
	sum = ex.values.concat(sum, templateText(e.Tail))
	if e.Tag == nil {
		ex.cursor.at = at
		return sum
	}
	args[0].obj.elems = []*value{templateText(e.Tail)}
	if len(e.List) > 0 {
		args[0].obj.elems[0] = templateText(e.List[0].Value)
	}
	return ex.calls.invoke(tag, call{args: args, at: at, template: sum})
}

// templateText returns the content of one piece of template text without delimiters.
func templateText(raw []byte) *value {
	s := string(raw)
	if len(s) > 0 && (s[0] == '`' || s[0] == '}') {
		s = s[1:]
	}
	switch n := len(s); {
	case n > 0 && s[n-1] == '`':
		s = s[:n-1]
	case n > 1 && s[n-2:] == "${":
		s = s[:n-2]
	}
	plain, _ := lexer.Unescape(s)
	return textValue(plain)
}
