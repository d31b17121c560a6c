package scan

import (
	"strings"

	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/threat"
)

// call is one call or construction of a value.
type call struct {
	args  []*value
	at    int
	isNew bool
	// received marks a call on a receiver, x.f(): then a plain function's this is x, not the global object.
	received bool
	template *value // the text of a tagged template
	depth    int
}

func (c call) arg(i int) *value {
	if i >= 0 && i < len(c.args) {
		return c.args[i]
	}
	return nil
}

func (w *scanner) call(e *js.CallExpr) *value {
	if lit, ok := e.X.(*js.LiteralExpr); ok && lit.TokenType == js.ImportToken {
		return w.dynamicImport(e, lit)
	}
	callee := w.loud(e.X)
	at := w.at
	c := call{at: at, args: w.args(e.Args.List), received: hasReceiver(e.X)}
	w.pollution(e.X, c)
	v := c.arg(0)
	if !isInterop(e.X) {
		v = w.invoke(callee, c)
	}
	w.at = at
	return v
}

// isInterop knows the helpers that compilers put around require: what they give stands for the module. Followed like
// other functions, each would give every module that it is ever called with.
func isInterop(callee js.IExpr) bool {
	for {
		switch e := callee.(type) {
		case *js.GroupExpr:
			callee = e.X
			continue
		case *js.CommaExpr: // (0, tslib.__importDefault)(…)
			callee = e.List[len(e.List)-1]
			continue
		case *js.Var:
			return isInteropName(string(e.Data))
		case *js.DotExpr:
			l, ok := e.Y.(js.LiteralExpr)
			return ok && isInteropName(string(l.Data))
		}
		return false
	}
}

func isInteropName(name string) bool {
	switch name {
	case "__importDefault", "__importStar", "__toESM", "__toCommonJS", "_interopRequireDefault", "_interopRequireWildcard",
		"_interopDefault", "_interopDefaultLegacy", "_interopDefaultCompat", "_interopNamespace", "_interopNamespaceDefault",
		"_interop_require_default", "_interop_require_wildcard", "interopDefault":
		return true
	}
	return false
}

func hasReceiver(callee js.IExpr) bool {
	switch callee.(type) {
	case *js.DotExpr, *js.IndexExpr:
		return true
	}
	return false
}

func (w *scanner) construct(e *js.NewExpr) *value {
	callee := w.loud(e.X)
	c := call{at: w.at, isNew: true}
	if e.Args != nil {
		c.args = w.args(e.Args.List)
	}
	v := w.invoke(callee, c)
	w.at = c.at
	return v
}

// args walks the arguments.
func (w *scanner) args(list []js.Arg) []*value {
	if len(list) == 0 {
		return nil
	}
	out := make([]*value, 0, len(list))
	for _, a := range list {
		v := w.loud(a.Value)
		if a.Rest {
			if v != nil && v.kind == kindArray && w.budget.take(len(v.obj.elems)*elementWork) {
				out = append(out, v.obj.elems...)
				continue
			}
			v = nil
		}
		out = append(out, v)
	}
	return out
}

// invoke gives what calling the value may return.
func (w *scanner) invoke(callee *value, c call) *value {
	if c.depth++; c.depth > 8 || !w.budget.take(valueWork*(1+len(c.args))) {
		return nil
	}
	var out *value
	for f := callee; f != nil; f = f.alt {
		out = w.either(out, w.invokeOne(f, c))
	}
	return out
}

func (w *scanner) invokeOne(f *value, c call) *value {
	switch f.kind {
	case kindSymbol:
		return w.invokeSymbol(f.sym, c)
	case kindMethod:
		return w.invokeMethod(f, c)
	case kindFunction:
		return w.invokeFunction(f.fn, c)
	case kindConstructor:
		if len(c.args) > 0 && c.args[len(c.args)-1] != nil && c.args[len(c.args)-1].kind == kindText {
			return &value{kind: kindBuilt}
		}
	case kindBuilt:
		w.hit(threat.CodeInjection, evalPower, "", c.at, "a constructor reached through an object builds code from a string")
	case kindPrototype, kindBuiltin:
		w.escapes(c)
	}
	return nil
}

// escapes reports Function handed to something that will call it.
func (w *scanner) escapes(c call) {
	for _, a := range c.args {
		for v := a; v != nil; v = v.alt {
			if v.kind == kindSymbol && v.sym.role == roleFunction {
				w.tele.Flags.HasEval = true
				w.found(v.sym, c.at)
			}
		}
	}
}

func (w *scanner) invokeFunction(f *function, c call) *value {
	w.timers.calls(w.frame, f)
	f.called = true
	for i, p := range f.params.List[:min(len(f.params.List), len(c.args))] {
		if c.arg(i) == nil {
			continue
		}
		if v, ok := p.Binding.(*js.Var); ok {
			info := w.variable(v)
			if info.home == nil {
				info.home, info.branch = f, -1
			}
			w.assign(v, c.args[i])
		} else if c.args[i].powerful() {
			cursor := w.cursor
			w.bind(p.Binding, c.args[i])
			w.cursor = cursor
		}
	}
	if f.plain && !c.isNew && !c.received && f.ret.holds(&value{kind: kindMaybeGlobal}) {
		return w.either(&value{kind: kindGlobal}, f.ret)
	}
	return f.ret
}

func (w *scanner) invokeSymbol(s *symbol, c call) *value {
	if s.onUse {
		w.found(s, c.at)
	}
	if v, done := w.invokeLoader(s, c); done {
		return v
	}
	switch s.role {
	case roleEval, roleFunction:
		w.tele.Flags.HasEval = true
		w.codeString(c)
		return w.built(s, c)
	case roleReflectGet:
		return w.computed(c.arg(0), c.arg(1), c.at)
	case roleReflectApply:
		return w.invoke(c.arg(0), call{args: elements(c.arg(2)), at: c.at, depth: c.depth})
	case roleReflectConstruct:
		return w.invoke(c.arg(0), call{args: elements(c.arg(1)), at: c.at, isNew: true, depth: c.depth})
	case roleReflectSet, roleDefine, roleAssign:
		return w.change(s, c)
	case roleGetPrototype:
		return w.givenPrototype(c.arg(0))
	case roleDescriptor:
		if key, ok := w.textOf(c.arg(1)); ok {
			return &value{kind: kindDescriptor, of: w.member(c.arg(0), key, c.at, false)}
		}
	case roleDescriptors:
		return w.mapped(c.arg(0), func(v *value) *value {
			return &value{kind: kindObject, obj: &object{rest: v}}
		})
	case roleIdentity, rolePromise:
		return c.arg(0)
	case roleValues:
		w.escapes(c)
	case roleTimeout, roleInterval:
		w.timer(s, c)
	case roleTask:
		w.escapes(c)
		w.task(c)
	case roleKeys:
		return keysOf(c.arg(0))
	case roleParse:
		return w.parsed(c)
	case roleWorker:
	default:
		if v := c.arg(0); v == nil || w.budget.take(len(v.text)/textBytes) {
			return w.invokeText(s, c)
		}
	}
	return nil
}

// mapped applies f to each alternative.
func (w *scanner) mapped(v *value, f func(*value) *value) *value {
	var out *value
	for ; v != nil; v = v.alt {
		one := *v
		one.alt = nil
		out = w.either(out, f(&one))
	}
	return out
}

// givenPrototype is what Object.getPrototypeOf gives: only a literal's prototype is surely one that others share.
func (w *scanner) givenPrototype(v *value) *value {
	for b := v; b != nil; b = b.alt {
		switch {
		case b.callableKind():
			return &value{kind: kindPrototype, of: &value{kind: kindBuiltin}}
		case b.kind == kindArray, b.kind == kindText, b.kind == kindNumber, b.kind == kindRegExp,
			b.kind == kindObject && b.obj.rest == nil, b.kind == kindPrototype:
			return &value{kind: kindPrototype}
		}
	}
	return nil
}

// change covers what writes members by call: Object.assign, Object.defineProperty, Reflect.set.
func (w *scanner) change(s *symbol, c call) *value {
	for b := c.arg(0); b != nil; b = b.alt {
		if b.kind == kindPrototype {
			w.hit(threat.PrototypePollution, neverGranted, "", c.at, s.name, " changes a prototype that others share")
		}
	}
	if s.role == roleAssign {
		var out *value
		for _, a := range c.args {
			out = w.either(a, out)
		}
		return out
	}
	if key, ok := w.textOf(c.arg(1)); ok && key == "__proto__" {
		w.tele.Flags.HasProtoAccess = true
		w.hit(threat.PrototypePollution, neverGranted, "", c.at, s.name, " writes __proto__")
	}
	if key, ok := w.textOf(c.arg(1)); ok && s.role == roleReflectSet {
		w.keep(c.arg(0), key, c.arg(2))
	}
	return c.arg(0)
}

// elements gives an array's members, for apply.
func elements(v *value) []*value {
	if v == nil || v.kind != kindArray {
		return nil
	}
	return v.obj.elems
}

// invokeMethod covers call, apply, bind and the methods of what is known.
func (w *scanner) invokeMethod(m *value, c call) *value {
	switch {
	case m.of == nil:
		if s := w.cat.methods[m.text]; s != nil {
			w.found(s, c.at)
		}
		return nil
	case m.of.kind == kindPrototype && (m.text == "__defineGetter__" || m.text == "__defineSetter__"):
		w.changes(m.of, c.at)
		return nil
	case m.text == "then" || m.text == "catch" || m.text == "finally":
		return w.invoke(c.arg(0), call{args: []*value{m.of}, at: c.at, depth: c.depth})
	case m.of.kind == kindText || m.of.kind == kindNumber || m.of.kind == kindArray:
		w.escapes(c)
		return w.fold(m.of, m.text, c)
	case m.of.kind == kindBytes:
		if m.text == "toString" {
			return m.of.of
		}
		return m.of
	}
	switch m.text {
	case "call":
		w.escapes(call{args: c.args, at: c.at})
		return w.invoke(m.of, call{args: rest(c.args), at: c.at, depth: c.depth, template: c.template})
	case "apply":
		w.escapes(call{args: c.args, at: c.at})
		return w.invoke(m.of, call{args: elements(c.arg(1)), at: c.at, depth: c.depth})
	case "bind":
		if m.of.kind == kindMethod && (m.of.text == "call" || m.of.text == "apply") {
			// f.call.bind(g) is g with its receiver as the first argument, whatever f is.
			return &value{kind: kindMethod, text: m.of.text, of: c.arg(0)}
		}
		return m.of
	case "toString":
		return m.of.decodedText()
	}
	return nil
}

func rest(args []*value) []*value {
	if len(args) == 0 {
		return nil
	}
	return args[1:]
}

// decodedText keeps sight of text on its way through Buffer.from(…).toString().
func (v *value) decodedText() *value {
	if v.isDecoded() {
		return v
	}
	return nil
}

// codeString scans a constant string that is run as code, and reports one that came out of a decoder.
func (w *scanner) codeString(c call) {
	v := c.arg(len(c.args) - 1)
	if c.template != nil {
		v = c.template
	}
	if v.isDecoded() {
		w.hit(threat.EncodingTricks, neverGranted, "", c.at, "a decoded string is run as code")
	}
	for ; v != nil && w.nestedScans < maxNestedScans; v = v.alt {
		if v.kind == kindText && v.text != "" && w.nested < 2 && len(v.text) <= maxFoldedBytes && w.budget.take(len(v.text)/textBytes) && strings.ContainsAny(v.text, "(.[`") {
			w.scanNested(v.text, c.at)
		}
	}
}
