package reach

import (
	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/scan/internal/lexer"
	"github.com/airlock-run/airlock/policy/scan/internal/syntax"
)

// maxDepth bounds the depth of the walk.
const maxDepth = 2500

// walker adds one source to a graph.
type walker struct {
	tests
	file string
	// wrapper is the function around a module in a bundle, if the current code is in one.
	wrapper *wrapper
	// result is the node that receives what the current function returns; nil stands for the code around its calls.
	result *node
	// returning is the result of the function that is walked next.
	returning *node
}

// bindings holds what is known of the variables of a source.
type bindings struct {
	graph  *Graph
	source *Source
	vars   map[*js.Var]*variable
	nested int // functions around the current code
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
	// truth is live if the variable may be true.
	truth *node
	top   bool
	used  bool
	// interop marks a helper that compilers put around require, loader one that stands for require, and inherits one
	// that makes a class of another.
	interop, loader, inherits bool
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
func (b *bindings) variable(v *js.Var) *variable {
	v = resolved(v)
	x := b.vars[v]
	if x == nil {
		x = &variable{node: &node{}, returned: &node{}, members: &node{}, truth: &node{}}
		if v.Decl == js.NoDecl {
			x.node = b.source.local(plain(v.Data))
		}
		b.vars[v] = x
	}
	return x
}

// declared returns the variable of a declaration. At the top level it is also a name of the source, which an export may
// list.
func (b *bindings) declared(v *js.Var) *variable {
	x := b.variable(v)
	if b.nested == 0 && !x.top {
		x.top = true
		b.source.local(plain(v.Data)).leadTo(x.node)
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
	block, start := w.current, w.current
	for _, s := range list {
		if f, ok := s.(*js.FuncDecl); ok { // the language hoists it
			w.current = start
			w.stmt(f)
			w.current = block
			continue
		}
		w.stmt(s)
		if test := w.rest(s); test != nil {
			block = and(test, block)
			w.source.functions[syntax.Branch{Of: s, Else: true}] = block
			w.current = block
		}
	}
	w.current = start
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
		w.branch(w.holds(s.Cond, true), s, false, func() { w.stmt(s.Body) })
		if s.Else != nil {
			w.branch(w.holds(s.Cond, false), s, true, func() { w.stmt(s.Else) })
		}
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
			w.current.leadTo(w.declared(s.Name).truth)
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
		w.changes(s.Init)
		w.use(s.Init)
		w.use(s.Value)
		w.block(s.Body.List)
	case *js.ForOfStmt:
		w.changes(s.Init)
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
	w.current.leadTo(x.truth)
	x.inherits = isInherits(s.Params, s.Body.List)
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
		w.current.leadTo(w.declared(b).truth)
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
			w.current.leadTo(w.declared(b.Rest).truth)
		}
	}
}

// key walks the key of a property and returns its name, if that is constant.
func (w *walker) key(n *js.PropertyName) (string, bool) {
	if n.Computed == nil {
		w.touches(text(&n.Literal))
		return text(&n.Literal), true
	}
	if name, ok := constant(n.Computed); ok {
		w.touches(name)
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
