package reach

import (
	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/scan/internal/lexer"
)

// maxDepth bounds the depth of the walk.
const maxDepth = 2500

// walker adds one source to a graph.
type walker struct {
	graph  *Graph
	source *Source
	file   string
	guard
	vars map[*js.Var]*variable
	// current is what runs the current code: a function, or the top level.
	current *node
	// wrapper is the function around a module in a bundle, if the current code is in one.
	wrapper *wrapper
	// result is what the current function returns into; nil stands for the code around its calls.
	result *node
	// returning is the result of the function that is walked next.
	returning *node
	nested    int // functions around the current code
}

// guard counts work and bounds the depth of the walk.
type guard struct {
	budget *cost.Budget
	depth  int
	lost   bool
}

// variable is what one binding leads to.
type variable struct {
	node *node
	// returned is what calling the variable returns: of a declared function, or the exports of a module in a bundle.
	returned *node
	// members is what the object literals of the variable hold.
	members *node
	top     bool
	used    bool
}

// wrapper is a function in which a bundler put a CommonJS module.
type wrapper struct {
	params  map[*js.Var]bool
	exports *node
}

// has reports whether a variable is a parameter of the function.
func (x *wrapper) has(v *js.Var) bool { return x != nil && x.params[resolved(v)] }

func (g *guard) enter() bool {
	if g.depth >= maxDepth || !g.budget.Take(cost.NodeWork) {
		g.lost = true
		return false
	}
	g.depth++
	return true
}

func (g *guard) leave() { g.depth-- }

func resolved(v *js.Var) *js.Var {
	for v.Link != nil {
		v = v.Link
	}
	return v
}

// variable returns what is known of a variable. One that the code does not declare is a property of the global object.
func (w *walker) variable(v *js.Var) *variable {
	v = resolved(v)
	x := w.vars[v]
	if x == nil {
		x = &variable{node: &node{}, returned: &node{}, members: &node{}}
		if v.Decl == js.NoDecl {
			x.node = w.graph.name(plain(v.Data))
		}
		w.vars[v] = x
	}
	return x
}

// declared returns the variable of a declaration. At the top level it is also a property of the global object.
func (w *walker) declared(v *js.Var) *variable {
	x := w.variable(v)
	if w.nested == 0 && !x.top {
		x.top = true
		w.graph.name(plain(v.Data)).leadTo(x.node)
	}
	return x
}

func plain(b []byte) string {
	name, _ := lexer.Unescape(string(b))
	return name
}

func (w *walker) block(list []js.IStmt) {
	if !w.enter() {
		return
	}
	defer w.leave()
	for _, s := range list {
		w.stmt(s)
	}
}

func (w *walker) stmt(s js.IStmt) {
	if s == nil || !w.enter() {
		return
	}
	defer w.leave()
	switch s := s.(type) {
	case *js.ExprStmt:
		w.run(s.Value)
	case *js.VarDecl:
		w.declare(s)
	case *js.BlockStmt:
		w.block(s.List)
	case *js.IfStmt:
		w.use(s.Cond)
		w.stmt(s.Body)
		w.stmt(s.Else)
	case *js.ReturnStmt:
		if w.result != nil {
			w.value(s.Value, w.result)
			return
		}
		w.use(s.Value)
	case *js.ThrowStmt:
		w.use(s.Value)
	case *js.FuncDecl:
		w.declareFunction(s)
	case *js.ClassDecl:
		into := w.current
		if s.Name != nil {
			into = w.declared(s.Name).node
		}
		w.class(s, into)
	case *js.TryStmt:
		w.block(s.Body.List)
		w.pattern(s.Binding)
		if s.Catch != nil {
			w.block(s.Catch.List)
		}
		if s.Finally != nil {
			w.block(s.Finally.List)
		}
	case *js.SwitchStmt:
		w.use(s.Init)
		for _, c := range s.List {
			w.use(c.Cond)
			w.block(c.List)
		}
	case *js.LabelledStmt:
		w.stmt(s.Value)
	case *js.WithStmt:
		w.use(s.Cond)
		w.stmt(s.Body)
	case *js.ImportStmt:
		w.imports(s)
	case *js.ExportStmt:
		w.exports(s)
	default:
		w.loop(s)
	}
}

func (w *walker) loop(s js.IStmt) {
	switch s := s.(type) {
	case *js.WhileStmt:
		w.use(s.Cond)
		w.stmt(s.Body)
	case *js.DoWhileStmt:
		w.stmt(s.Body)
		w.use(s.Cond)
	case *js.ForStmt:
		w.use(s.Init)
		w.use(s.Cond)
		w.use(s.Post)
		w.block(s.Body.List)
	case *js.ForInStmt:
		w.use(s.Init)
		w.use(s.Value)
		w.block(s.Body.List)
	case *js.ForOfStmt:
		w.use(s.Init)
		w.use(s.Value)
		w.block(s.Body.List)
	}
}

// declareFunction walks the declaration of a function. What it returns goes where its calls are.
func (w *walker) declareFunction(s *js.FuncDecl) {
	if s.Name == nil {
		w.current.leadTo(w.function(s, s.Params, s.Body.List))
		return
	}
	x := w.declared(s.Name)
	w.returning = x.returned
	w.keep(x.node, w.function(s, s.Params, s.Body.List))
}

// function walks a function and returns its node.
func (w *walker) function(of any, params js.Params, body []js.IStmt) *node {
	f := &node{}
	w.source.functions[of] = f
	outer, result := w.current, w.result
	w.current, w.result, w.nested = f, w.returning, w.nested+1
	w.returning = nil
	for _, p := range params.List {
		w.pattern(p.Binding)
		w.use(p.Default)
	}
	w.pattern(params.Rest)
	w.block(body)
	w.current, w.result, w.nested = outer, result, w.nested-1
	return f
}

// pattern walks the patterns of parameters and declarations. A property that a pattern reads is mentioned.
func (w *walker) pattern(b js.IBinding) {
	if b == nil || !w.enter() {
		return
	}
	defer w.leave()
	switch b := b.(type) {
	case *js.Var:
		w.declared(b)
	case *js.BindingArray:
		for _, el := range b.List {
			w.pattern(el.Binding)
			w.use(el.Default)
		}
		w.pattern(b.Rest)
	case *js.BindingObject:
		for _, item := range b.List {
			if item.Key != nil {
				if name, ok := w.key(item.Key); ok {
					from := w.current
					if v, ok := item.Value.Binding.(*js.Var); ok {
						from = w.declared(v).node
					}
					from.leadTo(w.graph.name(name))
				}
			}
			w.pattern(item.Value.Binding)
			w.use(item.Value.Default)
		}
		if b.Rest != nil {
			w.declared(b.Rest)
		}
	}
}

// key walks the key of a property and returns its name, if that is constant.
func (w *walker) key(n *js.PropertyName) (string, bool) {
	if n.Computed == nil {
		return text(&n.Literal), true
	}
	if name, ok := constant(n.Computed); ok {
		return name, true
	}
	w.use(n.Computed)
	return "", false
}

func text(l *js.LiteralExpr) string {
	data := l.Data
	if l.TokenType == js.StringToken && len(data) >= 2 {
		data = data[1 : len(data)-1]
	}
	return plain(data)
}

func constant(e js.IExpr) (string, bool) {
	if l, ok := ungrouped(e).(*js.LiteralExpr); ok && l.TokenType == js.StringToken {
		return text(l), true
	}
	return "", false
}

func ungrouped(e js.IExpr) js.IExpr {
	for {
		g, ok := e.(*js.GroupExpr)
		if !ok {
			return e
		}
		e = g.X
	}
}

// run walks an expression whose value is dropped.
func (w *walker) run(e js.IExpr) {
	if e == nil || !w.enter() {
		return
	}
	defer w.leave()
	switch e := ungrouped(e).(type) {
	case *js.BinaryExpr:
		switch e.Op {
		case js.EqToken:
			w.assign(e, nil)
			return
		case js.AndToken, js.OrToken, js.NullishToken:
			w.use(e.X)
			w.run(e.Y)
			return
		}
	case *js.CondExpr:
		w.use(e.Cond)
		w.run(e.X)
		w.run(e.Y)
		return
	case *js.CommaExpr:
		for _, x := range e.List {
			w.run(x)
		}
		return
	case *js.UnaryExpr:
		if e.Op == js.NotToken || e.Op == js.VoidToken {
			w.run(e.X)
			return
		}
	}
	w.use(e)
}

// use walks an expression whose value may go anywhere.
func (w *walker) use(e js.IExpr) {
	if e == nil || !w.enter() {
		return
	}
	defer w.leave()
	switch e := e.(type) {
	case *js.Var:
		x := w.variable(e)
		x.used = true
		w.current.leadTo(x.node)
		w.current.leadTo(x.returned)
	case *js.GroupExpr:
		w.use(e.X)
	case *js.DotExpr:
		w.read(e, w.current)
	case *js.IndexExpr:
		w.use(e.X)
		if name, ok := constant(e.Y); ok {
			w.current.leadTo(w.graph.name(name))
			return
		}
		w.all(e.X)
		w.use(e.Y)
	case *js.CallExpr:
		w.call(e, nil)
	case *js.NewExpr:
		w.construct(e)
	case *js.UnaryExpr:
		if v, ok := ungrouped(e.X).(*js.Var); ok && e.Op == js.TypeofToken {
			w.variable(v).used = true
			return
		}
		w.use(e.X)
	case *js.BinaryExpr:
		w.binary(e)
	case *js.CondExpr:
		w.use(e.Cond)
		w.use(e.X)
		w.use(e.Y)
	case *js.CommaExpr:
		w.value(e, w.current)
	case *js.ArrayExpr:
		for _, el := range e.List {
			w.use(el.Value)
		}
	case *js.TemplateExpr:
		w.use(e.Tag)
		for _, p := range e.List {
			w.use(p.Expr)
		}
	case *js.YieldExpr:
		w.use(e.X)
	case *js.VarDecl:
		w.declare(e)
	default:
		w.value(e, w.current)
	}
}

// all makes everything that an object literal holds live, if the expression is a variable that stands for one.
func (w *walker) all(e js.IExpr) {
	if v, ok := ungrouped(e).(*js.Var); ok {
		w.current.leadTo(w.variable(v).members)
	}
}

// binary walks an operator. A long chain leans to the left, and a loop walks it.
func (w *walker) binary(e *js.BinaryExpr) {
	for {
		switch e.Op {
		case js.EqToken:
			w.assign(e, w.current)
			return
		case js.OrToken, js.NullishToken:
			if present(e.X) {
				w.value(e, w.current)
				return
			}
		}
		w.use(e.Y)
		left, ok := e.X.(*js.BinaryExpr)
		if !ok || !w.budget.Take(cost.NodeWork) {
			w.use(e.X)
			return
		}
		e = left
	}
}

// construct walks the making of an object. The host calls the methods of a Proxy's handler.
func (w *walker) construct(e *js.NewExpr) {
	v, ok := ungrouped(e.X).(*js.Var)
	if !ok || string(v.Data) != "Proxy" || e.Args == nil || len(e.Args.List) != 2 {
		w.use(e.X)
		if e.Args != nil {
			w.args(e.Args.List)
		}
		return
	}
	w.use(e.Args.List[0].Value)
	handler := e.Args.List[1].Value
	if o, ok := ungrouped(handler).(*js.ObjectExpr); ok {
		for _, p := range o.List {
			w.property(p, w.current)
		}
		return
	}
	for _, trap := range proxyTraps() {
		w.current.leadTo(w.graph.name(trap))
	}
	w.use(handler)
}

// base walks the object that a member is read from or written to. That reads a variable, but runs nothing of it.
func (w *walker) base(e js.IExpr) {
	if v, ok := ungrouped(e).(*js.Var); ok {
		x := w.variable(v)
		x.used = true
		w.current.leadTo(x.returned)
		return
	}
	w.run(e)
}

// read walks a member whose value goes into a node.
func (w *walker) read(e *js.DotExpr, into *node) {
	name := member(e)
	v, ok := ungrouped(e.X).(*js.Var)
	switch {
	case ok && resolved(v).Decl == js.NoDecl && isBuiltIn(string(v.Data)):
		for _, method := range implied(name) {
			w.current.leadTo(w.graph.name(method))
		}
		return // what replaces it is live
	case ok && (name == "prototype" || name == "default"):
		w.value(v, into)
		if name == "default" {
			return // of a module, as a whole
		}
	default:
		w.base(e.X)
	}
	into.leadTo(w.graph.name(name))
}

// member returns the name of a member.
func member(e *js.DotExpr) string {
	switch y := e.Y.(type) {
	case js.LiteralExpr:
		return text(&y)
	case *js.LiteralExpr:
		return text(y)
	case *js.Var:
		return plain(y.Data)
	}
	return ""
}

// call walks a call. What it returns goes into a node, unless that is nil.
func (w *walker) call(e *js.CallExpr, into *node) {
	switch callee := ungrouped(e.X).(type) {
	case *js.Var:
		x := w.variable(callee)
		x.used = true
		w.current.leadTo(x.node)
		if into == nil {
			into = w.current
		}
		into.leadTo(x.returned)
	case *js.DotExpr:
		name := member(callee)
		if v, ok := ungrouped(callee.X).(*js.Var); ok && (name == "call" || name == "apply" || name == "bind") {
			w.use(v)
			w.current.leadTo(w.graph.name(name))
		} else {
			w.read(callee, w.current)
		}
		if v, ok := ungrouped(callee.X).(*js.Var); ok && string(v.Data) == "Object" && len(e.Args.List) > 0 {
			w.all(e.Args.List[0].Value)
		}
	case *js.FuncDecl:
		w.immediate(e, callee.Params)
		return
	case *js.ArrowFunc:
		w.immediate(e, callee.Params)
		return
	default:
		w.use(e.X)
	}
	if w.inherits(e) {
		return
	}
	if name, ok := defines(e); ok {
		w.use(e.Args.List[0].Value)
		for _, p := range ungrouped(e.Args.List[2].Value).(*js.ObjectExpr).List {
			w.property(p, w.graph.name(name))
		}
		return
	}
	w.args(e.Args.List)
}

// immediate walks the call of a function where it stands. Its parameters are the arguments.
func (w *walker) immediate(e *js.CallExpr, params js.Params) {
	w.use(e.X)
	for i, a := range e.Args.List {
		if i < len(params.List) && !a.Rest {
			if v, ok := params.List[i].Binding.(*js.Var); ok {
				w.value(a.Value, w.variable(v).node)
				continue
			}
		}
		w.use(a.Value)
	}
}

func (w *walker) args(list []js.Arg) {
	for _, a := range list {
		w.use(a.Value)
	}
}

// defines returns the name that a call such as Object.defineProperty(x, "name", {get() {…}}) defines.
func defines(e *js.CallExpr) (string, bool) {
	if len(e.Args.List) != 3 {
		return "", false
	}
	name, ok := constant(e.Args.List[1].Value)
	o, isObject := ungrouped(e.Args.List[2].Value).(*js.ObjectExpr)
	if !ok || !isObject || !isIdentifier(name) || called(name) {
		return "", false
	}
	for _, p := range o.List {
		key := ""
		switch m, isMethod := p.Value.(*js.MethodDecl); {
		case isMethod && m.Name.Computed == nil && m.Name.Private == nil:
			key = text(&m.Name.Literal)
		case p.Name != nil && p.Name.Computed == nil:
			key = text(&p.Name.Literal)
		}
		switch key {
		case "get", "set", "value", "enumerable", "configurable", "writable":
		default:
			return "", false
		}
	}
	return name, true
}

// inherits walks the arguments of the helpers that compilers make for classes, such as helper(Class, Base), and reports
// whether the call is one. What they give to a class runs if the class does.
func (w *walker) inherits(e *js.CallExpr) bool {
	callee, ok := ungrouped(e.X).(*js.Var)
	if !ok || len(e.Args.List) < 2 {
		return false
	}
	switch string(callee.Data) {
	case "__extends", "_inherits", "_inheritsLoose", "inherits", "_createClass", "_defineProperties":
	default:
		return false
	}
	class, ok := ungrouped(e.Args.List[0].Value).(*js.Var)
	if !ok {
		return false
	}
	x := w.variable(class)
	x.used = true
	running := w.current
	w.current = and(running, x.node)
	w.args(e.Args.List[1:])
	w.current = running
	return true
}
