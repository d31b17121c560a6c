package reach

import "github.com/tdewolff/parse/v2/js"

// property walks a property of an object literal and returns its node. Under is the name that it is stored under, if
// not its own.
func (w *walker) property(p js.Property, under *node) *node {
	if p.Spread {
		w.use(p.Value)
		return nil
	}
	if m, ok := p.Value.(*js.MethodDecl); ok {
		return w.method(m, under, w.current)
	}
	into := under
	if p.Name != nil {
		name, ok := w.key(p.Name)
		if ok {
			w.sets(name, p.Value)
		}
		if into == nil {
			into = w.current
			if ok && isIdentifier(name) && !called(name) {
				into = &node{}
				w.keep(w.graph.name(name), into)
			}
		}
	} else {
		if v, ok := ungrouped(p.Value).(*js.Var); ok {
			w.sets(plain(v.Data), v)
		}
		if into == nil {
			into = w.current
		}
	}
	w.value(p.Value, into)
	w.use(p.Init)
	return into
}

// method walks a method of an object or class. A caller that does not mention its name calls it once owner is live.
func (w *walker) method(m *js.MethodDecl, under, owner *node) *node {
	f := w.function(m, m.Params, m.Body.List)
	if m.Name.Private != nil {
		w.sets(plain(m.Name.Private.Data), nil)
	} else if m.Name.Computed == nil {
		w.sets(text(&m.Name.Literal), nil)
	}
	if under != nil {
		under.leadTo(f)
		return f
	}
	if m.Name.Private != nil {
		w.graph.name(plain(m.Name.Private.Data)).leadTo(f)
		return f
	}
	name, ok := w.key(&m.Name.PropertyName)
	if ok {
		and(w.graph.name(name), owner).leadTo(f)
	}
	if !ok || m.Get || m.Set || called(name) || name == "constructor" || !isIdentifier(name) {
		owner.leadTo(f)
	}
	return f
}

// class walks a class and returns its node.
func (w *walker) class(c *js.ClassDecl, into *node) *node {
	self := &node{}
	w.source.functions[c] = self
	into.leadTo(self)
	w.value(c.Extends, self)
	outer := w.current
	for _, el := range c.List {
		switch {
		case el.StaticBlock != nil:
			w.block(el.StaticBlock.List)
		case el.Method != nil:
			owner := self
			if el.Method.Static {
				owner = w.current
			}
			w.method(el.Method, nil, owner)
		default:
			w.field(el.Field, self)
		}
	}
	w.current = outer
	return self
}

func (w *walker) field(f js.Field, self *node) {
	into := self
	if f.Name.Private != nil {
		into = w.graph.name(plain(f.Name.Private.Data))
		w.sets(plain(f.Name.Private.Data), f.Init)
	} else if name, ok := w.key(&f.Name.PropertyName); ok && isIdentifier(name) && !called(name) {
		into = w.graph.name(name)
		w.sets(name, f.Init)
	}
	outer := w.current
	if !f.Static {
		w.current = self
	}
	w.value(f.Init, into)
	w.current = outer
}
