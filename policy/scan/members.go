package scan

import (
	"strconv"

	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/internal/quote"
	"github.com/airlock-run/airlock/policy/threat"
)

// propertyText gives the name that a literal property key stands for.
func (w *scanner) propertyText(l js.LiteralExpr) string {
	s := w.source(l.Data)
	if l.TokenType == js.StringToken && len(s) >= 2 {
		s = s[1 : len(s)-1]
	}
	plain, _ := unescape(s)
	return plain
}

// dot walks x.name and x?.name.
func (w *scanner) dot(e *js.DotExpr) *value {
	base, key, at := w.dotted(e)
	return w.member(base, key, at, true)
}

func (w *scanner) dotted(e *js.DotExpr) (base *value, key string, at int) {
	base, at = w.operand(e.X), w.at
	switch y := e.Y.(type) {
	case js.LiteralExpr:
		off := w.pass(y.Data)
		if _, simple := e.X.(*js.Var); !simple {
			at = off
		}
		key = w.propertyText(y)
	case *js.Var: // a private name
		w.passName(y)
		key = w.source(y.Data)
	}
	w.at = at
	return base, key, at
}

// index walks x[y] and x?.[y].
func (w *scanner) index(e *js.IndexExpr) *value {
	base, key, at := w.indexed(e)
	return w.computed(base, key, at)
}

func (w *scanner) indexed(e *js.IndexExpr) (base, key *value, at int) {
	base, at = w.operand(e.X), w.at
	key = w.loud(e.Y)
	w.at = at
	return base, key, at
}

// operand walks what a member is read from. Reading a member of a power is what counts, unless the member is nothing.
func (w *scanner) operand(e js.IExpr) *value { return w.loud(e) }

// computed gives the member that a computed key may name.
func (w *scanner) computed(base, key *value, at int) *value {
	var out *value
	known := false
	for k := key; k != nil; k = k.alt {
		name, ok := w.textOfOne(k)
		if !ok {
			continue
		}
		known = true
		if k.isDecoded() && w.reachable(base, name) {
			w.hit(threat.EncodingTricks, neverGranted, "", at, "the name ", strconv.Quote(quote.Clip(name, 40)), " is hidden behind a decoder")
		}
		out = w.either(out, w.member(base, name, at, false))
	}
	if !known && base != nil {
		if base.isGlobal() && !w.dynamicKey {
			w.again = true // what the name is may be known by the next walk
		}
		w.dynamicKey = true
		if key.isDecoded() && base.powerful() {
			w.hit(threat.EncodingTricks, neverGranted, "", at, "a decoded string names a member of a host object")
			if base.isGlobal() {
				w.hit(threat.CodeInjection, evalPower, "", at, "a global that only a decoder names may be eval or Function")
			}
		}
		out = w.itemsOf(base)
	}
	return out
}

// reachable reports whether a name on the base is a power.
func (w *scanner) reachable(base *value, name string) bool {
	for b := base; b != nil; b = b.alt {
		switch b.kind {
		case kindGlobal, kindMaybeGlobal:
			if w.cat.globals[name] != nil {
				return true
			}
		case kindSymbol:
			return true
		}
	}
	return name == "constructor" || name == "__proto__" || name == "prototype"
}

// reported marks a prototype whose reaching was a finding already, so that changing it is not another.
const reported = "reported"

// member gives what base.name may be, and reports it when it is a power. Plain says that the name stands in the source.
func (w *scanner) member(base *value, name string, at int, plain bool) *value {
	if name == "__proto__" {
		w.tele.Flags.HasProtoAccess = true
		if !w.quiet {
			w.hit(threat.PrototypePollution, neverGranted, "", at, "__proto__ reaches an object's prototype")
		}
		proto := w.prototypeOf(base)
		proto.text = reported
		return proto
	}
	if base == nil {
		return w.memberOfUnknown(name)
	}
	var out *value
	for b := base; b != nil && w.budget.take(valueWork); b = b.alt {
		out = w.either(out, w.memberOf(b, name, at, plain))
	}
	return out
}

func (w *scanner) memberOfUnknown(name string) *value {
	if name == "constructor" {
		return &value{kind: kindConstructor}
	}
	if v := w.props[name]; v != nil {
		return v
	}
	if name == "mainModule" { // only process has one
		return symbolValue(w.cat.modules["process"].members[name])
	}
	if w.cat.methods[name] != nil {
		return &value{kind: kindMethod, text: name}
	}
	return nil
}

func (w *scanner) memberOf(b *value, name string, at int, plain bool) *value {
	switch b.kind {
	case kindGlobal:
		switch {
		case w.globals[name]:
			return nil
		case name == "constructor":
			return &value{kind: kindConstructor}
		}
		return w.global(name, at)
	case kindMaybeGlobal:
		if plain || name == "constructor" {
			return w.memberOfUnknown(name)
		}
		return w.global(name, at)
	case kindSymbol:
		return w.memberOfSymbol(b, name, at)
	case kindObject:
		return w.memberOfObject(b, name)
	case kindArray:
		return w.memberOfArray(b, name)
	case kindDescriptor:
		if name == "value" || name == "get" || name == "set" {
			return b.of
		}
		return nil
	case kindPrototype:
		if name == "constructor" {
			if b.of != nil && b.of.callableKind() {
				return symbolValue(w.cat.function)
			}
			return &value{kind: kindConstructor}
		}
		return &value{kind: kindMethod, text: name, of: b}
	case kindConstructor:
		return w.memberOfConstructor(name, at)
	}
	return w.memberOfPlain(b, name)
}

func (w *scanner) memberOfConstructor(name string, at int) *value {
	switch name {
	case "constructor":
		return symbolValue(w.cat.function)
	case "prototype":
		w.tele.Flags.HasProtoAccess = true
		if !w.quiet {
			w.hit(threat.PrototypePollution, neverGranted, "", at, "constructor.prototype reaches a prototype that others share")
		}
		return &value{kind: kindPrototype, text: reported}
	}
	return nil
}

// memberOfPlain covers strings, numbers, regular expressions and functions.
func (w *scanner) memberOfPlain(b *value, name string) *value {
	switch {
	case name == "constructor" && b.callableKind():
		return symbolValue(w.cat.function)
	case name == "constructor":
		return &value{kind: kindConstructor}
	case name == "source" && b.kind == kindRegExp:
		return textValue(b.text)
	case name == "length" && b.kind == kindText:
		return &value{kind: kindNumber, num: float64(len(b.text))}
	case name == "prototype":
		return nil
	case b.kind == kindText:
		if i, err := strconv.Atoi(name); err == nil {
			if i >= 0 && i < len(b.text) {
				return &value{kind: kindText, text: b.text[i : i+1], decoded: b.decoded}
			}
			return nil
		}
	case b.kind == kindFunction && name != "call" && name != "apply" && name != "bind" && name != "toString":
		return w.props[name] // a static member, or one that was added
	}
	return &value{kind: kindMethod, text: name, of: b}
}

func (w *scanner) memberOfSymbol(b *value, name string, at int) *value {
	s := b.sym
	if name == "prototype" && s.class {
		return &value{kind: kindPrototype, of: functionPrototype(s)}
	}
	if m := s.member(name); m != nil {
		if !w.quiet && m.category != "" && !m.onUse && !w.full(m.category, m.power, m.module) {
			w.hit(m.category, m.power, m.module, at, explain(&symbol{name: memberName(m, name), category: m.category, power: m.power}))
		}
		w.flag(m)
		return symbolValue(m)
	}
	switch {
	case name == "constructor" && s.isFunction():
		return symbolValue(w.cat.function)
	case name == "constructor":
		return &value{kind: kindConstructor}
	case name == "default" && s.module != "":
		return b
	case s.isFunction():
		return &value{kind: kindMethod, text: name, of: b}
	}
	return nil
}

// functionPrototype marks Function.prototype, whose constructor is Function.
func functionPrototype(s *symbol) *value {
	if s.role == roleFunction {
		return &value{kind: kindBuiltin}
	}
	return nil
}

// memberName replaces the star of a symbol that stands for any member.
func memberName(m *symbol, name string) string {
	if n := len(m.name); n > 0 && m.name[n-1] == '*' {
		return m.name[:n-1] + quote.Clip(name, 60)
	}
	return m.name
}

func (w *scanner) memberOfObject(b *value, name string) *value {
	if v, ok := b.obj.props[name]; ok {
		return v
	}
	if b.obj.rest != nil {
		return w.member(b.obj.rest, name, w.at, true)
	}
	switch name {
	case "constructor":
		return &value{kind: kindConstructor}
	case "toString", "valueOf", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString":
		return &value{kind: kindBuiltin}
	}
	return w.props[name]
}

func (w *scanner) memberOfArray(b *value, name string) *value {
	if i, err := strconv.Atoi(name); err == nil {
		if i >= 0 && i < len(b.obj.elems) {
			return b.obj.elems[i]
		}
		return nil
	}
	switch name {
	case "constructor":
		return &value{kind: kindConstructor}
	case "length":
		return &value{kind: kindNumber, num: float64(len(b.obj.elems))}
	}
	return &value{kind: kindMethod, text: name, of: b}
}

// prototypeOf gives the prototype of a value: that of all functions, or one that others share.
func (w *scanner) prototypeOf(base *value) *value {
	for b := base; b != nil; b = b.alt {
		if b.callableKind() {
			return &value{kind: kindPrototype, of: &value{kind: kindBuiltin}}
		}
	}
	return &value{kind: kindPrototype}
}
