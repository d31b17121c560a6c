package scan

import (
	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/threat"
)

func (w *scanner) array(e *js.ArrayExpr) *value {
	out := &object{}
	start := w.cursor
	for _, el := range e.List {
		v := w.expr(el.Value)
		if el.Spread {
			if v != nil && v.kind == kindArray && len(out.elems)+len(v.obj.elems) <= maxElements && w.budget.take(len(v.obj.elems)) {
				out.elems = append(out.elems, v.obj.elems...)
				continue
			}
			if text, ok := w.textOf(v); ok && len(text) <= maxElements {
				out.elems = append(out.elems, w.characters(v, text)...)
				continue
			}
			v = nil
		}
		if len(out.elems) < maxElements {
			out.elems = append(out.elems, v)
		}
	}
	w.at = start
	return &value{kind: kindArray, obj: out}
}

// characters gives a string's characters as values.
func (w *scanner) characters(of *value, text string) []*value {
	if !w.budget.take(len(text) * elementWork) {
		return nil
	}
	out := make([]*value, 0, len(text))
	for _, r := range text {
		out = append(out, &value{kind: kindText, text: string(r), decoded: of.decoded, coded: of.coded})
	}
	return out
}

// object walks an object literal. Methods see it as their this.
func (w *scanner) object(e *js.ObjectExpr) *value {
	out := &value{kind: kindObject, obj: &object{}}
	// Methods are known to one another, whatever their order.
	for _, p := range e.List {
		if m, ok := p.Value.(*js.MethodDecl); ok && m.Name.Computed == nil && !m.Get && !m.Set {
			w.set(out.obj, w.propertyText(m.Name.Literal), &value{kind: kindFunction, fn: w.function(m, m.Params, false)})
		}
	}
	for _, p := range e.List {
		if p.Spread {
			out.obj.rest = w.either(w.expr(p.Value), out.obj.rest)
			continue
		}
		if m, ok := p.Value.(*js.MethodDecl); ok {
			w.give(out, m, w.method(m, out))
			continue
		}
		key, known := "", false
		shorthand := false
		if p.Name != nil {
			key, known = w.propertyName(p.Name)
			if v, ok := p.Value.(*js.Var); ok {
				_, inSource := w.offsetOf(p.Name.Literal.Data)
				shorthand = p.Name.Computed == nil && !inSource && string(v.Data) == string(p.Name.Literal.Data)
			}
		}
		if shorthand {
			w.cursor = max(w.cursor-len(p.Name.Literal.Data), 0)
		}
		at := w.at
		v := w.expr(p.Value)
		if p.Init != nil {
			v = w.either(v, w.expr(p.Init))
		}
		if known && key == "__proto__" && !shorthand && !isNull(p.Value) {
			w.tele.Flags.HasProtoAccess = true
			if !w.quiet {
				w.hit(threat.PrototypePollution, neverGranted, "", at, "__proto__ in an object literal sets its prototype, or smuggles the key into a merge")
			}
		}
		if known && v != nil {
			w.set(out.obj, key, v)
		}
	}
	return out
}

func isNull(e js.IExpr) bool {
	l, ok := e.(*js.LiteralExpr)
	return ok && l.TokenType == js.NullToken
}

// propertyName walks a property's key.
func (w *scanner) propertyName(n *js.PropertyName) (string, bool) {
	if n.Computed != nil {
		return w.textOf(w.loud(n.Computed))
	}
	w.at = w.pass(n.Literal.Data)
	return w.propertyText(n.Literal), true
}

// give puts what a getter returns, and a method whose name is computed, into the object that has it.
func (w *scanner) give(to *value, m *js.MethodDecl, v *value) {
	name, known := "", m.Name.Private != nil
	switch {
	case known:
		name = w.source(m.Name.Private.Data)
	case m.Name.Computed == nil:
		name, known = w.propertyText(m.Name.Literal), true
	default:
		name, known = w.constant(m.Name.Computed)
	}
	switch {
	case !known || m.Set:
	case m.Get && v.fn.ret != nil:
		w.set(to.obj, name, v.fn.ret)
	case !m.Get && m.Name.Computed != nil:
		w.set(to.obj, name, v)
	}
}

// constant gives the text of a key that needs no walk: a literal.
func (w *scanner) constant(e js.IExpr) (string, bool) {
	if l, ok := e.(*js.LiteralExpr); ok && l.TokenType == js.StringToken {
		return w.propertyText(*l), true
	}
	return "", false
}

func (w *scanner) method(m *js.MethodDecl, this *value) *value {
	if m.Name.Private != nil {
		w.passName(m.Name.Private)
	} else {
		w.propertyName(&m.Name.PropertyName)
	}
	f := w.function(m, m.Params, false)
	w.body(f, m.Params, m.Body.List, this)
	return &value{kind: kindFunction, fn: f}
}

// class walks a class. Instances and the class itself are one object here: this in either.
func (w *scanner) class(c *js.ClassDecl) *value {
	if c.Name != nil {
		w.passName(c.Name)
	}
	self := &value{kind: kindObject, obj: &object{}}
	if c.Extends != nil {
		// A class that extends Function builds code from strings as Function does; of others, what counts is its use.
		base := w.expr(c.Extends)
		w.escapes(call{args: []*value{base}, at: w.at})
		for b := base; b != nil; b = b.alt {
			if b.kind == kindSymbol && b.sym.onUse && b.sym.role == noRole {
				w.found(b.sym, w.at)
			}
		}
	}
	// Methods are known to one another, whatever their order.
	for _, el := range c.List {
		if m := el.Method; m != nil && m.Name.Computed == nil && !m.Get && !m.Set {
			name := w.propertyText(m.Name.Literal)
			if m.Name.Private != nil {
				name = w.source(m.Name.Private.Data)
			}
			w.set(self.obj, name, &value{kind: kindFunction, fn: w.function(m, m.Params, false)})
		}
	}
	outer := w.this
	w.this = self
	for _, el := range c.List {
		switch {
		case el.StaticBlock != nil:
			w.branched(func() { w.block(el.StaticBlock.List) })
		case el.Method != nil:
			w.give(self, el.Method, w.method(el.Method, self))
		default:
			w.field(el.Field, self)
		}
	}
	w.this = outer
	f := w.function(c, js.Params{}, false)
	f.ret = self
	return &value{kind: kindFunction, fn: f}
}

func (w *scanner) field(f js.Field, self *value) {
	key, known := "", false
	if f.Name.Private != nil {
		w.passName(f.Name.Private)
		key, known = w.source(f.Name.Private.Data), true
	} else {
		key, known = w.propertyName(&f.Name.PropertyName)
	}
	if v := w.expr(f.Init); v != nil && known {
		w.keep(self, key, v)
	}
}

// template walks a template literal, with or without a tag.
func (w *scanner) template(e *js.TemplateExpr) *value {
	var tag *value
	if e.Tag != nil {
		tag = w.expr(e.Tag)
	}
	at := w.at
	sum := textValue("")
	args := []*value{{kind: kindArray, obj: &object{}}}
	for _, p := range e.List {
		w.pass(p.Value)
		sum = w.concat(sum, templateText(p.Value))
		v := w.loud(p.Expr)
		args = append(args, v)
		sum = w.concat(sum, v)
	}
	w.pass(e.Tail)
	sum = w.concat(sum, templateText(e.Tail))
	if e.Tag == nil {
		w.at = at
		return sum
	}
	args[0].obj.elems = []*value{templateText(e.Tail)}
	if len(e.List) > 0 {
		args[0].obj.elems[0] = templateText(e.List[0].Value)
	}
	return w.invoke(tag, call{args: args, at: at, template: sum})
}

// templateText gives the content of one stretch of template text, delimiters taken off.
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
	plain, _ := unescape(s)
	return textValue(plain)
}
