package flow

import (
	"strconv"

	"github.com/airlock-run/airlock/policy/internal/quote"
	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/threat"
)

// host resolves names and members to what the host provides under them, and reports the powers among them.
type host struct {
	budget   *cost.Budget
	cat      *catalogue.Catalogue
	findings *findings
	facts    *facts
	cursor   *cursor
	scope    *scope
	values   *values
	program  *program
	timers   *timers
	globals  map[string]bool // names that the caller defines
}

// computed returns the members that a computed key may name.
func (h *host) computed(base, key *value, at int) *value {
	var out *value
	known := false
	for k := key; k != nil; k = k.alt {
		name, ok := h.values.textOfOne(k)
		if !ok {
			continue
		}
		known = true
		if k.isDecoded() && h.reachable(base, name) {
			h.findings.add(threat.EncodingTricks, catalogue.NeverGranted, "", at, "the name ",
				strconv.Quote(quote.Clip(name, 40)), " is hidden behind a decoder")
		}
		out = h.values.either(out, h.member(base, name, at, false))
	}
	if !known && base != nil {
		if base.isGlobal() && !h.program.dynamicKey {
			h.program.again = true // what the name is may be known by the next walk
		}
		h.program.dynamicKey = true
		if key.isDecoded() && base.powerful() {
			h.findings.add(threat.EncodingTricks, catalogue.NeverGranted, "", at,
				"a decoded string names a member of a host object")
			if base.isGlobal() {
				h.findings.add(threat.CodeInjection, catalogue.EvalPower, "", at,
					"a global that only a decoder names may be eval or Function")
			}
		}
		out = h.values.itemsOf(base)
	}
	return out
}

// reachable reports whether a name on the base is a power.
func (h *host) reachable(base *value, name string) bool {
	for b := base; b != nil; b = b.alt {
		switch b.kind {
		case kindGlobal, kindMaybeGlobal:
			if h.cat.Globals[name] != nil {
				return true
			}
		case kindSymbol:
			return true
		}
	}
	return name == "constructor" || name == "__proto__" || name == "prototype"
}

// member returns the values that base.name may have, and reports powers. Plain says that the source spells the name.
func (h *host) member(base *value, name string, at int, plain bool) *value {
	if name == "__proto__" {
		h.facts.Flags.HasProtoAccess = true
		return h.prototypeOf(base) // changing it is the finding
	}
	if base == nil {
		return h.memberOfUnknown(name)
	}
	var out *value
	for b := base; b != nil && h.budget.Take(cost.ValueWork); b = b.alt {
		out = h.values.either(out, h.memberOf(b, name, at, plain))
	}
	return out
}

func (h *host) memberOfUnknown(name string) *value {
	if name == "constructor" {
		return &value{kind: kindConstructor}
	}
	if v := h.program.props[name]; v != nil {
		return v
	}
	if name == "mainModule" { // only process has one
		return symbolValue(h.cat.Modules["process"].Members[name])
	}
	if h.cat.Methods[name] != nil {
		return &value{kind: kindMethod, text: name}
	}
	return nil
}

func (h *host) memberOf(b *value, name string, at int, plain bool) *value {
	switch b.kind {
	case kindGlobal:
		switch {
		case h.globals[name]:
			return nil
		case name == "constructor":
			return &value{kind: kindConstructor}
		}
		return h.global(name, at)
	case kindMaybeGlobal:
		if plain || name == "constructor" {
			return h.memberOfUnknown(name)
		}
		if name == "eval" { // it counts where it is called
			return symbolValue(h.cat.ListedEval)
		}
		return h.global(name, at)
	case kindSymbol:
		return h.memberOfSymbol(b, name, at)
	case kindObject:
		return h.memberOfObject(b, name)
	case kindArray:
		return h.memberOfArray(b, name)
	case kindDescriptor:
		if name == "value" || name == "get" || name == "set" {
			return b.of
		}
		return nil
	case kindPrototype:
		if name == "constructor" {
			if b.of != nil && b.of.callableKind() {
				return symbolValue(h.cat.Function)
			}
			return &value{kind: kindConstructor}
		}
		return &value{kind: kindMethod, text: name, of: b}
	case kindConstructor:
		return h.memberOfConstructor(name)
	case kindPartial:
		return h.memberOfUnknown(name)
	}
	return h.memberOfPlain(b, name)
}

func (h *host) memberOfConstructor(name string) *value {
	switch name {
	case "constructor":
		return symbolValue(h.cat.Function)
	case "prototype":
		h.facts.Flags.HasProtoAccess = true
		return &value{kind: kindPrototype}
	}
	return nil
}

// memberOfPlain handles strings, numbers, regular expressions and functions.
func (h *host) memberOfPlain(b *value, name string) *value {
	switch {
	case name == "constructor" && b.callableKind():
		return symbolValue(h.cat.Function)
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
		return h.values.either(h.program.props[name], b.fn.props[name]) // a static member, or one that was added
	}
	return &value{kind: kindMethod, text: name, of: b}
}

func (h *host) memberOfSymbol(b *value, name string, at int) *value {
	s := b.sym
	if name == "prototype" && s.Class {
		v := &value{kind: kindPrototype, of: functionPrototype(s)}
		if s.IsExtendable() {
			v.text = extendable
		}
		return v
	}
	if m := s.Member(name); m != nil {
		if !h.scope.quiet && m.Category != "" && !m.OnUse && !h.findings.full(m.Category, m.Power, m.Module) {
			h.findings.addSymbol(&catalogue.Symbol{Name: memberName(m, name), Category: m.Category, Power: m.Power}, m, at)
		}
		h.flag(m)
		return symbolValue(m)
	}
	switch {
	case name == "constructor" && s.IsFunction():
		return symbolValue(h.cat.Function)
	case name == "constructor":
		return &value{kind: kindConstructor}
	case name == "default" && s.Module != "":
		return b
	case s.IsFunction(), name == "then":
		return &value{kind: kindMethod, text: name, of: b}
	}
	return nil
}

// functionPrototype returns the prototype's owner if s is Function, so that its constructor is Function.
func functionPrototype(s *catalogue.Symbol) *value {
	if s.Role == catalogue.RoleFunction {
		return &value{kind: kindBuiltin}
	}
	return nil
}

// memberName returns the name of a member. The star of a symbol that stands for any member is replaced.
func memberName(m *catalogue.Symbol, name string) string {
	if n := len(m.Name); n > 0 && m.Name[n-1] == '*' {
		return m.Name[:n-1] + quote.Clip(name, 60)
	}
	return m.Name
}

func (h *host) memberOfObject(b *value, name string) *value {
	if v, ok := b.obj.props[name]; ok {
		return v
	}
	if b.obj.rest != nil {
		return h.member(b.obj.rest, name, h.cursor.at, true)
	}
	switch name {
	case "constructor":
		return &value{kind: kindConstructor}
	case "toString", "valueOf", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString":
		return &value{kind: kindBuiltin}
	}
	return h.program.props[name]
}

func (h *host) memberOfArray(b *value, name string) *value {
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

// prototypeOf returns the prototype of a value: that of all functions, or one that objects share.
func (h *host) prototypeOf(base *value) *value {
	for b := base; b != nil; b = b.alt {
		if b.callableKind() {
			return &value{kind: kindPrototype, of: &value{kind: kindBuiltin}}
		}
	}
	return &value{kind: kindPrototype}
}

// reaches reports a mention of __proto__ in code that is scanned by tokens.
func (h *host) reaches(at int) {
	h.facts.Flags.HasProtoAccess = true
	h.findings.add(threat.PrototypePollution, catalogue.NeverGranted, "", at, "__proto__ reaches an object's prototype")
}

// changes reports a write to a member of a shared prototype.
func (h *host) changes(base *value, at int) {
	if base.isPrototype() {
		h.findings.add(threat.PrototypePollution, catalogue.NeverGranted, "", at, "a prototype that others share is changed")
	}
}

// global resolves a member of the global object by name.
func (h *host) global(name string, at int) *value { return h.mentioned(h.standsFor(name), at) }

// standsFor returns the host's global of a name, or nil.
func (h *host) standsFor(name string) *value {
	switch name {
	case "globalThis", "global", "window", "self", "top", "frames":
		return &value{kind: kindGlobal}
	}
	if name == "" || h.cat.Lengths[name[0]]>>len(name)&1 == 0 {
		return nil
	}
	return symbolValue(h.cat.Globals[name])
}

// mentioned records that a global was named.
func (h *host) mentioned(v *value, at int) *value {
	if v != nil && v.kind == kindSymbol {
		h.flag(v.sym)
		if v.sym.Category != "" && !v.sym.OnUse && !h.scope.quiet {
			h.findings.found(v.sym, at)
		}
	}
	return v
}

// flag records a global in the telemetry.
func (h *host) flag(s *catalogue.Symbol) {
	f := &h.facts.Flags
	switch s.Role {
	case catalogue.RoleEval:
		f.HasEval = true
	case catalogue.RoleRequire:
		f.HasRequire = true
	case catalogue.RoleTimeout, catalogue.RoleInterval:
		f.HasTimers = true
	case catalogue.RoleClear:
		h.timers.cleared = true
	}
	switch s.Name {
	case "process":
		f.HasProcess = true
	case "fetch":
		f.HasFetch = true
	case "WebAssembly":
		f.HasWebAssembly = true
	}
}
