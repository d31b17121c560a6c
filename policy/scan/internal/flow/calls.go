package flow

import (
	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/threat"
)

// call holds one call or construction.
type call struct {
	args  []*value
	at    int
	isNew bool
	// received marks a call on a receiver, x.f(), so that this in a plain function is x instead of the global object.
	received bool
	// foreign marks a call whose first argument is a name that the code does not declare; outside marks one whose first
	// argument comes from the caller.
	foreign, outside bool
	// named marks a call of a global by its name; joined marks one whose last argument the code puts together.
	named, joined bool
	// handles marks Function(x) of isFunction(x) ? x : Function(x).
	handles bool
	// given has a bit for each argument that is what the caller passes in.
	given uint64
	// passed marks f.apply(x, arguments), which calls f as the function around it was called.
	passed bool
	// method marks a call whose third argument is the descriptor of a method, such as {value() {…}}.
	method bool
	// mixed marks a call of what may also be a function of the code itself.
	mixed bool
	// arrives marks a call whose last argument the code awaits or gets from the caller.
	arrives  bool
	template *value // the text of a tagged template
	depth    int
}

// calls follows calls into functions of the program, and computes what built-in functions return.
type calls struct {
	budget   *cost.Budget
	cat      *catalogue.Catalogue
	findings *findings
	facts    *facts
	cursor   *cursor
	scope    *scope
	values   *values
	program  *program
	host     *host
	loader   *loader
	timers   *timers
	walker   *walker // binds the parameters of functions

	nested      int // depth of code inside code strings
	nestedScans int
}

func (c call) arg(i int) *value {
	if i >= 0 && i < len(c.args) {
		return c.args[i]
	}
	return nil
}

// isInterop reports whether a callee is one of the helpers that compilers put around require. Their result stands for
// the module. If they were followed like other functions, each would return every module that it is ever called with.
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

// invoke returns the values that a call may return.
func (cs *calls) invoke(callee *value, c call) *value {
	if c.depth++; c.depth > 8 || !cs.budget.Take(cost.ValueWork*(1+len(c.args))) {
		return nil
	}
	var out *value
	for f := callee; f != nil; f = f.alt {
		c.mixed = c.mixed || f.kind == kindFunction
	}
	for f := callee; f != nil; f = f.alt {
		out = cs.values.either(out, cs.invokeOne(f, c))
	}
	return out
}

func (cs *calls) invokeOne(f *value, c call) *value {
	switch f.kind {
	case kindSymbol:
		return cs.invokeSymbol(f.sym, c)
	case kindMethod:
		return cs.invokeMethod(f, c)
	case kindFunction:
		return cs.invokeFunction(f.fn, c)
	case kindConstructor:
		if cs.scope.fallback > 0 && cs.idle(c) {
			cs.findings.idle(cs.cat.Function, c.at)
			return cs.built(cs.cat.Function, c)
		}
		if len(c.args) > 0 && c.args[len(c.args)-1] != nil && c.args[len(c.args)-1].kind == kindText {
			return &value{kind: kindBuilt}
		}
	case kindBuilt:
		cs.findings.add(threat.CodeInjection, catalogue.EvalPower, "", c.at,
			"a constructor reached through an object builds code from a string")
	case kindPrototype, kindBuiltin:
		cs.escapes(c)
	}
	return nil
}

// escapes reports Function when it is an argument of something that will call it.
func (cs *calls) escapes(c call) {
	for _, a := range c.args {
		for v := a; v != nil; v = v.alt {
			if v.kind == kindSymbol && v.sym.OnUse && v.sym.BuildsCode() {
				cs.facts.Flags.HasEval = true
				cs.findings.found(v.sym, c.at)
			}
		}
	}
}

func (cs *calls) invokeFunction(f *function, c call) *value {
	cs.timers.calls(cs.scope.frame, f)
	f.called = true
	if c.isNew && f.base != nil {
		cs.invokeSymbol(f.base.sym, c)
	}
	cs.program.follows(f)
	if f.interop {
		return c.arg(0)
	}
	for i, p := range f.params.List[:min(len(f.params.List), len(c.args))] {
		if v, ok := p.Binding.(*js.Var); ok && c.given>>i&1 != 0 {
			cs.program.gives(v)
		}
		if c.arg(i) == nil {
			continue
		}
		if v, ok := p.Binding.(*js.Var); ok {
			info := cs.program.variable(v)
			if info.home == nil {
				info.home, info.branch = f, -1
			}
			cs.program.assign(v, c.args[i])
		} else if c.args[i].powerful() {
			cursor := cs.cursor.offset
			cs.walker.bind(p.Binding, c.args[i])
			cs.cursor.offset = cursor
		}
	}
	if f.plain && !c.isNew && !c.received && f.ret.holds(&value{kind: kindMaybeGlobal}) {
		return cs.values.either(&value{kind: kindGlobal}, f.ret)
	}
	return f.ret
}

func (cs *calls) invokeSymbol(s *catalogue.Symbol, c call) *value {
	if s.Name == "fetch" || s.Power == catalogue.NetworkPower {
		cs.sends(c)
	}
	cs.findings.aims(s, c)
	cs.file(s, c)
	if v, ok := cs.requires(s, c); ok {
		cs.findings.idle(s, c.at)
		return v
	}
	switch {
	case s.BuildsCode() && cs.scope.fallback > 0 && cs.idle(c), s.Role == catalogue.RoleEval && cs.onlyLoads(c):
		cs.findings.idle(s, c.at)
	case s.Category == threat.CommandExecution && s.Role == catalogue.NoRole:
		cs.command(s, c)
	case s.Role == catalogue.RoleEval && c.named:
		cs.findings.generates(s, c.at, cs.composes(c))
	case !s.OnUse, s.Role == catalogue.RoleBinding && harmlessBinding(c.arg(0)):
	case s.Role == catalogue.RoleBinding:
		cs.command(s, c)
	case s.Role == catalogue.RoleFunction:
		cs.findings.generates(s, c.at, cs.probes(c) || cs.generated(c))
	default:
		cs.findings.found(s, c.at)
	}
	if v, done := cs.loader.invokeLoader(s, c); done {
		return v
	}
	switch s.Role {
	case catalogue.RoleEval, catalogue.RoleFunction:
		cs.facts.Flags.HasEval = true
		cs.codeString(c)
		return cs.built(s, c)
	case catalogue.RoleReflectGet:
		return cs.host.computed(c.arg(0), c.arg(1), c.at)
	case catalogue.RoleReflectApply:
		return cs.invoke(c.arg(0), call{args: elements(c.arg(2)), at: c.at, depth: c.depth})
	case catalogue.RoleReflectConstruct:
		return cs.invoke(c.arg(0), call{args: elements(c.arg(1)), at: c.at, isNew: true, depth: c.depth})
	case catalogue.RoleReflectSet, catalogue.RoleDefine, catalogue.RoleAssign:
		return cs.change(s, c)
	case catalogue.RoleGetPrototype:
		return cs.givenPrototype(c.arg(0))
	case catalogue.RoleDescriptor:
		if key, ok := cs.values.textOf(c.arg(1)); ok {
			return &value{kind: kindDescriptor, of: cs.host.member(c.arg(0), key, c.at, false)}
		}
	case catalogue.RoleDescriptors:
		return cs.values.mapped(c.arg(0), func(v *value) *value {
			return &value{kind: kindObject, obj: &object{rest: v}}
		})
	case catalogue.RoleIdentity, catalogue.RolePromise:
		return c.arg(0)
	case catalogue.RoleCreate:
		return inherited(c.arg(0))
	case catalogue.RoleSetPrototype:
		cs.replaces(s, c)
		return c.arg(0)
	case catalogue.RoleStringify:
		if c.arg(0).carriesEnvironment(environmentDepth) {
			return c.arg(0)
		}
	case catalogue.RoleValues:
		cs.escapes(c)
	case catalogue.RoleTimeout, catalogue.RoleInterval:
		cs.timer(s, c)
	case catalogue.RoleTask:
		cs.escapes(c)
		cs.task(c)
	case catalogue.RoleKeys:
		return keysOf(c.arg(0))
	case catalogue.RoleParse:
		return cs.values.parsed(c)
	case catalogue.RoleWorker:
	default:
		if v := c.arg(0); v == nil || cs.budget.Take(len(v.text)/cost.TextBytes) {
			return cs.invokeText(s, c)
		}
	}
	return nil
}

// inherited returns the result of Object.create: writing to it does not change the prototype that it inherits from.
func inherited(proto *value) *value {
	for v := proto; v != nil; v = v.alt {
		if v.kind == kindPrototype {
			return &value{kind: kindObject, obj: &object{props: map[string]*value{}, rest: proto}}
		}
	}
	return proto
}

// replaces reports a replaced prototype of an object that others share, or that the code did not make.
func (cs *calls) replaces(s *catalogue.Symbol, c call) {
	if c.foreign || c.arg(0).shared() {
		cs.findings.add(threat.PrototypePollution, catalogue.NeverGranted, "", c.at, s.Name,
			" replaces an object's prototype")
	}
}

// harmlessBinding reports whether an argument of process.binding names one that libraries look for, and that starts
// nothing and opens no file.
func harmlessBinding(name *value) bool {
	if name == nil || name.alt != nil || name.kind != kindText {
		return false
	}
	switch name.text {
	case "buffer", "config", "constants", "http_parser", "icu", "natives", "os", "stream_wrap", "tty_wrap", "types", "url",
		"util", "uv", "v8", "zlib":
		return true
	}
	return false
}

// sends reports a request that carries the whole environment.
func (cs *calls) sends(c call) {
	for _, a := range c.args {
		if a.carriesEnvironment(environmentDepth) {
			cs.findings.attack(threat.EnvironmentAccess, c.at, "a request carries the whole environment away")
		}
	}
}

// leaks reports the whole environment that is written to something unknown, such as a socket.
func (cs *calls) leaks(callee js.IExpr, c call) {
	d, ok := callee.(*js.DotExpr)
	if !ok {
		return
	}
	if l, ok := d.Y.(js.LiteralExpr); ok {
		switch string(l.Data) {
		case "end", "post", "put", "send", "write":
			cs.sends(c)
		}
	}
}

// environmentDepth bounds the objects in which the environment is looked for.
const environmentDepth = 4

// carriesEnvironment reports whether v may be process.env, or an object that holds it no deeper than depth.
func (v *value) carriesEnvironment(depth int) bool {
	for ; v != nil; v = v.alt {
		if v.kind == kindSymbol && (v.sym.Name == "process.env" || v.sym.Name == "import.meta.env") {
			return true
		}
		if depth == 0 || v.obj == nil {
			continue
		}
		for _, p := range v.obj.props {
			if p.carriesEnvironment(depth - 1) {
				return true
			}
		}
		if v.obj.rest.carriesEnvironment(depth - 1) {
			return true
		}
	}
	return false
}

// givenPrototype returns the result of Object.getPrototypeOf. Only the prototype of a literal is certain to be shared.
func (cs *calls) givenPrototype(v *value) *value {
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

// change handles the calls that write members: Object.assign, Object.defineProperty, Reflect.set.
func (cs *calls) change(s *catalogue.Symbol, c call) *value {
	if c.arg(0).isPrototype() {
		hits := len(cs.findings.hits)
		name, _ := cs.values.textOf(c.arg(1))
		cs.program.change(name)
		cs.findings.add(threat.PrototypePollution, catalogue.NeverGranted, "", c.at, s.Name,
			" changes a prototype that others share")
		cs.findings.extends(c.at, hits, c.arg(0).isLost() ||
			s.Role == catalogue.RoleDefine && cs.defines(c))
	}
	if s.Role == catalogue.RoleAssign {
		var out *value
		for _, a := range c.args {
			out = cs.values.either(a, out)
		}
		return out
	}
	// A definition makes a property of the object's own, whatever its name.
	if key, ok := cs.values.textOf(c.arg(1)); ok && key == "__proto__" && s.Role != catalogue.RoleDefine {
		cs.facts.Flags.HasProtoAccess = true
		cs.findings.add(threat.PrototypePollution, catalogue.NeverGranted, "", c.at, s.Name, " writes __proto__")
	}
	if key, ok := cs.values.textOf(c.arg(1)); ok && s.Role == catalogue.RoleReflectSet {
		cs.program.keep(c.arg(0), key, c.arg(2))
	}
	return c.arg(0)
}

// defines reports whether a call such as Object.defineProperty only gives a prototype a new method.
func (cs *calls) defines(c call) bool {
	name, ok := cs.values.textOf(c.arg(1))
	return ok && c.method && c.arg(2) != nil && c.arg(2).obj != nil &&
		c.arg(0).extends(name, c.arg(2).obj.props["value"])
}

// elements returns the elements of an array, for apply.
func elements(v *value) []*value {
	if v == nil || v.kind != kindArray {
		return nil
	}
	return v.obj.elems
}

// invokeMethod handles call, apply, bind and the methods of known values.
func (cs *calls) invokeMethod(m *value, c call) *value {
	switch {
	case m.of == nil:
		if s := cs.cat.Methods[m.text]; s != nil {
			cs.findings.found(s, c.at)
			cs.file(s, c)
			cs.command(s, c)
		}
		return nil
	case m.of.kind == kindPrototype && (m.text == "__defineGetter__" || m.text == "__defineSetter__"):
		cs.host.changes(m.of, c.at)
		return nil
	case m.text == "then" || m.text == "catch" || m.text == "finally":
		return cs.invoke(c.arg(0), call{args: []*value{m.of}, at: c.at, depth: c.depth})
	case m.of.kind == kindText || m.of.kind == kindNumber || m.of.kind == kindArray:
		cs.escapes(c)
		return cs.fold(m.of, m.text, c)
	case m.of.kind == kindBytes:
		if m.text == "toString" {
			return m.of.of
		}
		return m.of
	}
	switch m.text {
	case "call":
		if !m.of.inspects() {
			cs.escapes(call{args: c.args, at: c.at})
		}
		return cs.invoke(m.of, call{args: rest(c.args), at: c.at, depth: c.depth, template: c.template})
	case "apply":
		cs.escapes(call{args: c.args, at: c.at})
		return cs.invoke(m.of, call{args: elements(c.arg(1)), at: c.at, depth: c.depth, passed: c.passed})
	case "bind":
		if m.of.kind == kindMethod && (m.of.text == "call" || m.of.text == "apply") {
			// f.call.bind(g) is g with its receiver as the first argument, for any f.
			return &value{kind: kindMethod, text: m.of.text, of: c.arg(0)}
		}
		if len(c.args) > 1 && m.of.kind == kindSymbol {
			cs.command(m.of.sym, call{args: rest(c.args), at: c.at})
		}
		return m.of
	case "toString":
		return m.of.decodedText()
	}
	return nil
}

// inspects reports whether v is a method of Object.prototype, or toString of a function, that neither calls its
// receiver nor returns it.
func (v *value) inspects() bool {
	if v.kind != kindMethod || v.of == nil {
		return false
	}
	if v.of.kind != kindPrototype {
		return v.text == "toString" && v.of.callableKind()
	}
	switch v.text {
	case "toString", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable":
		return true
	}
	return false
}

func rest(args []*value) []*value {
	if len(args) == 0 {
		return nil
	}
	return args[1:]
}

// decodedText returns v if it came out of a decoder, so that Buffer.from(…).toString() keeps it.
func (v *value) decodedText() *value {
	if v.isDecoded() {
		return v
	}
	return nil
}
